package worker

import (
	"fmt"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// live is what a call that runs shows at present. It is safe for concurrent use.
type live struct {
	mu   sync.Mutex
	tail ui.Tail
}

// watch takes an event of a call.
func (l *live) watch(e tool.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case tool.EventStarted, tool.EventEnded:
		l.tail = ui.Tail{}
	default:
		l.tail.Add(LiveText(e))
	}
}

// last returns the last line.
func (l *live) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.tail.Last(1) {
		return line
	}
	return ""
}

// LiveText returns what an event adds to the output that a person sees.
func LiveText(e tool.Event) string {
	switch e.Kind {
	case tool.EventOutput:
		return e.Text
	case tool.EventProgress:
		if e.Total > 0 {
			return fmt.Sprintf("\n%d %% %s\n", int(100*e.Done/e.Total), e.Text)
		}
		return "\n" + e.Text + "\n"
	case tool.EventNeeds:
		if e.Need.From != "" && e.Text != "" { // else a question is shown
			return "\n" + e.Text + "\n"
		}
	}
	return ""
}
