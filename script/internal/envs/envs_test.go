package envs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/internal/test/pythontest"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// tree is the content of files by slash path.
type tree map[string]string

// load opens a skill of files.
func load(t testing.TB, files tree) *skill.Skill {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "probe")
	all := tree{"SKILL.md": "---\nname: probe\ndescription: A skill for tests.\n---\nBody.\n"}
	maps.Copy(all, files)
	for name, content := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cat, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := cat.Lookup("probe")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// store returns a Store that starts the programs of this machine. Its uv is a real one, and has one package "dep" of version 1.0.
func store(t testing.TB, o *Options) *Store {
	t.Helper()
	uv, err := pythontest.UV()
	if err != nil {
		t.Fatal(err)
	}
	wheels := t.TempDir()
	if err := pythontest.Wheel(wheels, "dep", "1.0", tree{"dep/__init__.py": "VALUE = 'one'\n"}); err != nil {
		t.Fatal(err)
	}
	o.Runner, o.Confine, o.Cache = runner.Exec{}, runner.ConfineAuto, scratch.Dir(t)
	o.Env = append(o.Env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "UV_OFFLINE=1", "UV_FIND_LINKS="+wheels)
	o.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return uv, nil
		}
		return exec.LookPath(name)
	}
	if o.Making == nil {
		o.Making = func(context.Context, *skill.Skill, survey.Script) func(error) { return func(error) {} }
	}
	st, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// needs is a script that depends on packages.
func needs(body string, dependencies ...string) string {
	list, _ := json.Marshal(dependencies)
	if len(dependencies) == 0 {
		list = []byte("[]")
	}
	return fmt.Sprintf("# /// script\n# dependencies = %s\n# ///\n%s", list, body)
}

const printsDep = "import dep\nprint(dep.VALUE)\n"
