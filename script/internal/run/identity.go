package run

import (
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/script/internal/plan"
)

// identity writes the machine's settings of git, with who the user is, for a script that may write files of the user: it may commit them. It
// returns the file, in a folder that has more files of the kind; "" if there is nothing to say.
func identity(o *plan.Operator, in string) (file string, err error) {
	user := &gitdir.User{Home: o.Guard.Home, Getenv: o.Getenv, Identity: true}
	dir := filepath.Join(in, "git")
	carried := user.Carry(dir)
	for name, text := range carried.Files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", err
		}
	}
	if carried.Files == nil {
		return "", nil
	}
	return filepath.Join(dir, ".gitconfig"), nil
}
