//go:build unix

package script

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
)

// The cases of docs/attacks.md about packages of Python, each against a real uv.

// UV1: nothing of a package runs while it is prepared; all of it may when the script runs.
func TestUV1NothingForeignRuns(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	mark := fmt.Sprintf("import os; open(%q, 'a').write(%%q)\n", ran)
	wheels := t.TempDir()
	wheel(t, wheels, "dep", "1.0", tree{
		"dep/__init__.py":   "VALUE = 'one'\n" + fmt.Sprintf(mark, "import "),
		"evil.pth":          fmt.Sprintf(mark, "pth "),
		"sitecustomize.py":  fmt.Sprintf(mark, "sitecustomize "),
		"usercustomize.py":  fmt.Sprintf(mark, "usercustomize "),
		"encodings/utf8.py": fmt.Sprintf(mark, "encodings "),
		"setup.py":          fmt.Sprintf(mark, "setup "),
	})
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	mustPrepare(t, h, s, "a", &PrepareOptions{Upgrade: true})
	if b, err := os.ReadFile(ran); err == nil {
		t.Fatalf("while it was prepared, these ran: %s", b)
	}
	if got := mustText(t, h, s, "a"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	if b, _ := os.ReadFile(ran); !strings.Contains(string(b), "pth ") || !strings.Contains(string(b), "import ") {
		t.Errorf("the control failed: only %q ran with the script", b)
	}
}

// UV2, UV3, UV5, UV6, UV17, security 2.5 #89: uv is not even started for a block that wants to configure
// it, names an address, or comes twice.
func TestUV2RefusedBeforeUVStarts(t *testing.T) {
	h := uvHost(t, index(t))
	h.Env = append(h.Env, "UV_INDEX_PRIV_USERNAME=user", "UV_INDEX_PRIV_PASSWORD=secret")
	log := logged(t, h, false)
	table := func(lines ...string) string {
		return "# /// script\n# dependencies = [\"dep\"]\n# " + strings.Join(lines, "\n# ") + "\n# ///\nimport dep\n"
	}
	for name, src := range map[string]string{
		"compile":    table("[tool.uv]", "compile-bytecode = true"),
		"own-index":  table("[[tool.uv.index]]", "name = \"priv\"", "url = \"https://127.0.0.1:1/simple\""),
		"index-url":  table("[tool.uv]", "index-url = \"https://127.0.0.1:1/simple\""),
		"extra":      table("[tool.uv]", "extra-index-url = [\"https://127.0.0.1:1/simple\"]"),
		"find-links": table("[tool.uv]", "find-links = [\"/tmp\"]"),
		"proxy":      table("[tool.uv]", "http-proxy = \"http://127.0.0.1:1\""),
		"override":   table("[tool.uv]", "override-dependencies = [\"dep==9\"]"),
		"exclude":    table("[tool.uv]", "exclude-dependencies = [\"dep\"]"),
		"link-mode":  table("[tool.uv]", "link-mode = \"hardlink\""),
		"sources":    table("[tool.uv.sources]", "dep = { path = \"/tmp\" }"),
		"url":        needs("", "dep @ https://127.0.0.1:1/dep-1.0-py3-none-any.whl"),
		"git":        needs("", "dep @ git+ssh://127.0.0.1/dep"),
		"file":       needs("", "dep @ file:///tmp/dep"),
		"twice":      needs("", "dep") + needs("", "dep"),
	} {
		s := open(t, "", tree{"scripts/a.py": src})
		_, err := runAs(t, h, s, "a", nil)
		failure(t, err, ExecutionFailed, fail.ReasonMetadata)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	if n := calls(t, log, ""); n != 0 {
		t.Errorf("uv was called %d times", n)
	}
}

// UV7, security 2.5 #92: two environments share no file: one script cannot change what another imports.
func TestUV7NoSharedFiles(t *testing.T) {
	wheels := index(t)
	wheel(t, wheels, "other", "1.0", tree{"other.py": ""})
	h := uvHost(t, wheels)
	h.Env = append(h.Env, "UV_LINK_MODE=hardlink") // of the operator's; not passed on
	s := open(t, "", tree{
		"scripts/a.py": needs("import dep\nopen(dep.__file__, 'a').write('VALUE = \"poisoned\"\\n')\nprint(dep.__file__)\n", "dep"),
		"scripts/b.py": needs(printsDep, "dep", "other"),
		"scripts/c.py": needs(printsDep, "dep", "other>=1"),
		"scripts/d.py": needs(printsDep, "dep"),
	})
	mustPrepare(t, h, s, "b", nil)
	file := strings.TrimSpace(mustText(t, h, s, "a"))
	var st syscall.Stat_t
	if err := syscall.Stat(file, &st); err != nil || st.Nlink != 1 {
		t.Errorf("got %d links, %v", st.Nlink, err)
	}
	for _, name := range []string{"b", "c", "d"} { // d has a's environment: the change is noticed
		if got := mustText(t, h, s, name); got != "one\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// UV10: a pyvenv.cfg of a package does not choose another Python or its packages, and neither does a
// python of its own.
func TestUV10PlantedConfiguration(t *testing.T) {
	wheels := t.TempDir()
	wheel(t, wheels, "dep", "1.0", tree{"dep/__init__.py": "", "dep-1.0.data/data/pyvenv.cfg": "home = /nowhere\ninclude-system-site-packages = true\n"})
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs("import sys, os\nprint(open(os.path.join(sys.prefix, 'pyvenv.cfg')).read())\n", "dep")})
	if got := mustText(t, h, s, "a"); strings.Contains(got, "/nowhere") || !strings.Contains(got, "include-system-site-packages = false") {
		t.Errorf("got %q", got)
	}
	for _, where := range []string{"dep-1.0.data/data/bin/python", "dep-1.0.data/scripts/python", "dep-1.0.data/data/bin/python3"} {
		wheels := t.TempDir()
		wheel(t, wheels, "dep", "1.0", tree{"dep/__init__.py": "", where: "#!/bin/sh\necho planted\n"})
		got, err := runAs(t, uvHost(t, wheels), s, "a", &RunOptions{JSON: JSONNo})
		if err == nil && strings.Contains(got.Text, "planted") {
			t.Errorf("%s: the package's python ran", where)
		}
		if err != nil {
			failure(t, err, ExecutionFailed, ReasonDependencies)
		}
	}
}

// UV11: bytecode that a package brings does not count, its source does.
func TestUV11PlantedBytecode(t *testing.T) {
	python := realPython(t)
	dir := t.TempDir()
	tree{"__init__.py": "VALUE = 'planted'\n"}.Write(t, dir)
	out, err := exec.Command(python, "-c", `
import py_compile, importlib.util, os, sys
os.chdir(sys.argv[1])
print(os.path.basename(py_compile.compile("__init__.py", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)))
`, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSpace(string(out))
	code, err := os.ReadFile(filepath.Join(dir, "__pycache__", name))
	if err != nil {
		t.Fatal(err)
	}
	wheels := t.TempDir()
	wheel(t, wheels, "dep", "1.0", tree{
		"dep/__init__.py": "VALUE = 'source'\n", "dep/__pycache__/" + name: string(code),
		"dep/broken.py": "this is no python (\n", "dep/__pycache__/" + strings.Replace(name, "__init__", "broken", 1): string(code),
	})
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep"), "scripts/b.py": needs("import dep.broken\n", "dep")})
	h := uvHost(t, wheels)
	if got := mustText(t, h, s, "a"); got != "source\n" {
		t.Errorf("got %q", got)
	}
	_, err = runAs(t, h, s, "b", nil)
	failure(t, err, ExecutionFailed, "", "SyntaxError")
}

// UV13: packages fetched with credentials are not found without them.
func TestUV13CacheOfCredentials(t *testing.T) {
	h := uvHost(t, index(t))
	h.Env = append(h.Env, "UV_INDEX_PRIV_PASSWORD=secret")
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	mustPrepare(t, h, s, "a", nil)
	poor := uvHost(t, t.TempDir())
	poor.Cache = h.Cache
	_, err := runAs(t, poor, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies)
	if caches, _ := filepath.Glob(filepath.Join(h.Cache, "uv", "*")); len(caches) != 2 {
		t.Errorf("got %q", caches)
	}
}

// UV14, security 2.5 #90: uv's whole environment; its home is empty, its TMPDIR private, and it
// works in a folder without anybody's configuration.
func TestUVEnvironment(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, true)
	planted := t.TempDir()
	tree{"uv.toml": "index-url = \"https://127.0.0.1:1\"\n", ".env": "UV_INDEX_URL=https://127.0.0.1:1\n", "pyproject.toml": "[tool.uv]\nno-index = true\n", ".python-version": "2.7\n", ".netrc": "machine x\n"}.Write(t, planted)
	h.Env = append(h.Env, "UV_CONFIG_FILE="+planted+"/uv.toml", "UV_EXTRA_INDEX_URL=https://127.0.0.1:1", "UV_LINK_MODE=symlink", "UV_COMPILE_BYTECODE=1", "UV_CACHE_DIR="+planted,
		"UV_HTTP_TIMEOUT=1", "PYTHONPATH="+planted, "PIP_INDEX_URL=https://127.0.0.1:1", "AWS_SECRET_ACCESS_KEY=x", "NETRC="+planted+"/.netrc", "TMPDIR="+planted, "XDG_CONFIG_HOME="+planted,
		"UV_INDEX_PRIV_USERNAME=user", "HTTPS_PROXY=", "no_proxy=x")
	s := open(t, "", tree{"scripts/a.py": needs("import os; print([k for k in os.environ if k.startswith('UV_')])\n", "dep"), "scripts/uv.toml": "no-index = true\n", "uv.toml": "no-index = true\n"})
	if got := mustText(t, h, s, "a"); got != "[]\n" {
		t.Errorf("the script sees %s", got)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.ContainsAny(name, " /") {
			got[name] = true
			if strings.Contains(value, planted) || strings.Contains(value, "127.0.0.1") {
				t.Errorf("passed on: %s", line)
			}
		}
		if strings.HasPrefix(line, "d") && !strings.HasPrefix(line, "drwx------") {
			t.Errorf("TMPDIR is not private: %s", line)
		}
	}
	delete(got, "_")
	delete(got, "OLDPWD")
	delete(got, "PWD")
	delete(got, "SHLVL")
	want := []string{
		"HOME", "HTTPS_PROXY", "LANG", "NETRC", "NO_COLOR", "PATH", "TMPDIR", "UV_CACHE_DIR", "UV_FIND_LINKS", "UV_INDEX_PRIV_USERNAME", "UV_KEYRING_PROVIDER", "UV_NO_BUILD",
		"UV_NO_CONFIG", "UV_NO_ENV_FILE", "UV_NO_PROGRESS", "UV_OFFLINE", "UV_PYTHON_DOWNLOADS", "UV_SYSTEM_CERTS", "no_proxy",
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	if strings.Contains(string(b), dirOf(t, s)) {
		t.Error("uv saw the skill's folder")
	}
}

// UV15: a script that holds every lock it can find delays no run, and no other preparation.
func TestUV15HeldLocks(t *testing.T) {
	wheels := index(t)
	wheel(t, wheels, "other", "1.0", tree{"other.py": ""})
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep"), "scripts/b.py": needs(printsDep, "dep", "other")})
	mustPrepare(t, h, s, "a", nil)
	locks, _ := filepath.Glob(filepath.Join(h.Cache, "python", "*.lock"))
	if len(locks) != 1 {
		t.Fatalf("got %q", locks)
	}
	f, err := os.Open(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if got := mustText(t, h, s, name); got != "one\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// UV18: python finds its environment by the absolute path that it is told as its name.
func TestUV18NameOfPython(t *testing.T) {
	h := uvHost(t, index(t))
	s := open(t, "", tree{"scripts/a.py": needs("import sys, dep\nprint(sys.prefix)\n", "dep")})
	prefix := strings.TrimSpace(mustText(t, h, s, "a"))
	if !strings.HasPrefix(prefix, filepath.Join(h.Cache, "python")) {
		t.Errorf("got %s", prefix)
	}
	var got *runner.Command
	h.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		got = c
		return &runner.Output{}, nil
	})
	_, _ = runAs(t, h, s, "a", &RunOptions{JSON: JSONNo})
	if got.Args[0] != got.Path || got.Path != filepath.Join(prefix, "bin", "python") || !slices.Equal(got.Args[1:6], []string{"-E", "-s", "-B", "-X", "utf8"}) {
		t.Errorf("got %q %q", got.Path, got.Args)
	}
	got.Args[0], got.Layer = "python", nil // the control: so it is lost
	got.Timeout = time.Minute
	out, err := runner.Exec{}.Run(t.Context(), got)
	if err != nil {
		t.Fatal(err)
	}
	if out.ExitCode == 0 && strings.TrimSpace(string(out.Stdout)) == prefix {
		t.Log("this Python finds its environment by another way too")
	}
}

// Programs of packages name the environment's python: it is made at its final place.
func TestEntryPointsWork(t *testing.T) {
	wheels := t.TempDir()
	wheel(t, wheels, "dep", "1.0", tree{"dep/__init__.py": "def main(): print('from the entry point')\n", "INFO/entry_points.txt": "[console_scripts]\ndeptool = dep:main\n"})
	h := uvHost(t, wheels)
	s := open(t, "", tree{"scripts/a.py": needs("import subprocess, sys, os\nsubprocess.run([os.path.join(os.path.dirname(sys.executable), 'deptool')], check=True)\n", "dep")})
	if got := mustText(t, h, s, "a"); got != "from the entry point\n" {
		t.Errorf("got %q", got)
	}
}

// security 2.15 SB17: where a sandbox cannot refuse to change modes, times and attributes of a script's packages (tier B), the next run
// has what it needs, and another skill with other packages notices nothing.
func TestSpoiledPackages(t *testing.T) {
	wheels := index(t)
	wheel(t, wheels, "other", "1.0", tree{"other.py": "import dep\nVALUE = dep.VALUE\n"})
	h := uvHost(t, wheels)
	s := open(t, "", tree{
		"scripts/a.py": needs("import dep, os, sys\nprint(dep.__file__)\n", "dep"),
		"scripts/b.py": needs("import other\nprint(other.VALUE)\n", "dep", "other"),
		"scripts/c.py": needs(printsDep, "dep"),
	})
	mustPrepare(t, h, s, "b", nil)
	for name, spoil := range map[string]func(file string) error{
		"mode of a file":   func(f string) error { return os.Chmod(f, 0) },
		"mode of a folder": func(f string) error { return os.Chmod(filepath.Dir(f), 0) },
		"time":             func(f string) error { return os.Chtimes(f, time.Unix(1, 0), time.Unix(1, 0)) },
		"bytecode's time":  func(f string) error { return os.Chtimes(filepath.Dir(f), time.Unix(1, 0), time.Unix(1, 0)) },
	} {
		file := strings.TrimSpace(mustText(t, h, s, "a"))
		if err := spoil(file); err != nil {
			t.Fatal(err)
		}
		for _, script := range []string{"b", "c"} {
			if got := mustText(t, h, s, script); got != "one\n" {
				t.Errorf("%s: %s: got %q", name, script, got)
			}
		}
		info, err := os.Stat(strings.TrimSpace(mustText(t, h, s, "a")))
		if err != nil || info.Mode().Perm()&0o400 == 0 {
			t.Errorf("%s: it stays spoiled: %v, %v", name, info.Mode(), err)
		}
	}
}
