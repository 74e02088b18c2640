package script

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// withoutUV is the host on a machine that has lost its uv, with the same cache and settings.
func withoutUV(h *rig, settings ...string) *rig {
	other := *h
	other.Env = append(h.Env[:len(h.Env):len(h.Env)], settings...)
	other.Runner = noModule(h.Runner)
	other.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return "", exec.ErrNotFound
		}
		return h.LookPath(name)
	}
	return &other
}

// noModule is a runner on a machine whose python3 has no module uv.
func noModule(next runner.Runner) runner.Runner {
	if next == nil {
		next = runner.Exec{}
	}
	return runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		if strings.Contains(strings.Join(c.Args, " "), "find_uv_bin") {
			return &runner.Output{ExitCode: 1}, nil
		}
		return next.Run(ctx, c)
	})
}

// withoutPython is a host that has lost its python3 too.
func withoutPython(h *rig) *rig {
	h = withoutUV(h)
	h.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	return h
}

// C29, security 1.3: what was prepared once runs without uv, whichever uv it was, as long as it is whole, of the same
// block and packages' source, and of the Python that is there.
func TestPreparedRunsWithoutUV(t *testing.T) {
	h := uvHost(t, index(t))
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep"), "scripts/b.py": needs(printsDep, "dep>=1")})
	mustPrepare(t, h, s, "a", nil)
	if got := mustText(t, withoutUV(h), s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	if p := mustPrepare(t, withoutUV(h), s, "a", nil); !p.Needed || p.Made {
		t.Errorf("got %+v", p)
	}
	gone := withoutUV(h) // a setting that names a uv which is not there
	look := gone.LookPath
	gone.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(h.Cache, "no-uv"), nil
		}
		return look(name)
	}
	if got := mustText(t, gone, s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	_, err := runAs(t, gone, s, "b", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies, "uv is to be ", "no-uv, which is not there: correct that path")

	const missing = "uv is not installed"
	_, err = runAs(t, withoutUV(h), s, "b", nil) // another block
	failure(t, err, ExecutionFailed, ReasonDependencies, missing)
	_, err = runAs(t, withoutUV(h, "UV_INDEX_PRIV_PASSWORD=x"), s, "a", nil) // UV13: another source of packages
	failure(t, err, ExecutionFailed, ReasonDependencies, missing)
	another := withoutUV(h)
	another.LookPath = func(name string) (string, error) {
		if name == "python3" {
			return "/bin/cat", nil
		}
		return "", exec.ErrNotFound
	}
	_, err = runAs(t, another, s, "a", nil) // another Python
	failure(t, err, ExecutionFailed, ReasonDependencies, missing)
	_, err = prepareScript(t, withoutUV(h), s, "a", &PrepareOptions{Upgrade: true})
	failure(t, err, ExecutionFailed, ReasonDependencies, missing)

	records, folders := environments(t, h)
	dir := filepath.Join(h.Cache, "python")
	record := filepath.Join(dir, records[0])
	whole, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "{", strings.Replace(string(whole), `"files":"`, `"files":"0`, 1), strings.Replace(string(whole), `"base":"`, `"base":"/nowhere`, 1)} {
		if err := os.WriteFile(record, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = runAs(t, withoutUV(h), s, "a", nil) // unfinished
		failure(t, err, ExecutionFailed, ReasonDependencies, missing)
	}
	if err := os.WriteFile(record, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	mustText(t, withoutUV(h), s, "a")
	tree{"planted.pth": "import os\n"}.Write(t, filepath.Join(dir, folders[0]))
	_, err = runAs(t, withoutUV(h), s, "a", nil) // changed
	failure(t, err, ExecutionFailed, ReasonDependencies, missing)
}

// C29: of several environments for the same block the one counts that was resolved last; one that was changed does not.
func TestNewestWithoutUV(t *testing.T) {
	wheels := index(t)
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	first, _ := environments(t, h)
	wheel(t, wheels, "dep", "1.1", tree{"dep/__init__.py": "VALUE = 'newer'\n"})
	other := withoutUV(h)
	other.LookPath = h.LookPath
	logged(t, other, false) // another uv
	mustPrepare(t, other, s, "a", nil)
	records, folders := environments(t, h)
	if len(records) != 2 {
		t.Fatalf("got %q", records)
	}
	if got := mustText(t, withoutUV(h), s, "a"); got != "newer\n" {
		t.Errorf("got %q", got)
	}
	if got := mustText(t, h, s, "a"); got != "one\n" { // with a uv it is that one's
		t.Errorf("got %q", got)
	}
	for _, dir := range folders {
		if !strings.HasPrefix(dir, strings.TrimSuffix(first[0], ".json")) {
			tree{"planted.pth": "import os\n"}.Write(t, filepath.Join(h.Cache, "python", dir))
		}
	}
	if got := mustText(t, withoutUV(h), s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
}

// C29: a Python that only uv found serves without uv too, as long as it is what it was.
func TestPreparedWithAPythonOfUV(t *testing.T) {
	h := uvHost(t, index(t))
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	if got := mustText(t, withoutPython(h), s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	records, _ := environments(t, h)
	record := filepath.Join(h.Cache, "python", records[0])
	b, err := os.ReadFile(record)
	if err := cmp.Or(err, os.WriteFile(record, []byte(strings.Replace(string(b), `"base_facts":"`, `"base_facts":"0`, 1)), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = runAs(t, withoutPython(h), s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonInterpreter, "needs Python 3, which is not installed")
}

// security 1.3: being offline changes nothing about where packages come from: what was prepared before serves then
// too, with uv and without.
func TestOfflineIsNoOtherSource(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	steps := calls(t, log, "")
	for _, setting := range []string{"", "UV_OFFLINE=0", "UV_OFFLINE=true"} {
		now := host(t)
		now.Cache, now.LookPath, now.Env = h.Cache, h.LookPath, nil
		for _, kv := range h.Env {
			if !strings.HasPrefix(kv, "UV_OFFLINE=") {
				now.Env = append(now.Env, kv)
			}
		}
		if setting != "" {
			now.Env = append(now.Env, setting)
		}
		if p := mustPrepare(t, now, s, "a", nil); p.Made {
			t.Errorf("%q: it was made again", setting)
		}
		if got := mustText(t, withoutUV(now), s, "a"); got != "one\n" {
			t.Errorf("%q: got %q", setting, got)
		}
	}
	if got := calls(t, log, ""); got != steps {
		t.Errorf("uv was called %d times more", got-steps)
	}
}
