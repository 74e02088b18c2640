package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/disclose"
)

// carry returns what survives when the conversation is shortened. What earlier turns said of other skills does not.
func (w *worker) carry(ctx context.Context) string {
	w.plan.Forget()
	skills := w.kit.Carry(ctx)
	w.kept = w.keptText(&skills)
	return disclose.Join(w.start(ctx), skills.Body, w.todo.Text(), w.jobs.Text())
}

// keptText says to the user what is carried, and what of it is not whole; "" if there is nothing.
func (w *worker) keptText(skills *disclose.Text) string {
	var parts []string
	for _, s := range skills.Skills {
		name := "the skill " + s.Name
		if slices.Contains(skills.Cut, disclose.Cut{Name: s.Name, What: disclose.Truncated}) {
			name += " (the beginning of its instructions)"
		}
		parts = append(parts, name)
	}
	for _, c := range skills.Cut {
		if c.What == disclose.LeftOut {
			parts = append(parts, "the name of the skill "+c.Name+", without its instructions")
		}
	}
	if n := len(w.todo.Items()); n > 0 {
		parts = append(parts, "the list of "+output.Count(n, "step"))
	}
	if n := w.jobs.Running(); n > 0 {
		parts = append(parts, output.Count(n, "command")+" in the background")
	}
	if len(parts) == 0 {
		return ""
	}
	return "kept: " + strings.Join(parts, ", ")
}

// takeKept returns what was kept when the conversation was last shortened, once.
func (w *worker) takeKept() (lines []string) {
	if w.kept != "" {
		lines, w.kept = append(lines, w.kept), ""
	}
	return lines
}
