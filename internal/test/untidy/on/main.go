// Command on runs a program on an untidy machine, as `go test -exec` calls it: on [-user] [-tier B] PROGRAM ARGS. The home is a link, folders
// for temporary files lie below a link, and PATH ends with the folder of a profile. With -user it runs as a user without rights, which root
// alone can ask for. With -tier B it runs where there are no namespaces.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/test/untidy"
)

func main() {
	user := flag.Bool("user", false, "run as a user without rights")
	tier := flag.String("tier", "A", "A, or B for a machine without namespaces")
	flag.Parse()
	code, err := run(flag.Args(), *user, *tier == "B")
	if err != nil {
		fmt.Fprintln(os.Stderr, "on:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs a program and returns its exit code.
func run(args []string, user, poor bool) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("usage: on [-user] [-tier B] PROGRAM ARGS")
	}
	top, err := os.MkdirTemp("", "untidy")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(top)
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return 0, err
	}
	work := filepath.Join(top, "work")
	if err := os.MkdirAll(filepath.Join(work, "tmp"), 0o755); err != nil {
		return 0, err
	}
	m, err := untidy.Make(work)
	if err != nil {
		return 0, err
	}
	program, err := copied(args[0], top)
	if err != nil {
		return 0, err
	}
	args = append([]string{program}, args[1:]...)
	if poor {
		args = append([]string{"unshare", "-U", "--map-current-user", "--keep-caps", "sh", "-c", noNamespaces}, args...)
	}
	if user {
		if err := own(top); err != nil {
			return 0, err
		}
		args = append(strings.Fields(asUser), args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+m.Home, "TMPDIR="+filepath.Join(m.Work, "tmp"), "AGENT_TEST_UNTIDY=1",
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+m.Bin)
	var ended *exec.ExitError
	if err := cmd.Run(); errors.As(err, &ended) {
		return ended.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}

const (
	asUser       = "setpriv --reuid 65534 --regid 65534 --clear-groups"
	nobody       = 65534
	noNamespaces = `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"`
)

// copied copies a program to where every user reaches it.
func copied(program, dir string) (string, error) {
	in, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer in.Close()
	to := filepath.Join(dir, filepath.Base(program))
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return to, errors.Join(err, out.Close())
}

// own gives a folder with all that is in it to the user without rights.
func own(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
}
