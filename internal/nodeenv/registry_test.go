package nodeenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-base/agent-base/internal/test/npmtest"
	"github.com/agent-base/agent-base/internal/test/scratch"
)

// Each function waits for the goroutines that it starts.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files is a tree by slash path.
type files map[string]string

func (f files) fs() fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range f {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// registry serves packages to the stores of a test.
type registry struct {
	*npmtest.Registry
	t testing.TB
}

func newRegistry(t testing.TB) *registry {
	r := &registry{npmtest.New(), t}
	t.Cleanup(r.Close)
	return r
}

// store has an empty cache and takes packages from the registry.
func (r *registry) store(change func(*Options)) *Store {
	r.t.Helper()
	o := &Options{Run: execute, LookPath: exec.LookPath, Cache: scratch.Dir(r.t),
		Env: []string{"PATH=" + os.Getenv("PATH"), "npm_config_registry=" + r.URL}}
	if change != nil {
		change(o)
	}
	s, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	s.pause = time.Millisecond
	return s
}

// execute runs a command as a plain process.
func execute(ctx context.Context, c *Command) (*Output, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, &stdout, &stderr, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return &Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: cmd.ProcessState.ExitCode()}, nil
}

// needManager skips a test where a manager is missing.
func needManager(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: %v", name, err)
	}
}

// fake has an empty cache and a stand-in for npm, which installs version 1.0.0 of what package.json has.
func (r *registry) fake() *Store {
	return r.store(func(o *Options) { o.LookPath, o.Run = only("npm"), standIn("1.0.0", nil) })
}

// standIn is a manager that installs a version of what package.json has.
func standIn(version string, then func(c *Command) (*Output, error)) func(context.Context, *Command) (*Output, error) {
	return func(_ context.Context, c *Command) (*Output, error) {
		pkg, err := readPackage(os.DirFS(c.Dir), "package.json")
		if err != nil {
			return nil, err
		}
		for name := range pkg.Dependencies {
			dir := filepath.Join(c.Dir, modules, filepath.FromSlash(name))
			err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "lib"), 0o755), os.WriteFile(filepath.Join(dir, "lib", "x.js"), []byte("x"), 0o644),
				os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"`+name+`","version":"`+version+`"}`), 0o644))
		}
		if err != nil || then == nil {
			return &Output{}, err
		}
		return then(c)
	}
}

// skill has a script that imports a package, and a package.json with these dependencies.
func skill(dependencies map[string]string, more files) files {
	b, _ := json.Marshal(map[string]any{"name": "x", "dependencies": dependencies, "devDependencies": map[string]string{"tool": "1"}, "scripts": map[string]string{"postinstall": "exit 1"}})
	out := files{"scripts/a.js": `require("a")`, "package.json": string(b)}
	maps.Copy(out, more)
	return out
}

func project(f files) *Project { return &Project{FS: f.fs(), File: "scripts/a.js", Script: "a"} }

// m is short for a JSON object.
type m = map[string]any

// installed lists the files of an environment by their slash paths.
func installed(t *testing.T, p *Prepared) files {
	t.Helper()
	out := files{}
	err := filepath.WalkDir(filepath.Join(p.Folder, modules), func(file string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return err // managers keep notes of their own
		}
		b, err := os.ReadFile(file)
		rel, _ := filepath.Rel(p.Folder, file)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// prepare prepares a project that must succeed.
func prepare(t *testing.T, s *Store, p *Project, o *PrepareOptions) *Prepared {
	t.Helper()
	got, err := s.Prepare(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// failure checks an error's reason and that its message has all parts.
func failure(t *testing.T, err error, reason string, parts ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("got %v, want an Error with reason %s", err, reason)
	}
	for _, part := range parts {
		if !strings.Contains(e.Message, part) {
			t.Errorf("%q does not contain %q", e.Message, part)
		}
	}
}

// nothingLeft checks that no environment and no work folder is in the cache.
func nothingLeft(t *testing.T, s *Store) {
	t.Helper()
	entries, _ := os.ReadDir(s.folder())
	for _, d := range entries {
		if d.IsDir() || strings.HasSuffix(d.Name(), ".json") {
			t.Errorf("%s is left", d.Name())
		}
	}
}

func npmJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
