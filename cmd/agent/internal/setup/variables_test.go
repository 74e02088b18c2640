package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The folder of a tenant has what its skills may be granted, in the form that Kubernetes mounts. Whatever else is there is not read, or is an
// error.
func TestVariablesOfTenants(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	write("outside", "of another one")
	write("s/plain/A_KEY", "one\n\n")
	write("s/plain/EMPTY", "")
	write("s/plain/not-a-name", "x")
	write("s/kube/..2026_1/A_KEY", "two\n")
	link("..2026_1", "s/kube/..data")
	link("..data/A_KEY", "s/kube/A_KEY")
	write("s/..2026_2/projected/A_KEY", "three")
	link("..2026_2", "s/..data")
	link("..data/projected", "s/projected")
	link("../../outside", "s/out/A_KEY")
	link("../plain/A_KEY", "s/other/A_KEY")
	link("../..", "s/data-out/..data")
	link(home, "s/folder-out")
	link(at("s/plain/A_KEY"), "s/absolute/A_KEY")
	write("s/large/A_KEY", strings.Repeat("x", maxVariable+1))
	write("s/zero/A_KEY", "a\x00b")
	write("s/folder/A_KEY/file", "x")
	write("s/file", "x")
	for tenant, want := range map[string]string{
		"plain": "A_KEY=one\n EMPTY=", "kube": "A_KEY=two", "projected": "A_KEY=three", "nobody": "", "data-out": "",
		"out": "error", "other": "error", "folder-out": "error", "absolute": "error", "large": "exceeds 65536 bytes", "zero": "zero byte", "folder": "error", "file": "error",
	} {
		s := NewSettings(&System{Home: home, Dir: home, Environ: []string{"AGENT_SERVE_SECRETS=" + at("s"), "A_KEY=of the operator", "B_KEY=of the operator"}}, &Flags{Tenant: tenant})
		env, err := s.Variables(func(string) bool { return true })
		got := strings.Join(env, " ")
		if err != nil {
			if got = "error"; strings.Contains(err.Error(), want) && strings.Contains(err.Error(), tenant) {
				got = want
			}
			if strings.Contains(err.Error(), home) {
				t.Errorf("a path is in %v", err)
			}
		}
		if got != want || err == nil && env == nil {
			t.Errorf("%s: got %q, %v", tenant, got, err)
		}
		if none, err := s.Variables(func(string) bool { return false }); len(none) > 0 || err != nil && tenant != "folder-out" && tenant != "file" {
			t.Errorf("%s: got %q, %v", tenant, none, err)
		}
	}
	none := NewSettings(&System{Home: home, Dir: home, Environ: []string{"AGENT_SERVE_SECRETS=" + at("none")}}, &Flags{Tenant: "plain"})
	if _, err := none.Variables(func(string) bool { return true }); err == nil || strings.Contains(err.Error(), home) {
		t.Errorf("got %v", err)
	}
	bare := NewSettings(&System{Home: home, Environ: []string{"A_KEY=of the operator"}}, &Flags{Tenant: "plain"})
	if value, set := bare.Variable("A_KEY"); set {
		t.Errorf("without serve.secrets: %q", value)
	}
	own := NewSettings(&System{Home: home, Environ: []string{"A_KEY=first", "A_KEY=last"}}, &Flags{})
	if value, set := own.Variable("A_KEY"); value != "last" || !set {
		t.Errorf("got %q, %v", value, set)
	}
	if value, set := own.Variable("B_KEY"); set {
		t.Errorf("got %q", value)
	}
}

// No script sees what would make it another client, or another tenant, also where somebody granted a folder that has it.
func TestPrivate(t *testing.T) {
	home := t.TempDir()
	var environ, want []string
	for _, name := range []string{"KEY", "TOKENS", "SECRETS", "CERT_KEY", "CREDS"} {
		want = append(want, filepath.Join(home, name))
		environ = append(environ, "AGENT_SERVE_"+name+"="+filepath.Join(home, name))
	}
	s := NewSettings(&System{Home: home, Dir: home, Environ: environ}, &Flags{})
	if got := s.Private(); !slices.Equal(got, append([]string{filepath.Join(home, ".agent")}, want...)) {
		t.Errorf("got %q", got)
	}
}

// Workers have what the program reads, and nothing that a skill could be granted but the settings of what installs packages.
func TestEnvironmentOfWorkers(t *testing.T) {
	s := &System{Environ: []string{"HOME=/h", "PATH=/bin", "AGENT_HOME=/a", "SCRIPT_TIMEOUT=1s", "HTTPS_PROXY=p", "TZ=UTC", "LANG=C", "LC_ALL=C", "TMPDIR=/t", "UV_INDEX=i", "npm_config_registry=r", "PYENV_VERSION=3",
		"GITHUB_TOKEN=x", "OPENAI_API_KEY=x", "DATABASE_URL=x", "SSH_AUTH_SOCK=x", "TRACEPARENT=x", "AGENT=x", "MY_AGENT_KEY=x", "PATHS=x"}}
	got := s.ForWorkers()
	if len(got) != 12 || slices.ContainsFunc(got, func(kv string) bool { return strings.HasSuffix(kv, "=x") }) {
		t.Errorf("got %q", got)
	}
}
