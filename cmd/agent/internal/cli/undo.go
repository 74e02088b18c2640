package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/undo"
)

type undoOptions struct {
	settings *setup.Settings
	out      *output.Printer
	approver *consent.Approver
	observe  *observe.Observers
	now      func() time.Time

	turn            string
	list, yes, json bool
}

func newUndoCommand(s *app.Services, run func(context.Context, *undoOptions) error) *cobra.Command {
	o := &undoOptions{settings: s.Settings, out: s.Out, approver: s.Approver, observe: s.Observe, now: s.Sys.Now}
	c := &cobra.Command{
		Use:   "undo [TURN]",
		Short: "Take back what the agent changed in files",
		Long: `Take back the changes of files that the agent's tools made for one prompt in this project: the last one that was not
taken back, or the TURN that --list names. It works after a crash and from another terminal. In a conversation, /undo
does the same.

Each file gets the content and the permissions that it had; a new file is removed. A file that something else has
changed since is left unchanged, and is shown with the reason. Changes by commands and scripts are not recorded. What files
were is kept for 30 days, at most 512 MiB, in the folder undo of $AGENT_HOME.`,
		Example: `  agent undo                # show what would change, and ask
  agent undo --list         # the prompts whose changes can be taken back
  agent undo --yes --json`,
		Args:              arguments(0, 1, "at most one turn"),
		ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.turn = args[0]
			}
			if o.list && (o.yes || o.turn != "") {
				return failure.Usage(errors.New("--list takes nothing back"), "agent undo --list")
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.list, "list", false, "list the turns, the newest first")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// complete offers the turns that can be taken back.
func (o *undoOptions) complete(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	where := o.settings.Undo()
	if where == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	turns, _ := undo.List(c.Context(), where)
	for _, t := range turns {
		if !t.Undone {
			out = append(out, cobra.CompletionWithDesc(t.ID, ui.Truncate(t.Label, showWidth)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// turnJSON is one turn in the output of agent undo --json.
type turnJSON struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Prompt string    `json:"prompt"`
	Undone bool      `json:"undone"`
	Files  []string  `json:"files"`

	Conversation string `json:"conversation"`
	Turn         int    `json:"turn"` // its number in the conversation
}

// undoneJSON is one file of a turn that was taken back.
type undoneJSON struct {
	Path   string      `json:"path"`
	Action undo.Action `json:"action"`
	Reason string      `json:"reason,omitempty"`
	Kept   string      `json:"kept,omitempty"` // the file that has the old content
}

func runUndo(ctx context.Context, o *undoOptions) error {
	where := o.settings.Undo()
	if where == nil {
		return o.settings.NeedHome()
	}
	if o.list {
		turns, err := undo.List(ctx, where)
		if err != nil {
			return err
		}
		return o.print(turns)
	}
	turn, err := o.find(ctx, where)
	if err != nil {
		return err
	}
	if !o.yes {
		if ok, err := o.confirm(ctx, turn); err != nil || !ok {
			return err
		}
	}
	return o.take(ctx, turn)
}

// find returns the turn that is meant.
func (o *undoOptions) find(ctx context.Context, where *undo.Options) (*undo.Turn, error) {
	const cure = "agent undo --list"
	if o.turn == "" {
		turn, err := undo.Last(ctx, where)
		if errors.Is(err, undo.ErrNothing) {
			return nil, failure.NotFound(errors.New("the agent changed no file here that could be taken back"), cure)
		}
		return turn, err
	}
	turn, err := undo.Open(where, o.turn)
	switch {
	case err != nil:
		return nil, failure.NotFound(err, cure)
	case turn.Undone:
		return nil, failure.Conflict(fmt.Errorf("turn %q was taken back already", o.turn), cure)
	}
	return turn, nil
}

// confirm shows what would change, and asks.
func (o *undoOptions) confirm(ctx context.Context, turn *undo.Turn) (bool, error) {
	files, err := turn.Plan(ctx)
	if err != nil {
		return false, err
	}
	q := &consent.Question{Text: fmt.Sprintf("Take back what the agent did %s for %q?", o.ago(turn), turn.Label), Details: worker.UndoLines(turn, files),
		Nobody: "nobody can be asked here", Instead: "agent undo --yes"}
	return o.approver.Ask(ctx, q)
}

// take takes the turn back and prints what was done.
func (o *undoOptions) take(ctx context.Context, turn *undo.Turn) error {
	files, err := worker.TakeBack(ctx, turn, o.observe.Tracer())
	if err != nil {
		return err
	}
	refused := false
	list := []undoneJSON{}
	for _, f := range files {
		refused = refused || f.Action == undo.Refuse
		list = append(list, undoneJSON{f.Path, f.Action, f.Why, f.Kept})
	}
	if o.json {
		err = o.out.JSON(map[string]any{"turn": turn.ID, "files": list})
	} else {
		for _, line := range worker.UndoLines(turn, files) {
			o.out.Printf("%s\n", o.out.Paint(ui.DiffStyle(line), ui.DiffLine(line)))
		}
	}
	if err == nil && refused {
		err = failure.Silent(failure.ExitConflict)
	}
	return err
}

// print lists turns.
func (o *undoOptions) print(turns []*undo.Turn) error {
	if o.json {
		list := []turnJSON{}
		for _, t := range turns {
			list = append(list, turnJSON{t.ID, t.Time, t.Label, t.Undone, t.Paths(), t.Conversation, t.Number})
		}
		return o.out.JSON(map[string][]turnJSON{"turns": list})
	}
	if len(turns) == 0 {
		o.out.Printf("The agent changed no files here.\n")
		return nil
	}
	var rows [][]string
	for _, t := range turns {
		state := ""
		if t.Undone {
			state = "taken back"
		}
		rows = append(rows, []string{t.ID, o.ago(t), output.Count(len(t.Paths()), "file"), state, t.Label})
	}
	return o.out.Table([]string{"TURN", "WHEN", "CHANGED", "STATE", "PROMPT"}, rows)
}

// ago says how long ago a turn was.
func (o *undoOptions) ago(t *undo.Turn) string {
	switch d := o.now().Sub(t.Time); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return output.Count(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return output.Count(int(d.Hours()), "hour") + " ago"
	default:
		return output.Count(int(d.Hours()/24), "day") + " ago"
	}
}
