package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/program"
)

func TestManagers(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, dir := range []string{".pyenv/shims", ".cargo/bin", ".rustup", "opt/cargo/bin", "share/mise/shims", ".volta/bin", "bin", "x/shims"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	for _, name := range []string{"bin", ".pyenv/shims", ".cargo/bin", "opt/cargo/bin", "share/mise/shims", ".volta/bin", ".rbenv/shims", "x/shims"} {
		dirs = append(dirs, at(name))
	}
	known := func(folder, variable string) program.Manager {
		return program.Manager{Folder: at(folder), Env: []string{variable + "=" + at(folder)}}
	}
	want := []program.Manager{known(".pyenv", "PYENV_ROOT"), known(".rustup", "RUSTUP_HOME"), known("share/mise", "MISE_DATA_DIR"), known(".volta", "VOLTA_HOME")}
	if diff := cmp.Diff(want, program.Managers(dirs, &program.User{})); diff != "" {
		t.Error(diff)
	}

	// Folders of other names are known by the user's variables.
	env := map[string]string{"ASDF_DATA_DIR": at("x") + "/", "CARGO_HOME": at("opt/cargo"), "RUSTUP_HOME": at("bin"), "PYENV_ROOT": at("none")}
	want = []program.Manager{known(".pyenv", "PYENV_ROOT"), known("bin", "RUSTUP_HOME"), known("bin", "RUSTUP_HOME"), known("share/mise", "MISE_DATA_DIR"),
		known(".volta", "VOLTA_HOME"), known("x", "ASDF_DATA_DIR")}
	if diff := cmp.Diff(want, program.Managers(dirs, &program.User{Getenv: func(name string) string { return env[name] }})); diff != "" {
		t.Error(diff)
	}
}

// The file of the user's choice of versions, unless it may have secrets.
func TestManagersChoice(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for name, text := range map[string]string{
		".asdf/shims/x": "", ".tool-versions": "direnv 2.3\n", "mise/shims/x": "", ".config/mise/config.toml": "[tools]\ndirenv = '2'\n",
		"xdg/mise/config.toml": "[tools]\n", "secret.toml": "[tools]\n [ env ]\nA='b'\n", "dotted.toml": "env.A = 'b'\n", "inline.toml": "x = {\"env\" = {A='b'}}\n",
		"own.toml": "[tools]\nnode = '20' # no env here\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o700), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ dir, variable, value, file, untold string }{
		{".asdf/shims", "", "", ".tool-versions", ""},
		{"mise/shims", "", "", ".config/mise/config.toml", ""},
		{"mise/shims", "XDG_CONFIG_HOME", at("xdg"), "xdg/mise/config.toml", ""},
		{"mise/shims", "MISE_GLOBAL_CONFIG_FILE", at("own.toml"), "own.toml", ""},
		{"mise/shims", "MISE_GLOBAL_CONFIG_FILE", at("secret.toml"), "", "secret.toml"},
		{"mise/shims", "MISE_GLOBAL_CONFIG_FILE", at("dotted.toml"), "", "dotted.toml"},
		{"mise/shims", "MISE_GLOBAL_CONFIG_FILE", at("inline.toml"), "", "inline.toml"},
		{"mise/shims", "MISE_GLOBAL_CONFIG_FILE", at("none.toml"), "", ""},
	} {
		u := &program.User{Home: home, Getenv: func(name string) string {
			if name == tt.variable {
				return tt.value
			}
			return ""
		}}
		got := program.Managers([]string{at(tt.dir)}, u)
		named := func(name string) string {
			if name == "" {
				return ""
			}
			return at(name)
		}
		if len(got) != 1 || got[0].File != named(tt.file) || got[0].Untold != named(tt.untold) {
			t.Errorf("%+v: got %+v", tt, got)
			continue
		}
		told := slices.Contains(got[0].Env, "MISE_GLOBAL_CONFIG_FILE="+got[0].File)
		if told != (tt.file != "" && tt.dir == "mise/shims") {
			t.Errorf("%+v: the environment is %q", tt, got[0].Env)
		}
	}
}
