package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// usualFiles are manifests in the shapes and shares of public ones, without their instructions.
func usualFiles() [][]byte {
	about := strings.TrimSpace(strings.Repeat("Reads, fills and merges forms; use it whenever someone mentions a table or a report. ", 4))
	lines := strings.ReplaceAll(about, ". ", ".\n  ")
	descriptions := []struct {
		share int
		text  string
	}{
		{46, about}, {30, "|\n  " + lines}, {17, `"` + about + `"`}, {4, ">-\n  " + lines}, {3, "'" + about + "'"},
	}
	var all [][]byte
	for _, d := range descriptions {
		for i := range d.share {
			more := ""
			for _, m := range []struct {
				every int
				text  string
			}{
				{3, "license: MIT\nversion: 1.2.0\n"}, {4, "allowed-tools: Read, Grep, Bash(git:*)\nauthor: someone\n"},
				{6, "metadata:\n  author: someone\n  version: \"1.0\"\n"}, {14, "metadata: {\"tool\": {\"requires\": {\"bins\": [\"jq\"]}}}\n"},
				{12, "requires:\n  bins:\n    - jq\n"}, {16, "origin: community\n"}, {25, "homepage: https://example.com\n"}, {33, "tags: [forms, tables]\n"},
			} {
				if i%m.every == m.every-1 && !strings.Contains(more, m.text[:9]) {
					more += m.text
				}
			}
			all = append(all, fmt.Appendf(nil, "---\nname: form-%d\ndescription: %s\n%s---\n", i, d.text, more))
		}
	}
	return all
}

// BenchmarkParse parses one manifest a round: as a whole, and as a catalogue does.
func BenchmarkParse(b *testing.B) {
	all := usualFiles()
	run := func(name string, parse func(src []byte)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				parse(all[i%len(all)])
			}
		})
	}
	run("whole", func(src []byte) { Parse(src, nil) })
	var r Reader
	summary := &Options{Summary: true}
	run("summary", func(src []byte) { r.Parse(src, summary) })
}

// A Reader gives what Parse gives, whatever it read before, and a summary has the same problems.
func TestReader(t *testing.T) {
	var reader, summaries Reader
	files := usualFiles()
	for _, text := range []string{"", "---\nname: a\ndescription: b: c\n---\n", "---\nname: [\ndescription: x\n---\nbody\n", "---\r\nname: a\r\n---\r\n", "---\nname: a\ndescription: b\nmetadata:\n  version: [1]\n  author: {b: c}\n  d: [e]\n---\n", "---\nname: a\nname: b\nhooks:\n  pre: x\ntriggers: [a]\nbrief_description: c\n---\n"} {
		files = append(files, []byte(text))
	}
	for _, src := range files {
		want, problems := Parse(src, nil)
		got, found := reader.Parse(src, nil)
		if w, g := fmt.Sprintf("%+v %+v", *want, problems), fmt.Sprintf("%+v %+v", *got, found); w != g {
			t.Errorf("%q:\ngot  %s\nwant %s", src, g, w)
		}
		got, found = summaries.Parse(src, &Options{Summary: true})
		got.Fields, got.Body, got.BodyLine = want.Fields, want.Body, want.BodyLine
		for key, text := range want.Metadata {
			if kept, there := got.Metadata[key]; there && kept == "" && strings.ContainsAny(text, "[{") {
				got.Metadata[key] = text
			}
		}
		if got.Brief == "" {
			got.Brief = want.Brief
		}
		if w, g := fmt.Sprintf("%+v %+v", *want, problems), fmt.Sprintf("%+v %+v", *got, found); w != g {
			t.Errorf("summary of %q:\ngot  %s\nwant %s", src, g, w)
		}
	}
}

// What was packed comes back.
func TestPackProblems(t *testing.T) {
	_, problems := Parse([]byte("---\nname: A_b\nhomepage: x\nTags: y\nversion: z\n---\n"), &Options{File: "f", Dir: "c"})
	problems = append(problems, Problem{Code: "no-such-code", Severity: SeverityError, File: "f", Line: 1 << 20, Message: strings.Repeat("é", 300)})
	if len(problems) < 6 {
		t.Fatalf("got only %v", problems)
	}
	packed := PackProblems([]byte("before"), problems)
	got := UnpackProblems(string(packed[len("before"):]), "f")
	if w, g := fmt.Sprintf("%+v", problems), fmt.Sprintf("%+v", got); w != g {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}
