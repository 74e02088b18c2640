package worker

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hosttool"
)

// jobsCommand is /jobs.
func (t *talk) jobsCommand(_ context.Context, args string) (string, error) {
	if id, ok := strings.CutPrefix(args, "stop "); ok {
		id = strings.TrimSpace(id)
		if err := t.w.jobs.Stop(id); err != nil {
			return "", fmt.Errorf("%w; /jobs lists them", err)
		}
		return "command " + id + " has ended", nil
	}
	var lines []string
	for _, j := range t.w.jobs.List() {
		if args == "" || args == j.ID {
			lines = append(lines, jobLine(&j))
		}
		if args == j.ID && j.Output != "" {
			lines = append(lines, strings.TrimRight(ui.Text(j.Output), "\n"))
		}
	}
	switch {
	case len(lines) == 0 && args != "":
		return "", fmt.Errorf("no command %q in the background; /jobs lists them", args)
	case len(lines) == 0:
		return "No commands in the background.", nil
	}
	return strings.Join(lines, "\n"), nil
}

// jobLine shows a command in one line.
func jobLine(j *hosttool.Job) string {
	state := "runs"
	if j.Ended != "" {
		state = j.Ended
	}
	return ui.Line(fmt.Sprintf("%s  %s  %s", j.ID, ui.Truncate(ui.Exact(j.Command), 100), state))
}
