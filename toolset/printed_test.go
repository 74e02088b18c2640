package toolset

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
)

// What a process prints is given line by line: whole, cut if it is long, without secrets and without what is no text.
func TestPrintedLines(t *testing.T) {
	var got []string
	h := &Host{o: Options{Printed: func(name, line string) { got = append(got, name+": "+line) }}}
	p := &process{u: &unit{owner: &owner{h: h, name: "s"}}, c: mcphost.New(&mcphost.Options{Kill: func(string) {}}), serving: &script.Serving{Redact: redact.New([]redact.Secret{{Name: "KEY", Value: "hunter2hunter2"}})}}
	w := &printer{all: p.c.Err(), p: p}
	long := strings.Repeat("x", 3*maxShown)
	for _, part := range []string{"one\ntw", "o \r\n\n", "the key hunter2", "hunter2\n", "a\xffb\n" + long[:maxShown+7], long + "\nend\n", "not ended"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []string{"s: one", "s: two", "s: the key [redacted KEY]", "s: ab", "s: " + long[:maxShown] + " …", "s: end"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if p.c.Strays().Printed == 0 {
		t.Error("it is not counted")
	}
}
