package saved

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

// shot is an image as a prompt has it.
func shot(name string, size int) *llm.Media {
	return &llm.Media{Type: "image/png", Name: name, Data: append([]byte("\x89PNG\r\n\x1a\n"+name[:1]), make([]byte, size)...)}
}

func shows(m ...*llm.Media) llm.Message {
	out := llm.Message{Role: llm.User}
	for _, one := range m {
		out.Parts = append(out.Parts, llm.Part{Media: one})
	}
	out.Parts = append(out.Parts, llm.Part{Text: "look"})
	return out
}

// shown writes a conversation with images, and returns its file and what was said in it.
func shown(t *testing.T, o *Options) (id string, said []llm.Message) {
	t.Helper()
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	said = []llm.Message{shows(shot("a.png", 1000), shot("b.png", 1000)), calls("1", `{}`),
		{Role: llm.User, Parts: []llm.Part{{Result: &llm.Result{ID: "1", Name: "read_file", Text: "seen", Media: []llm.Media{*shot("a.png", 1000)}}}}}}
	l.Begin("m", "look")
	for _, m := range said {
		l.Add(m)
	}
	l.Replace(said)
	l.End(&End{})
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return l.ID(), said
}

// The bytes of an image stand once in a file, however often messages name it, also after the conversation was opened again or copied.
func TestImagesStandOnce(t *testing.T) {
	o := bench(t)
	id, said := shown(t, o)
	check := func(id string, count int) {
		t.Helper()
		c, err := Read(o, id, true)
		if err != nil || c.Damage() != "" || !reflect.DeepEqual(c.Messages[:2], said[:2]) || !reflect.DeepEqual(c.Messages[2].Parts[0], said[2].Parts[0]) {
			t.Fatalf("read %+v, %s, %v", c.Messages, c.Damage(), err)
		}
		if n := strings.Count(strings.Join(lines(t, file(t, o, id)), "\n"), `{"kind":"media"`); n != count {
			t.Errorf("%d lines of images, want %d", n, count)
		}
	}
	check(id, 2)
	l, _, err := Open(t.Context(), o, id)
	if err != nil {
		t.Fatal(err)
	}
	l.Add(shows(shot("b.png", 1000), shot("c.png", 1000)))
	l.Close()
	check(id, 3)
	f, _, err := Fork(t.Context(), o, id)
	if err != nil {
		t.Fatal(err)
	}
	f.Add(shows(shot("c.png", 1000)))
	f.Close()
	check(f.ID(), 3)
}

// What a file says of an image is not believed, and an image that is lost leaves its name.
func TestDamagedImages(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"other bytes":  func(s string) string { return strings.Replace(s, "AAAAAAAA", "AAAABAAA", 1) },
		"another type": func(s string) string { return strings.Replace(s, "image/png", "image/gif", 1) },
		"no image":     func(s string) string { return strings.Replace(s, `"data":"`, `"data":"AAAA`, 1) },
		"no line":      func(s string) string { return strings.Replace(s, `"kind":"media"`, `"kind":"medium"`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			o := bench(t)
			id, _ := shown(t, o)
			src, err := os.ReadFile(file(t, o, id))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file(t, o, id), []byte(change(string(src))), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Read(o, id, false)
			if err != nil || c.Damaged != 1 {
				t.Fatalf("%d lines are damaged, %v", c.Damaged, err)
			}
			if p := c.Messages[0].Parts; p[0].Text != "[a.png: lost from the saved conversation]" || p[1].Media == nil {
				t.Errorf("read %+v", p)
			}
			if r := c.Messages[2].Parts[0].Result; r.Text != "seen\n[a.png: lost from the saved conversation]" || r.Media != nil {
				t.Errorf("read %+v", r)
			}
		})
	}
}

// A conversation keeps a bounded number of bytes of images, and goes on.
func TestImagesAreBounded(t *testing.T) {
	o := bench(t)
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 12 {
		l.Add(shows(shot(fmt.Sprintf("%c.png", 'a'+i), 5<<20)))
	}
	c, err := Read(o, l.ID(), false)
	if err != nil || l.Err() != nil || c.Damage() != "" {
		t.Fatal(err, l.Err(), c.Damage())
	}
	kept, left := 0, 0
	for _, p := range c.Messages[0].Parts {
		if p.Media != nil {
			kept++
		}
		if strings.HasSuffix(p.Text, "not kept, since a conversation keeps 48 MB of images and documents]") {
			left++
		}
	}
	if kept != 9 || left != 3 {
		t.Errorf("%d are kept, %d are not", kept, left)
	}
}
