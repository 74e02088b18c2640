package confine

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// security 2.5 #74: a service whose socket lies in a folder that a command sees is not reached, whether the folder can be written or not.
// A socket that was granted by its own name is.
func TestSocketsOfServices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", `
import os, socket, sys
for name in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(name)
        print("reached", s.recv(5).decode())
    except OSError as e:
        print(type(e).__name__)
s = socket.socket(socket.AF_UNIX)
s.bind("own"); s.listen()
socket.socket(socket.AF_UNIX).connect("own")
os.remove("own")
print("own")
`)
		dir, err := os.MkdirTemp("", "s") // a socket's path has at most 107 bytes
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var sockets []string
		for _, name := range []string{"read/s", "write/s"} {
			path := filepath.Join(dir, name)
			if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			serve(t, path)
			sockets = append(sockets, path)
		}
		sockets = append(sockets, renamed(t, filepath.Join(dir, "write"))...)
		c.Read, c.Write = []string{filepath.Join(dir, "read")}, []string{filepath.Join(dir, "write"), c.Dir}
		c.Args = append(c.Args, append(sockets, "/proc/self/root"+sockets[0])...)
		refused := strings.Repeat("PermissionError\n", len(sockets)+1) + "own\n"
		granted := strings.Repeat("reached hello\n", len(sockets)+1) + "own\n"
		out := run(t, i.runner(t, Options{}), c)
		switch {
		case i.name == "A" && string(out.Stdout) != refused:
			t.Errorf("got %q, want %q\n%s", out.Stdout, refused, out.Stderr)
		case i.name == "B" && out.ExitCode == 0: // it has no unix sockets at all
			t.Errorf("got %q", out.Stdout)
		}
		if i.name == "A" {
			c.Read = append(c.Read, sockets...)
			if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != granted {
				t.Errorf("granted: got %q, want %q\n%s", out.Stdout, granted, out.Stderr)
			}
		}
		for _, path := range sockets {
			if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
				t.Errorf("%s is not there any more: %v", path, err)
			}
		}
	})
}

// renamed serves on sockets in a folder whose names the kernel does not know: attacks-two M3.
func renamed(t *testing.T, dir string) []string {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(at("a/b"), 0o777))
	serve(t, at("old"))
	must(os.Rename(at("old"), at("a/b/renamed")))
	serve(t, at("temporary")) // as OpenSSH makes its control socket
	must(os.Link(at("temporary"), at("linked")))
	must(os.Remove(at("temporary")))
	must(os.Symlink("a", at("way")))
	serve(t, at("way/through"))
	return []string{at("a/b/renamed"), at("linked"), at("a/through")}
}

// Installed programs are not searched, however many files they have: those that run have bound their sockets there under their own names.
func TestSocketsOfInstalledPrograms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		if i.name != "A" {
			t.Skip("no unix sockets without a view of its own")
		}
		dir, err := os.MkdirTemp("", "s")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		serve(t, filepath.Join(dir, "bound"))
		moved := renamed(t, dir)
		hidden := func(installed []string) (out []string) {
			c := i.command(t, "/bin/true")
			c.Read, c.Installed = append(c.Read, dir), installed
			p, err := i.runner(t, Options{}).plan(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range append(moved, filepath.Join(dir, "bound")) {
				if e, ok := p.view.entries[path]; ok && e.kind == hiddenFile {
					out = append(out, filepath.Base(path))
				}
			}
			return out
		}
		if got := hidden(nil); len(got) != len(moved)+1 {
			t.Errorf("a folder of the user's: hides %q", got)
		}
		if got := hidden([]string{dir}); !slices.Contains(got, "bound") || slices.Contains(got, "linked") {
			t.Errorf("installed programs: hides %q", got)
		}
	})
}

// Where it is not known which sockets there are, a command has none: its folders are too large, or one cannot be listed.
func TestSocketsAreNotKnown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		make func(s *socketSearch)
		want bool // that all are known
	}{
		{"few files", func(s *socketSearch) { s.search(dir) }, true},
		{"too many", func(s *socketSearch) { s.left = 1; s.search(dir) }, false},
		{"a file", func(s *socketSearch) { s.search(filepath.Join(dir, "file")) }, true},
		{"nothing", func(s *socketSearch) { s.search(filepath.Join(dir, "none")) }, true},
		{"a folder of this user that cannot be listed", func(s *socketSearch) {
			if os.Geteuid() == 0 {
				s.unknown = "root lists every folder"
				return
			}
			closed := filepath.Join(dir, "closed")
			if err := os.Mkdir(closed, 0); err != nil {
				t.Error(err)
			}
			s.search(dir)
			if err := os.Remove(closed); err != nil {
				t.Error(err)
			}
		}, false},
	} {
		s := &socketSearch{left: 10}
		tt.make(s)
		if got := s.left > 0 && s.unknown == ""; got != tt.want {
			t.Errorf("%s: all known %v, want %v: %+v", tt.name, got, tt.want, s)
		}
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", "import socket; socket.socketpair(); socket.socket(socket.AF_UNIX)")
		p, err := i.runner(t, Options{}).plan(c)
		if err != nil {
			t.Fatal(err)
		}
		p.noSockets = true
		out, err := (&Runner{o: Options{temp: 1 << 20}}).attempt(t.Context(), p)
		if err != nil || out.ExitCode == 0 || !strings.Contains(string(out.Stderr), "PermissionError") {
			t.Errorf("got %+v, %v\n%s", out, err, out.Stderr)
		}
	})
}

// serve says hello to everyone who connects.
func serve(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello"))
			conn.Close()
		}
	}()
}

// A socket that is gone when the command starts is no failure, and nothing is made in its place.
func TestSocketThatIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/true")
		p, err := i.runner(t, Options{}).plan(c)
		if err != nil {
			t.Fatal(err)
		}
		gone := filepath.Join(c.Dir, "gone")
		p.view.add(entry{path: gone, kind: hiddenFile, optional: true})
		out, err := (&Runner{o: Options{temp: 1 << 20}}).attempt(t.Context(), p)
		if err != nil || out.ExitCode != 0 {
			t.Errorf("got %+v, %v", out, err)
		}
		if _, err := os.Lstat(gone); err == nil {
			t.Error("it was made")
		}
	})
}

func TestBoundNames(t *testing.T) {
	const list = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 2741823 /tmp/with a space/s
0000000000000000: 00000003 00000000 00000000 0001 03    29
ffff888103f3e800: 00000002 00000000 00010000 0005 01 16873 @/org/abstract
0000000000000000: 00000002 00000000 00010000 0001 01 99 tmp/sockets/x.sock
`
	want := []string{"/tmp/with a space/s"}
	if got := boundNames(list); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
