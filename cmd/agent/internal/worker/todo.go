package worker

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// todoAfter returns the list of steps if a step has changed it.
func (w *worker) todoAfter(s agent.Step) (items []todo.Item, changed bool) {
	if s.Result == nil || s.Depth > 0 || s.Result.Call.Name != todo.Name || !s.Result.Result.Success {
		return nil, false
	}
	return w.todo.Items(), true
}

// steps prints to stderr the list that a call wrote, unless --quiet is given.
func (p *printer) steps(s agent.Step) error {
	items, changed := p.w.todoAfter(s)
	if !changed || p.out.Quiet() {
		return nil
	}
	out := *p.out.Streams
	out.Out = p.out.Err
	for _, i := range items {
		out.Printf("  %s\n", ui.Safe(ui.Line(i.Row())))
	}
	return nil
}

// todoJSON prints the list that a call wrote as a line of JSON.
func (p *printer) todoJSON(s agent.Step) error {
	items, changed := p.w.todoAfter(s)
	if !changed {
		return nil
	}
	return p.lines.Write(stream.Line{Type: "todo", Todo: items})
}

// begun prints the list with which a conversation continues.
func (p *printer) begun() error {
	if items := p.w.todo.Items(); len(items) > 0 {
		return p.lines.Write(stream.Line{Type: "todo", Todo: items})
	}
	return nil
}

// todoCommand is /todo.
func (t *talk) todoCommand(_ context.Context, args string) (string, error) {
	switch args {
	case "":
	case "clear":
		t.w.todo.Set(nil)
		t.w.keepTodo()
		return "The list of steps is gone; the model may write another.", nil
	default:
		return "", fmt.Errorf("/todo %s: /todo shows the list of steps, and /todo clear removes it", args)
	}
	var rows []string
	for _, i := range t.w.todo.Items() {
		rows = append(rows, ui.Line(i.Row()))
	}
	if len(rows) == 0 {
		return "The model keeps no list of steps now.", nil
	}
	return strings.Join(rows, "\n"), nil
}
