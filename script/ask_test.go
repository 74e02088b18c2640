package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// asked makes programs that record how they are called before they do anything, and records what the host's
// Runner was given. The file holds a line for each variable of each call.
func asked(t *testing.T, h *rig, programs map[string]string) (log string, given func() []*runner.Command) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	for name, says := range programs {
		programs[name] = "env >> " + log + "; pwd >> " + log + "\n" + says
	}
	fakes(t, h, programs)
	var mu sync.Mutex
	var commands []*runner.Command
	h.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		mu.Lock()
		commands = append(commands, c)
		mu.Unlock()
		return runner.Exec{}.Run(ctx, c)
	})
	return log, func() []*runner.Command {
		mu.Lock()
		defer mu.Unlock()
		return commands
	}
}

const requiresPython = "# /// script\n# requires-python = \">=3.6\"\n# ///\nprint('{}')\n"

// What is asked of interpreters and of uv goes through the Runner too, and sees of the operator's environment only what
// such programs choose by (security 1.2).
func TestQuestionsGoThroughTheRunner(t *testing.T) {
	python := realPython(t)
	s := open(t, "", tree{"scripts/a.py": requiresPython, "scripts/t.ts": "1\n", "scripts/r.rb": "1\n",
		"scripts/old.py": strings.Replace(requiresPython, ">=3.6", "<3", 1)})
	h := host(t)
	h.Env = append(h.Env, "SECRET=hunter2", "AWS_TOKEN=hunter2", "UV_INDEX_PRIV_PASSWORD=hunter2", "LD_PRELOAD=hunter2", "PYENV_VERSION=3.11", "TZ=UTC")
	log, given := asked(t, h, map[string]string{
		"python3": "exec " + python + " \"$@\"", "uv": "echo " + python,
		"node": "[ \"$1\" = --version ] && echo v24.1.0 || echo '{}'", "ruby": "[ \"$1\" = -e ] && echo /bin/cat && exit; echo '{}'",
	})
	one := h.host()
	for _, name := range []string{"a", "t", "r", "old"} {
		sc, err := Find(t.Context(), s, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = one.Run(t.Context(), s, sc, nil) // what the scripts answer is of no interest here
	}
	var questions []string
	for _, c := range given() {
		if c.Phase == runner.Prepare {
			questions = append(questions, filepath.Base(c.Path)+" "+c.Args[1])
			if c.Dir != h.programs() || c.Timeout <= 0 || c.MaxStdout <= 0 {
				t.Errorf("got %+v", c)
			}
		}
	}
	want := []string{"python3 -I", "node -p", "node --version", "ruby -e", "uv python"}
	slices.Sort(questions)
	slices.Sort(want)
	if !slices.Equal(questions, want) {
		t.Errorf("the runner was given %q, want %q", questions, want)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter2") {
		t.Errorf("secrets were handed over:\n%s", b)
	}
	for _, line := range []string{"PYENV_VERSION=3.11\n", "HOME=", "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains(string(b), line) {
			t.Errorf("%q is missing in:\n%s", line, b)
		}
	}
}

// A Runner that starts nothing keeps everything from starting.
func TestNothingRunsPastTheRunner(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": requiresPython, "scripts/t.ts": "1\n"})
	for _, name := range []string{"a", "t"} {
		h := host(t)
		log, _ := asked(t, h, map[string]string{"python3": "", "uv": "", "node": ""})
		refused := errors.New("nothing may run here")
		h.Runner = runner.RunnerFunc(func(context.Context, *runner.Command) (*runner.Output, error) { return nil, refused })
		if _, err := runAs(t, h, s, name, nil); err == nil {
			t.Error("it ran")
		}
		if b, _ := os.ReadFile(log); len(b) > 0 {
			t.Errorf("%s: a program was started past the runner:\n%s", name, b)
		}
	}
}

// A call whose context ends while an interpreter is looked for ends with that, and does not say that the interpreter is
// missing. Nothing that was learnt by it is kept.
func TestEndedContextIsNoMissingInterpreter(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": requiresPython, "scripts/t.ts": "1\n", "scripts/d.py": needs(printsDep, "dep")})
	python := realPython(t)
	for _, name := range []string{"a", "t", "d"} {
		sc, err := Find(t.Context(), s, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := host(t)
		asked(t, h, map[string]string{"python3": "exec " + python + " \"$@\"", "node": "echo v24.1.0"})
		own := h.Runner
		calls := map[string]func(context.Context) error{
			"run":     func(ctx context.Context) error { _, err := h.Run(ctx, s, sc, nil); return err },
			"help":    func(ctx context.Context) error { _, err := h.Help(ctx, s, sc); return err },
			"prepare": func(ctx context.Context) error { _, err := h.Prepare(ctx, s, sc, nil); return err },
		}
		for way, call := range calls {
			if name == "t" && way == "prepare" {
				continue // nothing to prepare
			}
			dead, cancel := context.WithCancel(t.Context())
			cancel()
			if err := call(dead); err != context.Canceled {
				t.Errorf("%s %s with a ctx that is done: got %v, want %v", way, name, err, context.Canceled)
			}
			late, cancel := context.WithCancel(t.Context())
			h.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
				cancel()
				return own.Run(ctx, c)
			})
			if err := call(late); err != context.Canceled {
				t.Errorf("%s %s with a context that ends meanwhile: got %v, want %v", way, name, err, context.Canceled)
			}
			h.Runner = own
			cancel()
		}
		if notes, _ := filepath.Glob(filepath.Join(h.programs(), "????*")); len(notes) > 0 {
			t.Errorf("%s: %q were kept", name, notes)
		}
	}
}
