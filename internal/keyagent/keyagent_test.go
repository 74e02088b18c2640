package keyagent

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/want"
)

// short returns a folder whose path is short: the name of a unix socket has 107 bytes.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ka")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return path
}

func write(t *testing.T, text string, parts ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(parts...), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func user(dir string, env map[string]string) *User {
	return &User{Home: dir, Getenv: func(name string) string { return env[name] }}
}

// R179: the agent of ssh is the one that SSH_AUTH_SOCK names, if that is a socket.
func TestSSH(t *testing.T) {
	dir := short(t)
	socket := listen(t, dir, "agent")
	write(t, "", dir, "file")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ set, want, wrong string }{
		{set: socket, want: socket},
		{set: link, want: link},
		{wrong: "SSH_AUTH_SOCK is not set"},
		{set: "agent", wrong: `"agent" is not an absolute path`},
		{set: dir + "/gone", wrong: "gone does not exist"},
		{set: dir + "/file", wrong: "file is not a socket"},
		{set: dir, wrong: "is not a socket"},
	} {
		a, err := user(dir, map[string]string{"SSH_AUTH_SOCK": tt.set}).Find(want.SSH)
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: got %v", tt.set, err)
		case tt.wrong == "" && (err != nil || a.Socket != tt.want || !slices.Equal(a.Env, []string{"SSH_AUTH_SOCK=" + tt.want}) || a.Prepare(filepath.Join(dir, "none")) != nil):
			t.Errorf("%s: got %+v, %v", tt.set, a, err)
		}
	}
	if _, err := user(dir, nil).Find("other"); err == nil {
		t.Error("there is an agent other")
	}
}

// R179: the socket of gpg-agent for other machines comes first, in GNUPGHOME or where a file there says; a command gets public keys alone.
func TestGPG(t *testing.T) {
	home, elsewhere := short(t), short(t)
	u := user(filepath.Join(home, "none"), map[string]string{"GNUPGHOME": home})
	if _, err := u.Find(want.GPG); err == nil || !strings.Contains(err.Error(), "gpg-agent does not run: there is no socket in ") {
		t.Errorf("got %v", err)
	}
	plain := listen(t, home, "S.gpg-agent")
	a, err := u.Find(want.GPG)
	if err != nil || a.Socket != plain {
		t.Fatalf("got %+v, %v", a, err)
	}
	extra := listen(t, elsewhere, "x")
	write(t, redirect+extra+"\n", home, "S.gpg-agent.extra")
	write(t, "public", home, "pubring.kbx")
	write(t, "program", home, "gpg.conf")
	if err := os.Mkdir(filepath.Join(home, "private-keys-v1.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, "secret", home, "private-keys-v1.d", "key")
	if a, err = u.Find(want.GPG); err != nil || a.Socket != extra {
		t.Fatalf("got %+v, %v", a, err)
	}
	dir := filepath.Join(elsewhere, "home")
	if err := a.Prepare(dir); err != nil || !slices.Equal(a.Env, []string{"GNUPGHOME=" + dir}) {
		t.Fatalf("got %v, %v", a.Env, err)
	}
	list, err := filepath.Glob(dir + "/*")
	if err != nil || !slices.Equal(list, []string{dir + "/S.gpg-agent", dir + "/pubring.kbx"}) {
		t.Errorf("the command gets %q, %v", list, err)
	}
	write(t, strings.Repeat("x", 5000), home, "S.gpg-agent.extra")
	if a, err = u.Find(want.GPG); err != nil || a.Socket != plain {
		t.Errorf("with a file that is no redirection: %+v, %v", a, err)
	}
	if _, err := (&User{Getenv: func(string) string { return "" }}).Find(want.GPG); err == nil {
		t.Error("without a home")
	}
}

// R179: the folder of a home that is not the usual one has the name that gpg gives it.
func TestShortened(t *testing.T) {
	gpgconf, err := exec.LookPath("gpgconf")
	if err != nil {
		t.Skip("gpgconf is missing")
	}
	home := short(t)
	cmd := exec.Command(gpgconf, "--list-dirs", "agent-socket")
	cmd.Env = []string{"GNUPGHOME=" + home, "PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if socket := strings.TrimSpace(string(out)); filepath.Dir(socket) != home && filepath.Base(filepath.Dir(socket)) != "d."+shortened(home) {
		t.Errorf("gpg uses %s, not d.%s", socket, shortened(home))
	}
	if got := shortened("/home/a/keys"); len(got) != 24 {
		t.Errorf("got %q", got)
	}
}
