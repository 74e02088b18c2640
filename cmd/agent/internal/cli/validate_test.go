package cli

import (
	"context"
	"io/fs"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
)

// R63: a folder that cannot be opened has a verdict, and keeps no other from having one.
func TestValidateUnreadable(t *testing.T) {
	tree, err := walk.OpenFS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	denied := target{dir: "x", file: "SKILL.md", tree: tree, rel: "x",
		open: func(context.Context) (skill.Tree, error) {
			return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}
		}}
	v, err := (&validateOptions{sys: &setup.System{}}).one(t.Context(), denied, &check.Options{})
	if err != nil || v.Valid || len(v.Problems) != 1 || v.Problems[0].Message != "the folder cannot be read: permission denied" || v.Problems[0].File != "x/SKILL.md" {
		t.Errorf("got %+v, %v", v, err)
	}
}
