package chat

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// mostTodo is how many items of a list of steps are shown at once.
const mostTodo = 7

// todoRows draws the list of steps above the input, as long as one is open: those around the first that is not done.
func (s *state) todoRows() []string {
	items := s.status.Todo
	done := todo.Count(items)
	if done == len(items) {
		return nil
	}
	most := min(mostTodo, max(s.height/3, 1))
	first := max(slices.IndexFunc(items, func(i todo.Item) bool { return i.State != todo.Done })-1, 0)
	from := max(min(first, len(items)-most), 0)
	rows := []string{s.paint.dim(fmt.Sprintf("%d of %d steps done", done, len(items)))}
	for _, i := range items[from:min(from+most, len(items))] {
		row := ui.Cut(ui.Line(i.Row()), s.room())
		switch i.State {
		case todo.Active:
			row = s.paint.bold(row)
		case todo.Done:
			row = s.paint.dim(row)
		}
		rows = append(rows, row)
	}
	if left := len(items) - from - most; left > 0 {
		rows = append(rows, s.paint.dim(fmt.Sprintf("and %d more: /todo shows all", left)))
	}
	return rows
}

// todoDone prints the items that a call wrote, where no screen shows the list.
func (s *state) todoDone(name string) {
	if s.width > 0 || name != todo.Name {
		return
	}
	for _, i := range s.o.Status().Todo {
		s.out = append(s.out, "  "+ui.Line(i.Row()))
	}
}

// jobs says how many commands run in the background.
func (s *state) jobs() string {
	if s.status.Jobs == 0 {
		return ""
	}
	return fmt.Sprintf("%d in background", s.status.Jobs)
}
