package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

const printsDep = "import dep\nprint(dep.VALUE)\n"

// environments lists what lies in the folder of environments, without keys and random parts.
func environments(t *testing.T, h *rig) (records, folders []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.Cache, "python"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, d := range entries {
		switch {
		case strings.HasSuffix(d.Name(), ".json"):
			records = append(records, d.Name())
		case !strings.HasSuffix(d.Name(), ".lock"):
			folders = append(folders, d.Name())
		}
	}
	return records, folders
}

func mustPrepare(t *testing.T, h *rig, s *skill.Skill, name string, o *PrepareOptions) *Prepared {
	t.Helper()
	p, err := prepareScript(t, h, s, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func prepareScript(t *testing.T, h *rig, s *skill.Skill, name string, o *PrepareOptions) (*Prepared, error) {
	t.Helper()
	sc, err := Find(t.Context(), s, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Prepare(t.Context(), s, sc, o)
}

// logged puts a recorder before the host's uv and returns the file with a line for each call.
func logged(t *testing.T, h *rig, environment bool) string {
	t.Helper()
	uv, err := h.LookPath("uv")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	program := "#!/bin/sh\necho \"$@\" >> " + log + "\n"
	if environment {
		program += "env >> " + log + "\nls -ld \"$TMPDIR\" >> " + log + "\nls -A \"$HOME\" >> " + log + "\npwd >> " + log + "\n"
	}
	tree{"uv": program + "exec " + uv + " \"$@\"\n"}.Write(t, bin)
	look := h.LookPath
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return look(name)
	}
	return log
}

func calls(t *testing.T, log, prefix string) (n int) {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// C29, security 1.3: prepared once, then run with the environment's python and without uv.
func TestPrepareOnce(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	var events []trace.Event
	h.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) { events = append(events, e) })
	s := open(t, "", tree{
		"scripts/a.py":   needs(printsDep, "dep"),
		"scripts/b.py":   needs("print('another body')\n"+printsDep, "dep"),
		"scripts/no.py":  "print(1)\n",
		"scripts/sh.sh":  "echo\n",
		"scripts/any*":   "#!/usr/bin/env python3\n" + needs(printsDep, "dep"),
		"scripts/other*": "#!/bin/sh\n",
	})
	for _, name := range []string{"no", "sh", "other"} {
		if p := mustPrepare(t, h, s, name, nil); p.Needed || p.Made {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	p := mustPrepare(t, h, s, "a", nil)
	if !p.Needed || !p.Made || !slices.Equal(p.Packages, []string{"dep==1.0"}) || p.Duration <= 0 {
		t.Errorf("got %+v", p)
	}
	if len(events) != 2 || events[0].Kind != trace.ScriptPreparing || events[1].Kind != trace.ScriptPrepared || events[1].Skill != "probe" || events[1].Err != nil {
		t.Errorf("got %+v", events)
	}
	steps := calls(t, log, "")
	if steps != 4 {
		t.Errorf("uv was called %d times, want lock, export, venv, pip sync", steps)
	}
	for _, name := range []string{"a", "b", "any"} { // a change of the body alone is a hit
		if got := mustText(t, h, s, name); !strings.HasSuffix(got, "one\n") {
			t.Errorf("%s: got %q", name, got)
		}
		if p := mustPrepare(t, h, s, name, nil); p.Made {
			t.Errorf("%s was made again", name)
		}
	}
	if got := calls(t, log, ""); got != steps {
		t.Errorf("uv was called %d times more", got-steps)
	}
	if records, folders := environments(t, h); len(records) != 1 || len(folders) != 1 {
		t.Errorf("got records %q, folders %q", records, folders)
	}
}

// Two preparations of one key at once give one environment.
func TestPrepareAtOnce(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	other := &rig{Options{LookPath: h.LookPath, Cache: h.Cache, Env: h.Env}, t} // as another process would
	var wait sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for i := range 6 {
		wait.Go(func() {
			x := []*rig{h, other}[i%2]
			p, err := prepareScript(t, x, s, "a", nil)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if p.Made {
				made++
			}
		})
	}
	wait.Wait()
	if made != 1 || calls(t, log, "venv") != 1 {
		t.Errorf("made %d times, %d environments", made, calls(t, log, "venv"))
	}
	if _, folders := environments(t, h); len(folders) != 1 {
		t.Errorf("got %q", folders)
	}
}

// Nothing half made is left by a preparation that fails, is cancelled, or was killed.
func TestPrepareLeavesNothing(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	t.Run("package missing", func(t *testing.T) { // R113: uv's own words, and the cure
		h := uvHost(t, t.TempDir())
		_, err := runAs(t, h, s, "a", nil)
		e := failure(t, err, ExecutionFailed, ReasonDependencies, "Dependencies of script a are not available: uv lock failed with exit code 1: ", "dep")
		if strings.Contains(e.Message, h.Cache) {
			t.Errorf("the message shows the cache: %s", e.Message)
		}
		if records, folders := environments(t, h); records != nil || folders != nil {
			t.Errorf("got %q, %q", records, folders)
		}
	})
	t.Run("bad entry point", func(t *testing.T) { // UV9
		wheels := t.TempDir()
		wheel(t, wheels, "dep", "1.0", tree{"dep/__init__.py": "", "INFO/entry_points.txt": "[console_scripts]\n= = broken ::\n"})
		h := uvHost(t, wheels)
		for range 2 {
			_, err := runAs(t, h, s, "a", nil)
			failure(t, err, ExecutionFailed, ReasonDependencies, "uv pip sync failed")
			if records, folders := environments(t, h); records != nil || folders != nil {
				t.Errorf("got %q, %q", records, folders)
			}
		}
	})
	for _, step := range []string{"lock", "venv", "pip"} {
		t.Run("cancelled in "+step, func(t *testing.T) {
			h := uvHost(t, index(t))
			ctx, cancel := context.WithCancel(t.Context())
			h.Runner = runner.RunnerFunc(func(c context.Context, cmd *runner.Command) (*runner.Output, error) {
				out, err := runner.Exec{}.Run(c, cmd)
				if cmd.Args[1] == step {
					cancel()
				}
				return out, err
			})
			sc, _ := Find(t.Context(), s, "a", nil)
			if _, err := h.Prepare(ctx, s, sc, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if records, folders := environments(t, h); records != nil || folders != nil {
				t.Errorf("got %q, %q", records, folders)
			}
		})
	}
	t.Run("killed", func(t *testing.T) {
		h := uvHost(t, index(t))
		mustPrepare(t, h, s, "a", nil)
		records, folders := environments(t, h)
		key := strings.TrimSuffix(records[0], ".json")
		dir := filepath.Join(h.Cache, "python")
		// As if the engine had died before its last write, with other leftovers of the same key.
		if err := os.Remove(filepath.Join(dir, records[0])); err != nil {
			t.Fatal(err)
		}
		tree{key + "-work-9/stub.py": "", key + "-7/bin/python": "half"}.Write(t, dir)
		if p := mustPrepare(t, h, s, "a", nil); !p.Made {
			t.Error("half an environment was used")
		}
		if _, now := environments(t, h); len(now) != 1 || now[0] == folders[0] {
			t.Errorf("got %q, was %q", now, folders)
		}
	})
	t.Run("broken record", func(t *testing.T) {
		h := uvHost(t, index(t))
		mustPrepare(t, h, s, "a", nil)
		records, _ := environments(t, h)
		for _, content := range []string{"", "{", `{"folder":"../../etc"}`, `{"folder":"` + strings.TrimSuffix(records[0], ".json") + `-/../x"}`, "{}"} {
			if err := os.WriteFile(filepath.Join(h.Cache, "python", records[0]), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := mustText(t, h, s, "a"); got != "one\n" {
				t.Errorf("%q: got %q", content, got)
			}
		}
	})
}

// An environment that was changed since is not run: it is made again, from what was resolved.
func TestChangedEnvironmentIsRemade(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	s := open(t, "", tree{"scripts/a.py": needs("import dep\nprint(dep.__file__)\n", "dep")})
	file := strings.TrimSpace(mustText(t, h, s, "a"))
	changes := map[string]func() error{
		"appended": func() error { return os.WriteFile(file, []byte("VALUE = 'planted'\n"), 0o644) },
		"same length and time": func() error {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(file, []byte("VALUE = 'two'\n"), 0o644), os.Chtimes(file, info.ModTime(), info.ModTime()))
		},
		"file added": func() error {
			return os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(file)), "x.pth"), nil, 0o644)
		},
		"mode":        func() error { return os.Chmod(file, 0o600) },
		"file gone":   func() error { return os.Remove(file) },
		"folder gone": func() error { return os.RemoveAll(filepath.Dir(filepath.Dir(file))) },
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for k := range changes {
			if !yield(k) {
				return
			}
		}
	}) {
		if err := changes[name](); err != nil {
			t.Fatal(name, err)
		}
		next := strings.TrimSpace(mustText(t, h, s, "a"))
		if next == file {
			t.Errorf("%s: not noticed", name)
		}
		file = next
	}
	if got := calls(t, log, "lock"); got != 1 {
		t.Errorf("resolved %d times", got)
	}
}

// Unpinned dependencies stay as they were resolved until they are upgraded.
func TestUpgrade(t *testing.T) {
	wheels := index(t)
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	wheel(t, wheels, "dep", "1.1", tree{"dep/__init__.py": "VALUE = 'newer'\n"})
	if got := mustText(t, h, s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	if p := mustPrepare(t, h, s, "a", &PrepareOptions{Upgrade: true}); !p.Made || !slices.Equal(p.Packages, []string{"dep==1.1"}) {
		t.Errorf("got %+v", p)
	}
	if got := mustText(t, h, s, "a"); got != "newer\n" {
		t.Errorf("got %q", got)
	}
	if _, folders := environments(t, h); len(folders) != 2 { // the former one stays until the next: a script may run in it
		t.Errorf("got %q", folders)
	}
	mustPrepare(t, h, s, "a", &PrepareOptions{Upgrade: true})
	if _, folders := environments(t, h); len(folders) != 2 {
		t.Errorf("got %q", folders)
	}
}

// security 1.3: one command that upgrades several scripts resolves each environment once.
func TestUpgradeOnce(t *testing.T) {
	wheels := index(t)
	h := uvHost(t, wheels)
	log := logged(t, h, false)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep"), "scripts/b.py": needs("print()\n", "dep"), "scripts/c.py": needs(printsDep, "dep>=1")})
	for _, name := range []string{"a", "b", "c"} {
		mustPrepare(t, h, s, name, nil)
	}
	wheel(t, wheels, "dep", "1.1", tree{"dep/__init__.py": "VALUE = 'newer'\n"})
	before := calls(t, log, "lock")
	o := &PrepareOptions{Upgrade: true, Since: time.Now()}
	for _, tt := range []struct {
		name string
		made bool
	}{{"a", true}, {"b", false}, {"c", true}, {"a", false}} {
		if p := mustPrepare(t, h, s, tt.name, o); p.Made != tt.made {
			t.Errorf("%s: got %+v", tt.name, p)
		}
	}
	if got := calls(t, log, "lock") - before; got != 2 {
		t.Errorf("resolved %d times, want once for each of 2 environments", got)
	}
	if got := mustText(t, h, s, "a"); got != "newer\n" {
		t.Errorf("got %q", got)
	}
	// An environment that is made again from what was resolved before is not an upgraded one.
	o.Since = time.Now()
	_, folders := environments(t, h)
	for _, dir := range folders {
		tree{"planted.pth": ""}.Write(t, filepath.Join(h.Cache, "python", dir))
	}
	mustText(t, h, s, "a")
	if p := mustPrepare(t, h, s, "a", o); !p.Made {
		t.Errorf("got %+v", p)
	}
}

func TestWithoutUV(t *testing.T) {
	whole := host(t)
	h := withoutUV(whole)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	_, err := runAs(t, h, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies, "uv is not installed: get it with `pip install uv`")
	if !errors.Is(err, pyenv.ErrNoUV) {
		t.Errorf("got %v, want %v in it", err, pyenv.ErrNoUV)
	}
	h.Runner = nil

	// R106: python3 knows where its own uv is, in the user's own packages too.
	uv := realUV(t)
	python := realPython(t)
	where := exec.CommandContext(t.Context(), python, "-c", "import site; print(site.getusersitepackages(), end='')")
	where.Env = h.Env
	lib, err := where.Output()
	if err != nil {
		t.Fatal(err)
	}
	tree{"uv.py": fmt.Sprintf("def find_uv_bin(): return %q\n", uv)}.Write(t, string(lib))
	h.Env = append(h.Env, "UV_OFFLINE=1", "UV_FIND_LINKS="+index(t))
	if got := mustText(t, h, s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
}

// A script without dependencies is not ready where no Python is what it requires; uv then is not asked to make anything.
func TestPrepareChecksRequiredPython(t *testing.T) {
	block := "# /// script\n# requires-python = %q\n# dependencies = [%s]\n# ///\nprint(1)\n"
	s := open(t, "", tree{
		"scripts/never.py": fmt.Sprintf(block, ">=9.99", ""), "scripts/deps.py": fmt.Sprintf(block, ">=9.99", `"dep"`), "scripts/ok.py": fmt.Sprintf(block, ">=3.3", ""),
	})
	h := uvHost(t, index(t))
	for name, needed := range map[string]bool{"never": false, "deps": true} {
		p, err := prepareScript(t, h, s, name, nil)
		failure(t, err, ExecutionFailed, ReasonPython, "Script "+name+" requires Python >=9.99, but ")
		if p == nil || p.Needed != needed {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	if p := mustPrepare(t, h, s, "ok", nil); p.Needed || p.Made {
		t.Errorf("got %+v", p)
	}
	_, err := prepareScript(t, withoutPython(h), s, "ok", nil)
	failure(t, err, ExecutionFailed, ReasonInterpreter, "Script ok needs Python >=3.3, which is not installed")
	if records, folders := environments(t, h); records != nil || folders != nil {
		t.Errorf("got %q, %q", records, folders)
	}
}

// Prepared lists what is in the environment: not what other platforms would get, and not what a package's files claim in
// other words than a name and a version.
func TestPackagesAreWhatIsInstalled(t *testing.T) {
	wheels := t.TempDir()
	wheel(t, wheels, "other", "1.0", tree{"other.py": ""})
	wheel(t, wheels, "with_dots", "2.0", tree{"w.py": ""})
	wheel(t, wheels, "dep", "1.0", tree{
		"dep/__init__.py": "VALUE = 'one'\n", "INFO/METADATA": "Metadata-Version: 2.1\nName: dep\nVersion: 1.0\nRequires-Dist: other; sys_platform == 'nowhere'\nRequires-Dist: With.Dots\n",
		"dep-1.0.data/purelib/two words-1.dist-info/METADATA": "", "dep-1.0.data/purelib/no-version.dist-info/METADATA": "", "dep-1.0.data/purelib/none.dist-info/METADATA": "",
	})
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	want := []string{"dep==1.0", "with-dots==2.0"}
	for range 2 { // made, and found
		if p := mustPrepare(t, h, s, "a", nil); !slices.Equal(p.Packages, want) {
			t.Errorf("got %q, want %q", p.Packages, want)
		}
	}
	if folders, _ := filepath.Glob(filepath.Join(h.Cache, "python", "*", "lib", "*", "site-packages", "two words-1.dist-info")); len(folders) != 1 {
		t.Errorf("the control failed: got %q", folders)
	}
}
