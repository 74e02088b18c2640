//go:build unix

package program

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a program needs is its installation, and never the folder of the user's data.
func TestInstallation(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	const uv = ".local/share/uv/python/cpython-3.12/"
	write(uv+"bin/python3.12", "")
	write(uv+"lib/libpython3.12.so", "")
	write(".local/share/keyrings/secret", "")
	write(".local/lib/python3.12/x.py", "")
	link(".local/bin/python3.12", at(uv+"bin/python3.12"))
	write("envs/a/pyvenv.cfg", "")
	link("envs/a/bin/python", at(uv+"bin/python3.12"))
	write("envs/copied/bin/python", "") // python -m venv --copies
	write("envs/copied/pyvenv.cfg", "version = 3.12\nhome = "+at(uv+"bin")+"\n")
	write("envs/odd/bin/python", "")
	write("envs/odd/pyvenv.cfg", "home = "+at(".local/share/keyrings")+"\n")
	link(uv+"bin/python3", "python3.12")
	write(".nvm/versions/node/v20/bin/node", "")
	write(".nvm/versions/node/v20/lib/node_modules/npm/package.json", "")
	write(".nvm/versions/node/v20/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n")
	link(".nvm/versions/node/v20/bin/npm", "../lib/node_modules/npm/bin/npm-cli.js")
	write("brew/Cellar/node/20/bin/node", "")
	write("brew/opt/x", "")
	link("brew/bin/node", "../Cellar/node/20/bin/node")
	link("alternatives/node", at(".nvm/versions/node/v20/bin/node"))
	link("links/node", at("alternatives/node"))
	write("bin/tool", "#!"+at("envs/a/bin/python")+" -s\n")
	write("tool", "")
	write("manager/shims/python3", "#!/usr/bin/env bash\n")
	write("sdk/go/bin/go", "")
	write("sdk/go/pkg/tool/linux/compile", "")
	write("sdk/go/src/fmt/print.go", "")
	write("sdk/go/secrets", "")
	write("apps/editor/editor", "")
	write("apps/cli/package.json", "{}")
	write("apps/cli/dist/main/index.js", "")
	write("Downloads/tool", "")
	for name, to := range map[string]string{"go": "../sdk/go/bin/go", "editor": at("apps/editor/editor"), "cli": "../apps/cli/dist/main/index.js", "odd": "../Downloads/tool",
		"gone": "nothing", "text": "../brew/opt/x", "sh": "/bin/sh", "env": "../envs/a/bin/python"} {
		link("links2/"+name, to)
	}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{uv + "bin/python3.12", []string{uv + "bin", uv + "lib"}},
		{".local/bin/python3.12", []string{".local/bin", ".local/lib", uv + "bin", uv + "lib"}},
		{"envs/a/bin/python", []string{uv + "bin", uv + "lib", "envs/a"}},
		{"envs/copied/bin/python", []string{uv + "bin", uv + "lib", "envs/copied"}},
		{"envs/odd/bin/python", []string{"envs/odd"}},
		{".nvm/versions/node/v20/bin/npm", []string{".nvm/versions/node/v20/bin", ".nvm/versions/node/v20/lib", ".nvm/versions/node/v20/lib/node_modules/npm"}},
		{"brew/bin/node", []string{"brew/Cellar", "brew/bin", "brew/opt"}},
		{"bin/tool", []string{uv + "bin", uv + "lib", "bin", "envs/a"}},
		{"tool", []string{"tool"}},
		{"links/node", []string{".nvm/versions/node/v20/bin", ".nvm/versions/node/v20/lib"}}, // through links that lie in no installation
		{"manager/shims/python3", []string{"manager"}},
	} {
		var want []string
		for _, name := range tt.want {
			want = append(want, at(name))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, Installation(at(tt.name), home)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	want := []string{"Downloads/tool", "apps/cli", "apps/editor", uv + "bin", uv + "lib", "envs/a", "sdk/go/bin", "sdk/go/pkg", "sdk/go/src"}
	for i, name := range want {
		want[i] = at(name)
	}
	if err := os.Chmod(at("brew/opt/x"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := Linked(at("links2"), home, nil)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("linked: %s", diff)
	}
	if got := Installation("/usr/bin/python3", home); len(got) != 0 {
		t.Errorf("of the system: %q", got)
	}
	link("alias", home)
	got = Installation(at("alias/.local/bin/python3.12"), home)
	if slices.Contains(got, at(".local/share")) || !slices.Contains(got, at(".local/bin")) {
		t.Errorf("through a link to the home: %q", got)
	}
}
