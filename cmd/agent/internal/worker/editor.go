package worker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// mostEdited is the largest prompt that comes back from an editor, in bytes.
const mostEdited = 1 << 20

// editor returns chat.Options.Editor: the program of $VISUAL or $EDITOR, else vi, with a file of its own.
func editor(sys *setup.System) func(text string) (*exec.Cmd, func() (string, error), error) {
	return func(text string) (*exec.Cmd, func() (string, error), error) {
		words := strings.Fields(cmp.Or(sys.Getenv("VISUAL"), sys.Getenv("EDITOR"), "vi"))
		if len(words) == 0 {
			return nil, nil, errors.New("$VISUAL names no program")
		}
		name, err := sys.LookPath(words[0])
		if err != nil {
			return nil, nil, fmt.Errorf("there is no editor %q: set EDITOR", words[0])
		}
		dir, err := os.MkdirTemp(sys.Temp, "agent-prompt-")
		if err != nil {
			return nil, nil, err
		}
		file := filepath.Join(dir, "prompt.md")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			ondisk.RemoveAll(dir)
			return nil, nil, err
		}
		cmd := exec.Command(name, append(words[1:], file)...)
		cmd.Dir, cmd.Env = sys.Dir, sys.Environ
		return cmd, func() (string, error) {
			defer ondisk.RemoveAll(dir)
			edited, err := lockfile.Read(file, mostEdited)
			return string(edited), err
		}, nil
	}
}
