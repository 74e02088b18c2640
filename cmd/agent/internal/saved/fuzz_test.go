package saved

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
)

// Whatever a file says, it is read, what a side cannot say is left out, and what is written of it reads the same.
func FuzzRead(f *testing.F) {
	o := bench(f)
	src, err := os.ReadFile(file(f, o, written(f, o)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add([]byte(`{"kind":"back","turn":-1}` + "\n" + `{"kind":"taken"}` + "\n" + `{"kind":"end","turn":0}` + "\n\x00"))
	f.Add([]byte(`{"kind":"message","role":"user","parts":[{"text":{"base64":"/w=="}},{"state":{"data":"1"}}]}`))
	f.Add([]byte(`{"kind":"cut","messages":[{"role":"assistant","parts":[]}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		r := &reader{all: true}
		if err := r.read(bytes.NewReader(src)); err != nil {
			t.Fatal(err)
		}
		c := &r.c
		for _, m := range c.Messages {
			if m.Role != llm.User && m.Role != llm.Assistant || len(m.Parts) == 0 {
				t.Fatalf("message %+v", m)
			}
			for _, p := range m.Parts {
				if p.Result != nil && m.Role != llm.User || (p.Call != nil || p.State != nil) && m.Role != llm.Assistant {
					t.Fatalf("part %+v of %s", p, m.Role)
				}
			}
		}
		l := &line{Kind: kindCut, Messages: cleaner(nil).messages(c.Messages)}
		b, err := l.encode()
		if err != nil {
			t.Fatal(err)
		}
		again := &reader{}
		if err := again.read(bytes.NewReader(b)); err != nil || texts(again.c.Messages) != texts(c.Messages) {
			t.Fatalf("%v\n%s\n%s", err, texts(c.Messages), texts(again.c.Messages))
		}
	})
}

// Every text is written and read with the same bytes, as a line.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "<&>\u2028", "\xff\xfe", "\x00", `{"base64":"YQ=="}`, "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(text(s))
		var back text
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || string(back) != s || strings.Contains(string(b), "\n") {
			t.Fatalf("%q became %s and %q: %v", s, b, back, err)
		}
		if title := shorten(s, maxTitle); len(title) > maxTitle+2*len("\uFFFD") || !utf8.ValidString(title) {
			t.Fatalf("title %q", title)
		}
	})
}
