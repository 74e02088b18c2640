package nodeenv

import (
	"context"
	"errors"
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
	version, asked := "1.0.0", 0
	var manifest, npmrc string
	s := r.store(func(o *Options) {
		o.NPMRC = []byte("@s:registry=https://scoped.example\nscript-shell=/bin/evil\n")
		o.LookPath = only("npm", "node", "bun")
		o.Run = func(ctx context.Context, c *Command) (*Output, error) {
			if c.Args[1] == "ci" {
				lock, _ := os.ReadFile(filepath.Join(c.Dir, "package-lock.json"))
				for _, v := range []string{"1.0.0", "1.1.0"} {
					if strings.Contains(string(lock), "a-"+v+".tgz") {
						return standIn(v, nil)(ctx, c)
					}
				}
			}
			asked++
			if entries, _ := os.ReadDir(c.Dir); len(entries) != 1 || c.Path != "/programs/npm" || !slices.Contains(c.Args, "--package-lock-only") || !slices.Contains(c.Args, "--ignore-scripts") {
				t.Errorf("npm sees %v, started %v", entries, c.Args)
			}
			b, _ := os.ReadFile(filepath.Join(c.Dir, "package.json"))
			manifest = string(b)
			b, _ = os.ReadFile(filepath.Join(c.Write[1], ".npmrc"))
			npmrc = string(b)
			lock := npmtest.Lock(map[string]string{"a": "^1.0.0"}, m{"node_modules/a": m{"version": version, "integrity": npmtest.Integrity(nil)}})
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
	if !strings.HasPrefix(npmrc, "@s:registry=https://scoped.example\nregistry="+r.URL+"\nfetch-retry-") || strings.Contains(npmrc, "shell") {
		t.Errorf("npm gets the settings\n%s", npmrc)
	}
	version = "1.1.0"
	os.RemoveAll(filepath.Join(got.Folder, modules)) // it is made again with the same versions
	if again := prepare(t, s, project(f), nil); !slices.Equal(again.Packages, []string{"a@1.0.0"}) || !again.Made || asked != 1 {
		t.Errorf("got %+v after %d questions", again, asked)
	}
	begun := time.Now()
	for i, want := range []bool{true, false} { // a second script of the same command
		up := prepare(t, s, project(f), &PrepareOptions{Upgrade: true, Since: begun})
		if !slices.Equal(up.Packages, []string{"a@1.1.0"}) || up.Made != want || asked != 2 {
			t.Errorf("upgrade %d: %+v after %d questions", i, up, asked)
		}
	}
}

// What one store has chosen another one installs, also later choices, and never chooses itself.
func TestChosenElsewhere(t *testing.T) {
	r := newRegistry(t)
	version := "1.0.0"
	fake := func(chooses bool) func(o *Options) {
		return func(o *Options) {
			o.LookPath = only("npm", "node")
			o.Run = func(ctx context.Context, c *Command) (*Output, error) {
				if c.Args[1] == "ci" {
					lock, _ := os.ReadFile(filepath.Join(c.Dir, "package-lock.json"))
					for _, v := range []string{"1.0.0", "1.1.0"} {
						if strings.Contains(string(lock), "a-"+v+".tgz") {
							return standIn(v, nil)(ctx, c)
						}
					}
				}
				if !chooses {
					t.Errorf("it chooses: %v", c.Args)
				}
				lock := npmtest.Lock(map[string]string{"a": "^1.0.0"}, m{"node_modules/a": m{"version": version, "integrity": npmtest.Integrity(nil)}})
				return &Output{}, os.WriteFile(filepath.Join(c.Dir, "package-lock.json"), []byte(lock), 0o600)
			}
		}
	}
	first := r.store(fake(true))
	var key string
	second := r.store(func(o *Options) {
		fake(false)(o)
		o.Chosen = func(_ context.Context, k string) ([]byte, error) { key = k; return first.Chosen(k), nil }
	})
	f := skill(map[string]string{"a": "^1.0.0"}, nil)
	for i, v := range []string{"1.0.0", "1.1.0"} {
		version = v
		prepare(t, first, project(f), &PrepareOptions{Upgrade: i > 0})
		for _, made := range []bool{true, false} {
			if got := prepare(t, second, project(f), nil); !slices.Equal(got.Packages, []string{"a@" + v}) || got.Made != made {
				t.Errorf("got %+v, want version %s, made: %t", got, v, made)
			}
		}
	}
	for _, k := range []string{"", key[:9], "../" + key, key + "/x"} {
		if got := first.Chosen(k); got != nil {
			t.Errorf("%q: %s", k, got)
		}
	}
}

// C68: packages that the user adds are chosen with those that are declared; a lock of the others is not followed then. Where
// nothing declares any, it is said what the script imports.
func TestAdded(t *testing.T) {
	needManager(t, "npm")
	r, locks := world(t)
	sum := r.Publish("extra@2.1.0", nil)
	wanted := map[string]string{"extra": "^2"}
	manifest := ""
	s := r.store(func(o *Options) {
		o.Run = func(ctx context.Context, c *Command) (*Output, error) {
			if c.Args[1] == "ci" {
				return execute(ctx, c)
			}
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

// R139: a package that whoever runs the script has in mind is added where its files import it and nothing declares any; what is
// prepared then needs no network.
func TestElse(t *testing.T) {
	needManager(t, "npm")
	r := newRegistry(t)
	r.Publish("zod@4.0.0", nil)
	r.Publish("zod@4.1.0", nil)
	s := r.store(nil)
	p := project(files{"scripts/a.js": "import 'tools'", "scripts/b.js": "import { z } from 'zod/v4'; import 'brush'"})
	p.Else, p.Also = []string{"zod@4.0.0", "other@1.0.0"}, []string{"scripts/b.js"}
	got := prepare(t, s, p, nil)
	if !slices.Equal(got.Packages, []string{"zod@4.0.0"}) || !slices.Equal(got.Lacks, []string{"brush", "tools"}) || got.Declared != "" {
		t.Errorf("got %+v", got)
	}
	if file, packages, lacks, err := Declared(p); err != nil || file != "" || !slices.Equal(packages, []string{"zod@4.0.0"}) || len(lacks) != 2 {
		t.Errorf("declared %q %v, lacks %v: %v", file, packages, lacks, err)
	}
	r.Clear()
	if again := prepare(t, s, p, nil); again.Made || again.Folder != got.Folder {
		t.Errorf("got %+v", again)
	}
	for name, f := range map[string]files{"declared": skill(map[string]string{"zod": "3"}, nil), "others": skill(map[string]string{"a": "1"}, nil)} {
		q := project(f)
		q.Else = p.Else
		if _, packages, _, err := Declared(q); err != nil || slices.Contains(packages, "zod@4.0.0") {
			t.Errorf("%s: %v %v", name, packages, err)
		}
	}
	p.With = []string{"zod@^4"}
	if _, packages, _, err := Declared(p); err != nil || !slices.Equal(packages, []string{"zod@^4"}) {
		t.Errorf("with the user's: %v %v", packages, err)
	}
}

// bun chooses where npm is missing; without both the error says what to do, and so does one of npm.
func TestChosenByOthers(t *testing.T) {
	r := newRegistry(t)
	sum := r.Publish("a@1.0.0", nil)
	f := skill(map[string]string{"a": "1"}, nil)
	s := r.store(func(o *Options) {
		o.LookPath = only("bun")
		o.Run = func(ctx context.Context, c *Command) (*Output, error) {
			if slices.Contains(c.Args, "--frozen-lockfile") {
				return standIn("1.0.0", nil)(ctx, c)
			}
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
	if !errors.As(err, new(*MissingError)) {
		t.Errorf("%v is not a MissingError", err)
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
	needManager(t, "npm")
	r := newRegistry(t)
	for id, text := range map[string]string{"a@1.0.0": `{"x":1}`, "b@1.0.0": `{"x":1}`, "b@2.0.0": `{"x":1}`, "c@1.0.0": `{"dependencies":{"x":"git+file:///nowhere"}}`, "d@1.0.0": `{"dependencies":{"x":"http://files.example/x.tgz"}}`,
		"a@1.5.0": `{"dependencies":{"b":"1"},"scripts":{"preinstall":"exit 1"}}`} {
		name, version := cutVersion(id)
		r.Publish(id, files{"package.json": `{"name":"` + name + `","version":"` + version + `",` + text[1:]})
	}
	r.Publish("a@2.0.0", nil)
	s := r.store(nil)
	got := prepare(t, s, project(skill(map[string]string{"a": "^1.0.0", "b": ">=2"}, nil)), nil)
	if want := []string{"a@1.5.0", "b@1.0.0", "b@2.0.0"}; !slices.Equal(got.Packages, want) {
		t.Errorf("got %v, want %v", got.Packages, want)
	}
	for name, want := range map[string]string{"absent": "404", "c": "npm failed", "d": "npm failed"} {
		_, err := s.Prepare(t.Context(), project(skill(map[string]string{name: "1"}, nil)), nil)
		failure(t, err, ReasonDependencies, "npm failed", want)
	}
	nothingElse, _ := filepath.Glob(filepath.Join(s.folder(), "*-work-*"))
	if len(nothingElse) != 0 {
		t.Errorf("%v is left", nothingElse)
	}
}
