package script

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/pythontest"
)

func realUV(t testing.TB) string {
	t.Helper()
	path, err := pythontest.UV()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func wheel(t testing.TB, dir, name, version string, files tree) {
	t.Helper()
	if err := pythontest.Wheel(dir, name, version, files); err != nil {
		t.Fatal(err)
	}
}

// index is a folder of wheels, with one package "dep" of version 1.0 in it.
func index(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	wheel(t, dir, "dep", "1.0", tree{"dep/__init__.py": "VALUE = 'one'\n"})
	return dir
}

// uvHost is a host with a real uv that takes packages from the folder alone.
func uvHost(t testing.TB, packages string) *rig {
	t.Helper()
	uv := realUV(t)
	h := host(t)
	h.Env = append(h.Env, "UV_OFFLINE=1", "UV_FIND_LINKS="+packages)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return uv, nil
		}
		return exec.LookPath(name)
	}
	return h
}

// needs is a script that depends on packages and prints what body makes it.
func needs(body string, dependencies ...string) string {
	return fmt.Sprintf("# /// script\n# dependencies = [%s]\n# ///\n%s", quoted(dependencies), body)
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}
