package worker

import (
	"fmt"
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

// Each text for agents is named to a model once, and at most mostTexts of them are.
func TestTextsAreToldOnce(t *testing.T) {
	var f fresh
	f.addTexts([]string{"0/AGENTS.md", "0/AGENTS.md"})
	for range 2 {
		for i := range mostTexts + 10 {
			f.addTexts([]string{fmt.Sprintf("%d/AGENTS.md", i)})
		}
		if len(f.texts) != mostTexts || f.texts[0] != "0/AGENTS.md" {
			t.Errorf("%d texts, the first is %q", len(f.texts), f.texts[0])
		}
	}
}
