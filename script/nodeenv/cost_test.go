package nodeenv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// A script cannot put modules or settings where the interpreters find them for other skills that share its environment.
func TestPlanted(t *testing.T) {
	r, locks := world(t)
	s := r.store(nil)
	p := project(skill(dependencies(), files{"bun.lock": locks["bun.lock"]}))
	for _, name := range []string{"package.json", "tsconfig.json", "skills/package.json", "skills/node_modules"} {
		got := prepare(t, s, p, nil)
		if _, err := got.Copy(t.Context(), "key", sealer(t, nil)); err != nil {
			t.Fatal(err)
		}
		if again := prepare(t, s, p, nil); again.Made {
			t.Fatalf("before %s the environment is made again", name)
		}
		if err := os.Mkdir(filepath.Join(got.Folder, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if again := prepare(t, s, p, nil); !again.Made || again.Folder == got.Folder {
			t.Errorf("with %s planted, the environment is used again", name)
		}
	}
}

// C69: no lock takes long to read. Each of these would take hours if the time grew with the square of its size.
func TestLocksAreReadFast(t *testing.T) {
	soon := func(name string, run func() error, want string) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- run() }()
		select {
		case err := <-done:
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v", name, err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: it takes more than two minutes", name)
		}
	}
	pkg := &packageJSON{file: "package.json", Dependencies: map[string]string{"a": "1"}}

	places := m{"node_modules/a": m{"version": "1.0.0", "integrity": npmtest.Integrity(nil)}}
	for i := range 150_000 {
		places[fmt.Sprintf("node_modules/o%d", i)] = m{"optional": true, "os": "none"}
	}
	npm := npmtest.Lock(pkg.Dependencies, places)
	soon("npm", func() error {
		_, err := readNPM(pkg, "lock", []byte(npm), thisPlatform())
		return err
	}, "")

	long, deps := strings.Repeat("a", 4<<20), map[string]string{}
	for i := range 50_000 {
		deps[fmt.Sprintf("x%d", i)] = "1"
	}
	bunPkg := &packageJSON{file: "package.json", Dependencies: map[string]string{long: "1"}}
	bun, err := json.Marshal(m{"lockfileVersion": 1, "workspaces": m{"": m{"dependencies": bunPkg.Dependencies}},
		"packages": m{long: []any{long + "@1.0.0", "", m{"optionalDependencies": deps}, npmtest.Integrity(nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	soon("bun", func() error {
		_, err := readBun(bunPkg, "lock", bun, thisPlatform())
		return err
	}, "not a package of a registry")

	g := graph{"x@2": {item: item{Name: "x", Version: "2.0.0", Integrity: npmtest.Integrity(nil)}}, "x@1": {item: item{Name: "x", Version: "1.0.0", Integrity: npmtest.Integrity(nil)}}}
	root := []edge{{"x", "x@1"}}
	for i := range 8000 {
		name := fmt.Sprintf("p%d", i)
		g[name] = &vertex{item: item{Name: name, Version: "1.0.0", Integrity: npmtest.Integrity(nil)}, deps: []edge{{"x", "x@2"}}}
		g["x@2"].deps = append(g["x@2"].deps, edge{name, name})
		root = append(root, edge{name, name})
	}
	soon("hoist", func() error {
		_, err := g.hoist("lock", root)
		return err
	}, "dependencies of packages on each other")
}
