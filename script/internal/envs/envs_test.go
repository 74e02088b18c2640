package envs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/pythontest"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

type tree = probe.Tree

// load opens a skill of files.
func load(t testing.TB, files tree) *skill.Skill {
	t.Helper()
	return probe.In(t, t.TempDir(), files)
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
