package skills_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the bundled scripts need: the bounds of their own blocks.
var requirements = []string{"httpx>=0.27,<1", "click>=8.1,<9"}

const cure = "set AGENT_TEST_PYTHON to a Python 3.9 or newer that has httpx and click, " +
	"or install Python with venv and pip (Debian: apt install python3 python3-venv) and have a package index in reach"

// python returns an interpreter with httpx and click: AGENT_TEST_PYTHON, else one made once in the
// user's cache directory and kept for later runs.
func python(t *testing.T) string {
	t.Helper()
	path, err := interpreter()
	if err != nil {
		t.Fatalf("no Python for the bundled scripts: %v\n%s", err, cure)
	}
	return path
}

var interpreter = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("AGENT_TEST_PYTHON"); path != "" {
		return path, usable(path)
	}
	base, err := exec.LookPath("python3")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version, err := exec.Command(base, "-c", "import sys; print(sys.version, sys.executable)").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	key := sha256.Sum256(fmt.Append(version, requirements))
	home := filepath.Join(cache, "agent-base-test", fmt.Sprintf("python-%x", key[:6]))
	if path := executable(home); usable(path) == nil {
		return path, nil
	}
	return executable(home), makeEnvironment(base, home)
})

func executable(home string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "Scripts", "python.exe")
	}
	return filepath.Join(home, "bin", "python")
}

func usable(path string) error {
	out, err := exec.Command(path, "-c", "import httpx, click, sys; assert sys.version_info >= (3, 9), sys.version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s cannot run them: %w: %s", path, err, bytes.TrimSpace(out))
	}
	return nil
}

// makeEnvironment builds beside the final place and renames, so that nobody sees half of it. When
// two test runs build at once the first one wins.
func makeEnvironment(base, home string) error {
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(home), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	install := append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, requirements...)
	for _, step := range [][]string{
		append([]string{base}, "-m", "venv", draft),
		append([]string{executable(draft)}, install...),
	} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(step, " "), err, bytes.TrimSpace(out))
		}
	}
	if usable(executable(home)) == nil {
		return nil
	}
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	if err := os.Rename(draft, home); err != nil && usable(executable(home)) != nil {
		return err
	}
	return usable(executable(home))
}

// result is what a run of a script left.
type result struct {
	code           int
	stdout, stderr string
}

// call is one start of a Python program, with these variables and nothing else of this process
// but PATH.
type call struct {
	program string
	args    []string
	env     []string
	stdin   string // a file; empty means no input
}

func run(t *testing.T, env []string, program string, args ...string) result {
	t.Helper()
	return start(t, call{program: program, args: args, env: env})
}

func start(t *testing.T, c call) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python(t), append([]string{c.program}, c.args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "HOME=" + cmd.Dir,
		"LANG=C.UTF-8", "TERM=dumb", "PYTHONDONTWRITEBYTECODE=1",
	}, c.env...)
	if c.stdin != "" {
		input, err := os.Open(c.stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer input.Close()
		cmd.Stdin = input
	}
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatalf("%s %s: %v", c.program, strings.Join(c.args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
