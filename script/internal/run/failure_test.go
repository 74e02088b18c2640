package run

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
)

// Another process that removes a skill takes the folders of a script that is being started.
func TestFolderRemovedAtStart(t *testing.T) {
	dir := t.TempDir()
	cmd := &runner.Command{Path: "/bin/sh", Dir: dir, Write: []string{dir, filepath.Join(dir, "cache")}}
	err := startError(survey.Script{Name: "sum"}, cmd, &fs.PathError{Op: "mount", Path: cmd.Write[1], Err: fs.ErrNotExist})
	if e, ok := errors.AsType[*fail.Error](err); !ok || e.Code != fail.ExecutionFailed || e.Reason != fail.ReasonFolder ||
		!strings.HasSuffix(e.Message, "was removed while it was being started; try again") {
		t.Errorf("got %v", err)
	}
}
