package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFix(t *testing.T) {
	for _, row := range []struct {
		name, profile, src, want, changed string
	}{
		{"nothing to do", "", added("license: MIT # c"), added("license: MIT # c"), ""},
		{"a colon", "", added("license: a: b  # why", "author: 'x'"), added("license: 'a: b'  # why", "author: 'x'"), "yaml-colon 4:11"},
		{"a colon and an apostrophe", "", added("license: it's: b"), added("license: 'it''s: b'"), "yaml-colon 4:14"},
		{"text behind a quoted word", "", added(`license: "a" b: c`), added(`license: '"a" b: c'`), "yaml-start 4:13"},
		{"a star", "", added("license: *a* b"), added("license: '*a* b'"), "yaml-start 4:10"},
		{"below metadata", "", added("metadata:", "  a: b: c"), added("metadata:", "  a: 'b: c'"), "yaml-colon 5:7"},
		{"a block scalar stays", "", added("license: |", "  a: b: c", "author: a: b"), added("license: |", "  a: b: c", "author: 'a: b'"), "yaml-colon 6:10"},
		{"a mark and blank lines", "", "\ufeff\n \n---\nname: my-skill\ndescription: x\n--- \t\nBody\n", "---\nname: my-skill\ndescription: x\n---\nBody\n", "frontmatter-bom 1:1, frontmatter-leading 1:1, frontmatter-blanks 6:1"},
		{"an indented opener", "", "  ---  \nname: my-skill\ndescription: x\n---", "---\nname: my-skill\ndescription: x\n---", "frontmatter-leading 1:1"},
		{"capitals", "", "---\nName: my-skill\n\"Description\": x\n---\n", "---\nname: my-skill\n\"description\": x\n---\n", "field-spelling 2:1, field-spelling 3:1"},
		{"allowed_tools", "", added("allowed_tools: Read"), added("allowed-tools: Read"), "field-spelling 4:1"},
		{"allowed_tools twice", "", added("allowed_tools: Read", "allowed-tools: Bash"), added("allowed_tools: Read", "allowed-tools: Bash"), ""},
		{"line breaks stay", "", "---\r\nname: my-skill\r\nlicense: a: b\r\ndescription: x\n---\r\nB\r", "---\r\nname: my-skill\r\nlicense: 'a: b'\r\ndescription: x\n---\r\nB\r", "yaml-colon 3:11"},
		{"the name", "", withFront("name: \"My_Skill\"", "description: x"), withFront("name: my-skill", "description: x"), "name-case 2:7"},
		{"another name", "", withFront("name: Other", "description: x"), withFront("name: Other", "description: x"), ""},
		{"version stays", "", added("version: 1.0"), added("version: 1.0"), ""},
		{"version moves", "spec", added("version: 1.0 # c", "license: MIT"), added("license: MIT", "metadata:", "  version: 1.0 # c"), "fields-unexpected 4:1"},
		{"all three move", "spec", added("author: Ann", "metadata:", "    team: x", "tags: [a, b-c]", "version: '1'"), added("metadata:", "    version: '1'", "    author: Ann", "    tags: a b-c", "    team: x"), "fields-unexpected 4:1, fields-unexpected 7:1, fields-unexpected 8:1"},
		{"a key is taken", "spec", added("version: 1.0", "metadata:", "  version: 2.0"), added("version: 1.0", "metadata:", "  version: 2.0"), ""},
		{"metadata in braces", "spec", added("version: 1.0", "metadata: {a: b}"), added("version: 1.0", "metadata: {a: b}"), ""},
		{"metadata in braces below", "spec", added("version: 1.0", "metadata:", "  {", "  a: b", "  }"), added("version: 1.0", "metadata:", "  {", "  a: b", "  }"), ""},
		{"metadata with no value", "spec", added("version: 1.0", "metadata:", "license: x"), added("metadata:", "  version: 1.0", "license: x"), "fields-unexpected 4:1"},
		{"version is mended and moves", "spec", "\n" + added("version: a: b"), added("metadata:", "  version: 'a: b'"), "frontmatter-leading 1:1, fields-unexpected 5:1, yaml-colon 5:11"},
		{"no front matter", "", "# x\n", "# x\n", ""},
		{"unclosed", "", "\n---\nname: x\n", "\n---\nname: x\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := &Options{Dir: "my-skill", Profile: &Profile{Name: row.profile}}
			got, changed, err := Fix([]byte(row.src), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if c := strings.Join(problemLines(changed), ", "); c != row.changed {
				t.Errorf("changed %s, want %s", c, row.changed)
			}
			for _, c := range changed {
				if c.Severity == SeverityOff || c.Message == "" || c.Cure == "" || c.File == "" {
					t.Errorf("incomplete: %+v", c)
				}
			}
		})
	}
}

// Files put together from honest and broken lines: Fix changes none of their values, leaves no
// problem of its own kind behind, and is done after the first time.
func TestFixKeepsMeaning(t *testing.T) {
	lines := []string{"license: MIT", "license: a: b", "License: x", "version: 1.10", "author: Ann: x", "tags: [a, b]", "# a comment: here", "",
		"metadata:\n  a: b", "metadata:\n  a: b: c", "metadata: {a: b}", "metadata:\n  {\n   a: b\n  }", "metadata:\n  # why\n  'a': b", "allowed_tools: Read", "allowed-tools: [Bash, Read]", "extra: @x", "compatibility: \"x\" y",
		"priority: 3", "model: |\n  a\n  b: c: d", "agent: >-\n  x", "scope: {agents: [a]}", "broken: [a", "hooks: &x y", "context: fork"}
	rapid.Check(t, func(rt *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "eol")
		front := append([]string{"---", "name: " + rapid.SampledFrom([]string{"my-skill", "My_Skill", "other"}).Draw(rt, "name"), "description: Use when: asked"},
			rapid.SliceOfN(rapid.SampledFrom(lines), 0, 8).Draw(rt, "lines")...)
		src := strings.ReplaceAll(strings.Join(append(front, "--- ", "Body", ""), "\n"), "\n", eol)
		o := &Options{Dir: "my-skill", Profile: &Profile{Name: rapid.SampledFrom(Profiles()).Draw(rt, "profile")}}
		got, changed, err := Fix([]byte(src), o)
		if err != nil {
			rt.Fatalf("%q: %v", src, err)
		}
		if len(changed) == 0 || !sameMeaning([]byte(src), got, o) {
			rt.Fatalf("%q became %q", src, got)
		}
		if strings.Count(string(got), "# a comment: here"+eol) != strings.Count(src, "# a comment: here"+eol) {
			rt.Fatalf("a comment is gone: %q", got)
		}
		if again, more, err := Fix(got, o); len(more) > 0 || err != nil || string(again) != string(got) {
			rt.Fatalf("the second time %q became %q, %v, %v", got, again, more, err)
		}
	})
}

// Fixes reports the rules whose problems Fix repairs.
func TestFixes(t *testing.T) {
	for code, src := range map[string]string{
		"field-spelling":      "---\nname: x\ndescription: y\nAllowed_Tools: Read\n---\n",
		"frontmatter-bom":     "\ufeff---\nname: x\ndescription: y\n---\n",
		"frontmatter-leading": "\n---\nname: x\ndescription: y\n---\n",
		"yaml-colon":          "---\nname: x\ndescription: a: b\n---\n",
		"yaml-start":          "---\nname: x\ndescription: @y\n---\n",
		"field-unknown":       "---\nname: x\ndescription: y\nmine: z\n---\n",
	} {
		is := func(p Problem) bool { return p.Code == code }
		_, before := Parse([]byte(src), nil)
		fixed, _, err := Fix([]byte(src), nil)
		_, after := Parse(fixed, nil)
		if !slices.ContainsFunc(before, is) || err != nil || slices.ContainsFunc(after, is) == Fixes(code) {
			t.Errorf("%s: before %v, after %v, %v; Fixes reports %v", code, before, after, err, Fixes(code))
		}
	}
}
