package worker

import (
	"io"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// A long command costs no more than its first words. C71
func TestWordsOfACommand(t *testing.T) {
	w := &worker{s: app.New(&setup.System{Home: t.TempDir()}, &setup.Flags{}, &ui.Streams{Out: io.Discard, Err: io.Discard})}
	if got := w.touched(&permit.Call{Command: strings.Repeat("/ ", 100)}); len(got) != 64 {
		t.Errorf("%d paths", len(got))
	}
}
