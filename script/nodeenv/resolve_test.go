package nodeenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// only finds the programs that are named and no others.
func only(programs ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		if slices.Contains(programs, name) {
			return "/programs/" + name, nil
		}
		return "", exec.ErrNotFound
	}
}

// C68: without a lock the operator's npm chooses versions. It sees the dependencies alone and the registries of the
// operator; the choice stays until it is asked for again.
func TestChosenByNPM(t *testing.T) {
	r := newRegistry(t)
	sums := map[string]string{}
	for _, v := range []string{"1.0.0", "1.1.0"} {
		sums[v] = r.Publish("a@"+v, nil)
	}
	version := "1.0.0"
	var asked []*Command
	var manifest, npmrc string
	s := r.store(func(o *Options) {
		o.NPMRC = []byte("@s:registry=https://scoped.example\nscript-shell=/bin/evil\n")
		o.Env = append(o.Env, "NODE_OPTIONS=--require=/evil.js", "HTTPS_PROXY=http://proxy.example", "SSL_CERT_FILE=/ca.pem", "SECRET=x")
		o.LookPath = only("npm", "node", "bun")
		o.Run = func(_ context.Context, c *Command) (*Output, error) {
			asked = append(asked, c)
			entries, _ := os.ReadDir(c.Dir)
			if len(entries) != 1 {
				t.Errorf("npm sees %v", entries)
			}
			b, _ := os.ReadFile(filepath.Join(c.Dir, "package.json"))
			manifest = string(b)
			b, _ = os.ReadFile(filepath.Join(filepath.Dir(c.Dir), "home", ".npmrc"))
			npmrc = string(b)
			lock := `{"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"^1.0.0"}},"node_modules/a":{"version":"` + version + `","integrity":"` + sums[version] + `"}}}`
			return &Output{}, os.WriteFile(filepath.Join(c.Dir, "package-lock.json"), []byte(lock), 0o600)
		}
	})
	f := skill(map[string]string{"a": "^1.0.0"}, nil)
	got := prepare(t, s, project(f), nil)
	if !slices.Equal(got.Packages, []string{"a@1.0.0"}) || got.Lock != "" || !got.Made {
		t.Errorf("got %+v", got)
	}
	if manifest != `{"dependencies":{"a":"^1.0.0"}}` {
		t.Errorf("npm gets %s", manifest)
	}
	if npmrc != "@s:registry=https://scoped.example\nregistry="+r.URL+"\n" {
		t.Errorf("npm gets the settings\n%s", npmrc)
	}
	c := asked[0]
	if c.Path != "/programs/npm" || !slices.Contains(c.Args, "--ignore-scripts") || !slices.Contains(c.Args, "--package-lock-only") {
		t.Errorf("started %s %v", c.Path, c.Args)
	}
	env := strings.Join(c.Env, "\n")
	if strings.Contains(env, "NODE_OPTIONS") || strings.Contains(env, "SECRET") || !strings.Contains(env, "HTTPS_PROXY=") ||
		!slices.Contains(c.Env, "NODE_EXTRA_CA_CERTS=/ca.pem") {
		t.Errorf("npm gets the environment\n%s", env)
	}

	version = "1.1.0"
	os.RemoveAll(filepath.Join(got.Folder, modules)) // it is made again with the same versions
	if again := prepare(t, s, project(f), nil); !slices.Equal(again.Packages, []string{"a@1.0.0"}) || !again.Made || len(asked) != 1 {
		t.Errorf("got %+v after %d questions", again, len(asked))
	}
	begun := time.Now()
	for i, want := range []bool{true, false} { // a second script of the same command
		up := prepare(t, s, project(f), &PrepareOptions{Upgrade: true, Since: begun})
		if !slices.Equal(up.Packages, []string{"a@1.1.0"}) || up.Made != want || len(asked) != 2 {
			t.Errorf("upgrade %d: %+v after %d questions", i, up, len(asked))
		}
	}
}

// C68: packages that the user adds are chosen with those that are declared; a lock of the others is not followed then. Where
// nothing declares any, it is said what the script imports.
func TestAdded(t *testing.T) {
	r, locks := world(t)
	sum := r.Publish("extra@2.1.0", nil)
	wanted := map[string]string{"extra": "^2"}
	manifest := ""
	s := r.store(func(o *Options) {
		o.LookPath = only("npm")
		o.Run = func(_ context.Context, c *Command) (*Output, error) {
			b, _ := os.ReadFile(filepath.Join(c.Dir, "package.json"))
			manifest = string(b)
			lock := npmtest.Lock(wanted, map[string]any{"node_modules/extra": m{"version": "2.1.0", "integrity": sum}})
			return &Output{}, os.WriteFile(filepath.Join(c.Dir, "package-lock.json"), []byte(lock), 0o600)
		}
	})
	bare := project(files{"scripts/a.js": "import 'extra/sub'; import './b.js'; import fs from 'fs'", "scripts/b.js": "require('@s/c/x')"})
	if got := prepare(t, s, bare, nil); got.Needed || !slices.Equal(got.Lacks, []string{"@s/c", "extra"}) {
		t.Errorf("got %+v", got)
	}
	bare.With = []string{"extra@^2"}
	got := prepare(t, s, bare, nil)
	if !slices.Equal(got.Packages, []string{"extra@2.1.0"}) || manifest != `{"dependencies":{"extra":"^2"}}` || got.Lacks != nil {
		t.Errorf("got %+v of %s", got, manifest)
	}
	locked := project(skill(map[string]string{"a": "^1.0.0"}, files{"bun.lock": locks["bun.lock"]}))
	locked.With, wanted = []string{"extra"}, map[string]string{"a": "^1.0.0", "extra": "*"}
	_, err := s.Prepare(t.Context(), locked, nil)
	failure(t, err, ReasonMetadata, `the lock that npm wrote does not belong to package.json: it has no "a"`)
	if manifest != `{"dependencies":{"a":"^1.0.0","extra":"*"}}` {
		t.Errorf("npm gets %s", manifest)
	}
	for text, ok := range map[string]bool{"a": true, "@s/a": true, "a@^1.2": true, "@s/a@1 || 2": true, "": false, "a@git://x": false, "../a": false, "a@file:x": false, "https://x/a.tgz": false, "x/y": false} {
		if err := CheckPackage(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !SamePackage("@s/a@1", "@s/a") || SamePackage("a", "b@1") || SamePackage("", "") {
		t.Error("names of packages are not compared")
	}
}

// bun chooses where npm is missing; without both the error says what to do, and so does one of npm.
func TestChosenByOthers(t *testing.T) {
	r := newRegistry(t)
	sum := r.Publish("a@1.0.0", nil)
	f := skill(map[string]string{"a": "1"}, nil)
	s := r.store(func(o *Options) {
		o.LookPath = only("bun")
		o.Run = func(_ context.Context, c *Command) (*Output, error) {
			lock := `{"lockfileVersion":1,"workspaces":{"":{"dependencies":{"a":"1"}}},"packages":{"a":["a@1.0.0","",{},"` + sum + `"],},}`
			return &Output{}, os.WriteFile(filepath.Join(c.Dir, "bun.lock"), []byte(lock), 0o600)
		}
	})
	if got := prepare(t, s, project(f), nil); !slices.Equal(got.Packages, []string{"a@1.0.0"}) {
		t.Errorf("got %+v", got)
	}

	none := r.store(func(o *Options) { o.LookPath = only() })
	_, err := none.Prepare(t.Context(), project(f), nil)
	failure(t, err, ReasonDependencies, "package.json has no lock", "npm is not installed", "package-lock.json")
	if !errors.Is(err, ErrNoNPM) {
		t.Errorf("%v is not ErrNoNPM", err)
	}
	for _, c := range []struct {
		out  Output
		err  error
		want string
	}{
		{Output{ExitCode: 1, Stderr: []byte("npm error 404 Not Found - nowhere\n")}, nil, "npm failed with exit code 1: npm error 404"},
		{Output{TimedOut: true}, nil, "npm took more than"}, {Output{}, nil, "npm wrote no lock"}, {Output{}, errors.New("no memory"), "no memory"},
	} {
		s := r.store(func(o *Options) {
			o.LookPath = only("npm")
			o.Run = func(context.Context, *Command) (*Output, error) { return &c.out, c.err }
		})
		_, err := s.Prepare(t.Context(), project(f), nil)
		failure(t, err, ReasonDependencies, c.want)
		nothingLeft(t, s)
	}
}

// The real npm chooses from the registry of the test.
func TestRealNPM(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skipf("npm is not installed, so only a stand-in for it is tested: %v", err)
	}
	r := newRegistry(t)
	describe := func(name string, versions map[string]m) {
		all := m{}
		var last string
		for _, v := range slices.Sorted(maps.Keys(versions)) {
			sum := r.Publish(name+"@"+v, nil)
			one := m{"name": name, "version": v, "dist": m{"integrity": sum, "tarball": r.URL + "/" + name + "/-/" + tarball(name, v)}}
			maps.Copy(one, versions[v])
			all[v], last = one, v
		}
		r.Serve("/"+name, fmt.Append(nil, npmJSON(m{"name": name, "versions": all, "dist-tags": m{"latest": last}})))
	}
	describe("a", map[string]m{"1.0.0": {}, "1.5.0": {"dependencies": m{"b": "1"}, "scripts": m{"preinstall": "exit 1"}}, "2.0.0": {}})
	describe("b", map[string]m{"1.0.0": {}, "2.0.0": {}})
	s := r.store(nil)
	got := prepare(t, s, project(skill(map[string]string{"a": "^1.0.0", "b": "*"}, nil)), nil)
	if want := []string{"a@1.5.0", "b@1.0.0", "b@2.0.0"}; !slices.Equal(got.Packages, want) {
		t.Errorf("got %v, want %v", got.Packages, want)
	}
	_, err := s.Prepare(t.Context(), project(skill(map[string]string{"absent": "1"}, nil)), nil)
	failure(t, err, ReasonDependencies, "npm failed", "404")
}
