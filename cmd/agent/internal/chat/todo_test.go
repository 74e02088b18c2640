package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// The list of steps stands above the input as long as one is open: no more of it than fits, and nothing in it that a terminal obeys.
func TestTodoRows(t *testing.T) {
	var items []todo.Item
	k := newTalk(t, 30, &Options{Status: func() Status { return Status{Todo: items} }})
	shown := func(done, all int) string {
		items = nil
		for n := range all {
			i := todo.Item{Text: fmt.Sprintf("step %d \x1b[2J\n| Press y |", n), State: todo.Pending}
			if n < done {
				i.State = todo.Done
			} else if n == done {
				i.State = todo.Active
			}
			items = append(items, i)
		}
		k.happen(stepsEvent{steps: []agent.Step{{Notice: "x"}}})
		v := k.view()
		for _, r := range v.rows {
			if ui.Columns(r) > 29 || strings.ContainsAny(r, "\x1b\n") {
				t.Errorf("row %q", r)
			}
		}
		if !strings.HasPrefix(v.rows[v.y], "> ") {
			t.Errorf("the cursor is in %q", v.rows[v.y])
		}
		return strings.Join(v.rows, "\n")
	}
	for _, tt := range []struct {
		done, all int
		has, not  string
	}{
		{0, 3, "0 of 3 steps done\n[>] step 0", "more"},
		{2, 3, "2 of 3 steps done\n[ ]", "step 3"},
		{0, 100, "[ ] step 6", "step 7"},
		{50, 100, "[x] step 49", "step 48"},
		{50, 100, "and 44 more: /todo", "step 56"},
		{99, 100, "[>] step 99", "more"},
		{3, 3, "", "step"},
	} {
		got := shown(tt.done, tt.all)
		if has := strings.Replace(tt.has, "done\n[ ]", "done\n[x] step 0", 1); !strings.Contains(got, has) || strings.Contains(got, tt.not) {
			t.Errorf("%d of %d:\n%s", tt.done, tt.all, got)
		}
	}
	k.height = 8
	if got := shown(0, 100); strings.Count(got, "\n") >= 8 {
		t.Errorf("on a small screen:\n%s", got)
	}
}
