package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/undo"
)

// changed returns the lines that show how a call changed a file, if the user was not asked about it.
func changed(r *agent.Result) []string {
	switch result := r.Result.Result.(type) {
	case hosttool.Written:
		return result.Diff
	case hosttool.Edited:
		return result.Diff
	}
	return nil
}

// Changed returns how a call changed a file, nil if it changed none, or much of one.
func Changed(r *agent.Result) *ui.Change {
	var c hosttool.Change
	switch result := r.Result.Result.(type) {
	case hosttool.Written:
		c = result.Change
	case hosttool.Edited:
		c = result.Change
	}
	if c.Path == "" {
		return nil
	}
	return &ui.Change{Path: c.Path, Existed: c.Existed, Before: c.Before, After: c.After}
}

// newJournal returns the journal of a conversation, or nil without a home.
func newJournal(s *app.Services, conversation string) *undo.Journal {
	o := s.Settings.Undo()
	if o == nil {
		return nil
	}
	o.Conversation = conversation
	return undo.New(o)
}

// modeCommand is /mode.
func (t *talk) modeCommand(_ context.Context, name string) (string, error) {
	g := t.w.gate
	if name == "" {
		return "mode " + string(g.current().Mode()), nil
	}
	m := permit.Mode(name)
	if !slices.Contains(permit.Modes(), m) {
		return "", fmt.Errorf("unknown mode %q: use one of %s", name, strings.Join(completeModes(""), ", "))
	}
	if err := g.setMode(m); err != nil {
		return "", err
	}
	return "mode " + name + " from now on", nil
}

// permissionsCommand is /permissions: the mode and the rules of this conversation, in the order in which they decide.
func (t *talk) permissionsCommand(context.Context, string) (string, error) {
	p := t.w.gate.current()
	var rows [][]string
	ignored := ""
	for _, r := range t.w.s.Settings.RuleRows(p) {
		if rows = append(rows, []string{string(r.List), r.Rule, t.w.s.Settings.From(r)}); r.List == setup.Ignored {
			ignored = "\n" + setup.IgnoredHelp
		}
	}
	text := "The mode is " + string(p.Mode()) + "."
	if len(rows) == 0 {
		return text + " There are no rules.", nil
	}
	table, err := t.printed(func(s *app.Services) error { return s.Out.Table([]string{"LIST", "RULE", "FROM"}, rows) })
	return text + "\n" + table + ignored, err
}

func completeModes(prefix string) []string {
	var out []string
	for _, m := range permit.Modes() {
		if strings.HasPrefix(string(m), prefix) {
			out = append(out, string(m))
		}
	}
	return out
}

// undoCommand is /undo.
func (t *talk) undoCommand(ctx context.Context, args string) (string, error) {
	if args != "" {
		return "", errors.New("/undo takes no arguments, and takes back the last prompt's changes: repeat it for the one before")
	}
	o := t.o.Services.Settings.Undo()
	if o == nil {
		return "", t.o.Services.Settings.NeedHome()
	}
	o.Conversation = t.w.id
	turn, err := undo.Last(ctx, o)
	if errors.Is(err, undo.ErrNothing) {
		return "Nothing of this conversation is left to take back. " + undoLimit, nil
	}
	if err != nil {
		return "", err
	}
	files, err := TakeBack(ctx, turn, t.o.Services.Observe.Tracer())
	t.w.tell(undoneText(files))
	if err != nil {
		return "", err
	}
	return strings.Join(UndoLines(turn, files), "\n"), nil
}

// undoneText tells the model what the user took back.
func undoneText(files []undo.File) string {
	var list []string
	for _, f := range files {
		if f.Action == undo.Restore || f.Action == undo.Remove {
			list = append(list, fmt.Sprintf("%s (%s)", ui.Line(f.Path), f.Action))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "The user took back your last changes of these files: " + strings.Join(list, ", ") + "."
}
