package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/undo"
)

// mostBack is how many prompts /back offers: each is one key.
const mostBack = 9

// backCommand is /back. Without a number, a person chooses the prompt, and whether the changes of files go, too.
func (t *talk) backCommand(ctx context.Context, args string) (string, error) {
	turns, err := t.w.keep.turns()
	if err != nil {
		return "", err
	}
	n, took := 1, ""
	switch {
	case args != "":
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return "", fmt.Errorf("%q is no number of prompts: /back, or /back 2", args)
		}
	case t.w.approver != nil:
		if n, err = t.chooseBack(ctx, turns); err != nil || n == 0 {
			return "", err
		}
		if took, err = t.offerUndo(ctx, turns[len(turns)-n].Number); err != nil {
			return took, err
		}
	}
	prompt, err := t.w.keep.back(n)
	if err == nil {
		err = t.anew(ctx)
	}
	if err != nil {
		return took, err
	}
	t.wentTo = prompt
	news, files := "What was done to files since then was not taken back.", "files stay as they are, and /undo takes back what the last prompt changed in them"
	if took != "" {
		news, files = "", "the files, too" // offerUndo told the model
	}
	t.w.pending = disclose.Join(strings.TrimSpace("The user went back to here. "+news), t.w.pending)
	return strings.TrimPrefix(took+fmt.Sprintf("\nback to before %q; %s", prompt, files), "\n"), nil
}

// again returns the prompt that /back went to, once: the user often changes it.
func (t *talk) again() (prompt string) {
	prompt, t.wentTo = t.wentTo, ""
	return prompt
}

// chooseBack asks which prompt to go back to, and returns how many prompts are left then; 0 means that the user stays.
func (t *talk) chooseBack(ctx context.Context, turns []saved.Turn) (int, error) {
	if len(turns) == 0 {
		return 0, errors.New("there is no prompt yet that one could go back to")
	}
	q := &ui.Question{Text: "Go back to before which prompt? Esc stays."}
	for n := 1; n <= min(mostBack, len(turns)); n++ {
		turn := turns[len(turns)-n]
		q.Choices = append(q.Choices, ui.Choice{Key: strconv.Itoa(n), Label: turn.Began.Local().Format("15:04") + "  " + ui.Line(turn.Prompt)})
	}
	answer, err := t.w.approver.Answer(ctx, q)
	if err != nil || answer == "" {
		return 0, err
	}
	return strconv.Atoi(answer)
}

// offerUndo asks whether the changes of files since a turn go, too. It returns what became of them, "" if they stay.
func (t *talk) offerUndo(ctx context.Context, since int) (string, error) {
	o := t.o.Services.Settings.Undo()
	if o == nil {
		return "", nil
	}
	all, err := undo.List(ctx, o)
	if err != nil {
		return "", err
	}
	var turns []*undo.Turn // the newest first
	files, limit := map[string]bool{}, ""
	for _, turn := range all {
		if turn.Conversation == t.w.id && turn.Number >= since && !turn.Undone && len(turn.Paths()) > 0 {
			if turns = append(turns, turn); turn.Ran {
				limit = " " + undoLimit
			}
			for _, p := range turn.Paths() {
				files[p] = true
			}
		}
	}
	if len(turns) == 0 {
		return "", nil
	}
	answer, err := t.w.approver.Answer(ctx, &ui.Question{Text: fmt.Sprintf("Take back the changes of %s, too?%s", output.Count(len(files), "file"), limit),
		Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "n", Label: "no, files stay as they are"}}})
	if err != nil || answer != "y" {
		return "", err
	}
	var lines []string
	for _, turn := range turns {
		done, err := TakeBack(ctx, turn, t.o.Services.Observe.Tracer())
		t.w.tell(undoneText(done))
		if lines = append(lines, UndoLines(turn, done)...); err != nil {
			return strings.Join(lines, "\n"), err
		}
	}
	return strings.Join(lines, "\n"), nil
}
