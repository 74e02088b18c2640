package skills_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/pythontest"
)

// The dependencies of the bundled scripts, with the bounds of their own blocks.
var requirements = []string{"httpx>=0.27,<1", "click>=8.1,<9"}

// python returns an interpreter with httpx and click.
func python(t *testing.T) string {
	t.Helper()
	path, err := interpreter()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var interpreter = sync.OnceValues(func() (string, error) { return pythontest.Python(requirements...) })

// result is the result of a script run.
type result struct {
	code           int
	stdout, stderr string
}

// call is one start of a Python program, with these variables and this process's PATH.
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
