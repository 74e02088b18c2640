package cli

import (
	"context"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// devPatience is how long a call may take before the user is told how to end it.
const devPatience = 3 * time.Second

// mostPrinted is how many lines of the skill's toolsets wait to be shown; what comes while there are as many is dropped.
const mostPrinted = 200

// wait carries out a call, and shows what the skill's toolsets print meanwhile. A save ends the call, and so does a line that is typed.
func (d *studio) wait(ctx context.Context, call func(context.Context) tool.Result) (tool.Result, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	begun, done := time.Now(), make(chan tool.Result, 1)
	go func() { done <- call(limited) }()
	var typed <-chan string
	if d.Out.InTerminal { // lines of a pipe are there before the call
		typed = d.typed
	}
	long := time.NewTimer(devPatience)
	defer long.Stop()
	for {
		select {
		case r := <-done:
			r.Duration = time.Since(begun)
			return r, ctx.Err()
		case line := <-d.printed:
			d.print(line)
		case <-long.C:
			d.Out.Remark("no answer yet: Enter ends the call, and so does a save")
		case <-d.saved:
			cancel()
			d.save()
			<-done
			d.Out.Remark("the call was ended: the skill was saved")
			return tool.Result{}, errCallEnded
		case line, more := <-typed:
			if !more {
				typed = nil
				continue
			}
			d.next = strings.TrimSpace(line)
			cancel()
		}
	}
}

// save notes that the skill was saved.
func (d *studio) save() {
	select {
	case d.saved <- struct{}{}:
	default: // it is looked at anyway
	}
}

// printedBy is told what the toolsets of a skill print.
func (d *studio) printedBy(_, line string) {
	select {
	case d.printed <- line:
	default: // nobody reads so much
	}
}

// print shows a line that a toolset printed.
func (d *studio) print(line string) {
	d.Out.Printf("%s %s\n", d.Out.Paint(ui.Dim, "printed:"), line)
	_ = d.Out.Flush() // a later write has the error
}
