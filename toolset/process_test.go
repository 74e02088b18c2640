package toolset

import (
	"testing"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
)

// What a process printed during a call that it did not answer is told.
func TestPrintedMeanwhile(t *testing.T) {
	c := mcphost.New(&mcphost.Options{Kill: func(string) {}})
	p, before := &process{c: c, serving: &script.Serving{}}, c.Strays()
	for range 3 {
		_, _ = c.Err().Write(make([]byte, 1<<20))
	}
	_, _ = c.Err().Write([]byte("connecting\nretrying\n"))
	if got, want := p.printed(&before), ", and printed 3 MiB meanwhile\nIt printed last:\nconnecting\nretrying"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if now := c.Strays(); p.printed(&now) != "" {
		t.Errorf("got %q", p.printed(&now))
	}
}
