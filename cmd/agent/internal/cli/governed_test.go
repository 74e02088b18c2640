package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// overlay mounts a folder over /etc, in a mount namespace of its own, and runs what follows.
const overlay = `mount -t overlay none -o lowerdir="$0":/etc /etc && exec "$@"`

// canGovern reports whether this machine lets a user have an /etc of their own.
func canGovern() bool {
	dir, err := os.MkdirTemp("", "etc")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	return exec.Command("unshare", "-rm", "sh", "-c", overlay, dir, "true").Run() == nil
}

// governed is a command of the scripts: governed [FILE] [-mode=MODE] COMMAND ARGUMENT… runs a command on a machine whose policy FILE is, in a mount namespace of its own. FILE
// may be a folder in place of /etc/agent.
func governed() {
	code, err := runGoverned(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "governed:", err)
		code = 99
	}
	os.Exit(code)
}

func runGoverned(args []string) (int, error) {
	if len(args) < 2 {
		return 0, errors.New("usage: governed FILE COMMAND ARGUMENT…")
	}
	dir, err := os.MkdirTemp("", "etc")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return 0, err
	}
	at := filepath.Join(dir, "agent")
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		if out, err := exec.Command("cp", "-a", args[0], at).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
	} else {
		text, err := os.ReadFile(args[0])
		if err == nil {
			err = os.Mkdir(at, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(at, "policy.yaml"), text, 0o644)
		}
		if err != nil {
			return 0, err
		}
	}
	cmd := exec.Command("unshare", append([]string{"-rm", "sh", "-c", overlay, dir}, args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var ended *exec.ExitError
	if err := cmd.Run(); errors.As(err, &ended) {
		return ended.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}
