package script

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/script/internal/plan"
)

// identity writes the machine's settings of git, with who the user is, for a script that may write files of the user: it may commit them. It
// returns the file, and the folder that it lies in, which has more files of the kind; "" if there is nothing to say.
func (h *Host) identity(in string) (file, dir string, err error) {
	user := &gitdir.User{Home: plan.UserHome(h.o.Env), Getenv: h.getenv, Identity: true}
	dir = filepath.Join(in, "git")
	carried := user.Carry(dir)
	for name, text := range carried.Files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", "", err
		}
	}
	if carried.Files == nil {
		return "", "", nil
	}
	return filepath.Join(dir, ".gitconfig"), dir, nil
}

// getenv returns a variable of the operator's environment.
func (h *Host) getenv(name string) string {
	for i := len(h.o.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(h.o.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
