package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

// Calls of others with the skill are seen as they come; those of the command itself, of other skills and what is no call are not.
func TestCallsElsewhere(t *testing.T) {
	dir := t.TempDir()
	log := audit.New(&audit.Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	calls := callsElsewhere(ctx, dir, "miss", "dev-1")
	write := func(task, skill string, kind trace.Kind) {
		log.Trace(trace.WithIdentity(t.Context(), trace.Identity{Agent: "agent", Task: task}), trace.Event{Time: time.Now(), Kind: kind, Skill: skill, Tool: "M.size"})
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for seen := 0; seen < 3; { // what is written before it looks for the first time is not seen
		select {
		case r, more := <-calls:
			if !more || r.Skill != "miss" || r.Task != "dev-2" || r.Event != trace.ToolsetCalled || !strings.HasPrefix(about(&r), "M.size, ok") {
				t.Fatalf("got %+v, %v", r, more)
			}
			seen++
		case <-again.C:
			write("dev-1", "miss", trace.ToolsetCalled)
			write("dev-2", "other", trace.ToolsetCalled)
			write("dev-2", "miss", trace.ToolsetStarted)
			write("dev-2", "miss", trace.ToolsetCalled)
		}
	}
	cancel()
	for range calls { // it ends
	}
}
