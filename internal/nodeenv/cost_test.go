package nodeenv

import (
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
	s := r.fake()
	p := project(skill(dependencies(), files{"package-lock.json": locks["package-lock.json"]}))
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
	read := func(format int, pkg *packageJSON, text string) func() error {
		return func() error {
			_, err := lockFormats()[format].check(pkg, "lock", []byte(text), settings(nil, nil))
			return err
		}
	}
	places := m{"node_modules/a": m{"version": "1.0.0", "integrity": npmtest.Integrity(nil)}}
	for i := range 40_000 {
		places[fmt.Sprintf("node_modules/o%d", i)] = m{"version": "1.0.0", "dev": true}
	}
	soon("npm", read(1, pkg, npmtest.Lock(pkg.Dependencies, places)), "")
	for i := range maxItems {
		places[fmt.Sprintf("node_modules/o%d", i)] = m{"version": "1.0.0", "integrity": npmtest.Integrity(nil)}
	}
	soon("npm, too many", read(1, pkg, npmtest.Lock(pkg.Dependencies, places)), "more than 20000 packages")

	long, deps := strings.Repeat("a", 4<<20), map[string]string{}
	for i := range 50_000 {
		deps[fmt.Sprintf("x%d", i)] = "1"
	}
	bunPkg := &packageJSON{file: "package.json", Dependencies: map[string]string{long: "1"}}
	bun := npmJSON(m{"lockfileVersion": 1, "workspaces": m{"": m{"dependencies": bunPkg.Dependencies}},
		"packages": m{long: []any{long + "@1.0.0", "", m{"optionalDependencies": deps}, npmtest.Integrity(nil)}}})
	soon("bun", read(3, bunPkg, bun), "not a package of a registry")
	soon("yarn", read(4, pkg, strings.Repeat("a@1, ", 1<<18)+"b:\n"), "is not a package of a registry")
}
