package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hosttool"
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

// Outcome returns what a result says to a person. text is the result as the model got it.
func Outcome(text string) string {
	var r struct {
		Success bool
		Message string
		Result  json.RawMessage
	}
	if json.Unmarshal([]byte(text), &r) != nil { // it was cut
		return text
	}
	gave := ""
	if json.Unmarshal(r.Result, &gave) != nil {
		var (
			ran     hosttool.Ran
			page    hosttool.Page
			matches hosttool.Matches
			names   hosttool.Names
			fork    struct{ Answer string }
		)
		for _, to := range []any{&ran, &page, &matches, &names, &fork} {
			_ = json.Unmarshal(r.Result, to) // for a result of another form the message is shown
		}
		gave = cmp.Or(ran.Output, page.Content, matches.Text, fork.Answer, strings.Join(names.Files, "\n"))
	}
	switch {
	case gave == "":
		return cmp.Or(r.Message, text)
	case !r.Success:
		return strings.TrimSpace(r.Message + "\n" + gave)
	}
	return gave
}
