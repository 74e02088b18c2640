package disclose

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

// file is one SKILL.md for a test; front holds further lines of its front matter.
type file struct {
	name, desc, front, body string
}

func (f file) text() string {
	desc := f.desc
	if desc == "" {
		desc = "Does " + f.name + "."
	}
	return fmt.Sprintf("---\nname: %s\ndescription: %q\n%s---\n%s\n", f.name, desc, f.front, f.body)
}

// memory returns a file system with the skills of files.
func memory(files ...file) fstest.MapFS {
	m := fstest.MapFS{}
	for _, f := range files {
		m[f.name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(f.text())}
	}
	return m
}

// catalog returns a catalogue of skills in memory.
func catalog(t testing.TB, files ...file) *skill.Catalog {
	t.Helper()
	return open(t, skill.Layer{Name: "bundled", Source: skill.FS(fs.FS(memory(files...)), nil), Trust: skill.TrustBundled})
}

func open(t testing.TB, layers ...skill.Layer) *skill.Catalog {
	t.Helper()
	c, err := skill.Open(t.Context(), &skill.Options{Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render renders c or fails the test.
func render(t testing.TB, c *skill.Catalog, o *Options) Text {
	t.Helper()
	text, err := Catalog(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// synthetic returns n skills with descriptions of 60 to 400 characters, always the same ones.
func synthetic(n int) []file {
	topics := strings.Fields("pdf sheet invoice calendar mail ticket deploy backup query schema chart budget photo audio map recipe travel market weather report")
	verbs := strings.Fields("extract merge convert review plan search sync validate draft publish")
	files := make([]file, n)
	for i := range files {
		topic, verb, other := topics[i%len(topics)], verbs[i/3%len(verbs)], topics[i*7%len(topics)]
		var b strings.Builder
		fmt.Fprintf(&b, "%s%s %s files and %s records for a team.", strings.ToUpper(verb[:1]), verb[1:], topic, other)
		for range i % 5 {
			fmt.Fprintf(&b, " It reads each %s, checks what is in it against the %s and writes a short summary.", other, topic)
		}
		fmt.Fprintf(&b, " Use when someone asks to %s a %s.", verb, topic)
		files[i] = file{
			name: fmt.Sprintf("%s-%s-%05d", topic, verb, i), desc: b.String(), body: "# Steps\n\n1. Read.\n2. Write.",
			front: fmt.Sprintf("triggers:\n  keywords: [%s %s, %s number %d]\n  verbs: [%s%d]\n", verb, topic, topic, i, verb, i),
		}
	}
	return files
}
