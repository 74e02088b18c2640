package worker

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/diff"
	"github.com/agent-base/agent-base/internal/undo"
	"github.com/agent-base/agent-base/trace"
)

// maxUndoLines is how many lines of a file's diff are shown when its changes are taken back.
const maxUndoLines = 20

// TakeBack takes a turn's changes of files back and traces each file.
func TakeBack(ctx context.Context, t *undo.Turn, to trace.Tracer) ([]undo.File, error) {
	files, err := t.Undo(ctx)
	for _, f := range files {
		e := trace.Event{Kind: trace.EditUndone, Message: fmt.Sprintf("'%s': %s", f.Path, f.Action), Attrs: []slog.Attr{slog.String(trace.AttrPath, f.Path)}}
		if f.Action == undo.Refuse {
			e.Level, e.Message = slog.LevelWarn, e.Message+": "+f.Why
		}
		trace.Emit(ctx, to, e)
	}
	return files, err
}

// undoLimit says what no undo takes back.
const undoLimit = "Files that commands changed are not taken back."

// UndoLines describes what happens, or happened, to the files of a turn. Lines of diffs are those of a unified diff.
func UndoLines(t *undo.Turn, files []undo.File) []string {
	var out []string
	for _, f := range files {
		line := fmt.Sprintf("%-9s  %s", f.Action, ui.Line(f.Path))
		if f.Action == undo.Refuse {
			line += ": " + f.Why
			if f.Kept != "" {
				line += "; what it was is in " + f.Kept
			}
		}
		out = append(out, line)
		if f.Action == undo.Restore {
			out = append(out, diff.Of(f.Now, f.Old, diff.Options{Lines: maxUndoLines, Width: 300}).Lines...)
		}
	}
	if t.Damaged > 0 {
		out = append(out, fmt.Sprintf("%s of this turn could not be read", output.Count(t.Damaged, "record")))
	}
	if t.Ran {
		out = append(out, undoLimit)
	}
	return out
}
