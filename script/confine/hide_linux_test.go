package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// C65, security 1.2: what is hidden below a folder that was granted cannot be read or written, and what was granted below that can.
func TestHide(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/sh", "-c", `
for f in home/.ssh/key home/.netrc home/.agent/trust.json home/plain home/.agent/run/x home/link/key; do
	cat $f 2>/dev/null | grep -q text && echo "read $f"
done
(echo new >home/.ssh/made) 2>/dev/null && echo wrote .ssh
(echo new >home/.agent/run/x) 2>/dev/null && echo wrote run
(echo new >home/work/made) 2>/dev/null && echo wrote work
true`)
		write := func(name string) {
			path := filepath.Join(c.Dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("text\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"home/.ssh/key", "home/.netrc", "home/.agent/trust.json", "home/plain", "home/.agent/run/x", "home/work/x"} {
			write(name)
		}
		at := func(name string) string { return filepath.Join(c.Dir, name) }
		if err := os.Symlink(at("home/.ssh"), at("home/link")); err != nil {
			t.Fatal(err)
		}
		c.Write = []string{at("home"), at("home/.agent/run")}
		c.Hide = []string{at("home/.ssh"), at("home/.netrc"), at("home/.agent"), at("home/.gone")}
		c.Keep = c.Hide // what is kept as well stays hidden
		out := run(t, i.runner(t, Options{}), c)
		want := "read home/plain\nread home/.agent/run/x\nwrote run\nwrote work\n"
		if string(out.Stdout) != want {
			t.Errorf("got %q, want %q\n%s", out.Stdout, want, out.Stderr)
		}
		if _, err := os.Stat(at("home/.ssh/made")); err == nil || strings.Contains(string(out.Stdout), ".ssh") {
			t.Error("something was written where it is hidden")
		}
		write("home/.agent/run/x")
		c.Read, c.Write = c.Write, nil // what is only read, as the copy of a skill in a home that is the working directory
		if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != "read home/plain\nread home/.agent/run/x\n" {
			t.Errorf("only read: got %q\n%s", out.Stdout, out.Stderr)
		}
		c.Hide = nil // the control: without it everything can be read
		if out := run(t, i.runner(t, Options{}), c); !strings.Contains(string(out.Stdout), "read home/.ssh/key\nread home/.netrc\nread home/.agent/trust.json\n") {
			t.Errorf("without hiding: %q %s", out.Stdout, out.Stderr)
		}
	})
}

// P5: a folder with something hidden in it cannot be moved: the path would have another name afterwards, which no rule is about.
func TestHiddenStaysWhereItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		for _, hide := range []bool{true, false} {
			for _, program := range []string{"mv a b", "mv a/secrets a/x", "mkdir c && mv a c/a", "perl -e 'rename(qw(a b)) or die $!'", "ln a/secrets/key y", "mv a/secrets/key y"} {
				c := i.command(t, "/bin/sh", "-ec", program)
				secrets := filepath.Join(c.Dir, "a", "secrets")
				if err := os.MkdirAll(secrets, 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(secrets, "key"), "text")
				if hide {
					c.Hide = []string{secrets}
				}
				out := run(t, i.runner(t, Options{}), c)
				_, err := os.Stat(filepath.Join(secrets, "key"))
				names, _ := filepath.Glob(filepath.Join(c.Dir, "*"))
				if hide && (err != nil || out.ExitCode == 0 || strings.Contains(strings.Join(names, " "), "/y")) || !hide && out.ExitCode != 0 {
					t.Errorf("hidden %t, %s: exit code %d, %v, %q", hide, program, out.ExitCode, err, names)
				}
			}
		}
	})
}

// What is hidden is refused and not empty, to root too: a command that reads it or changes its rights fails.
func TestHiddenIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		for _, program := range []string{"cat .env", "cat secrets/key", "chmod 600 .env && cat .env", "chmod 700 secrets && cat secrets/key",
			"python3 -c 'open(\".env\").read()'", "cp .env copy", "echo x >.env", "echo x >secrets/new", "rm .env", "mv secrets other"} {
			for _, hide := range []bool{true, false} {
				c := i.command(t, "/bin/sh", "-c", program)
				write(t, filepath.Join(c.Dir, ".env"), "text\n")
				if err := os.Mkdir(filepath.Join(c.Dir, "secrets"), 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(c.Dir, "secrets", "key"), "text\n")
				if hide {
					c.Hide = []string{filepath.Join(c.Dir, ".env"), filepath.Join(c.Dir, "secrets")}
				}
				out := run(t, i.runner(t, Options{}), c)
				said := string(out.Stderr)
				refused := strings.Contains(said, "ermission denied") || strings.Contains(said, "not permitted") || strings.Contains(said, "Read-only") || strings.Contains(said, "busy")
				if hide && (out.ExitCode == 0 || !refused || strings.Contains(string(out.Stdout), "text")) || !hide && out.ExitCode != 0 {
					t.Errorf("hidden %t: %s: exit code %d, %q, %q", hide, program, out.ExitCode, out.Stdout, said)
				}
			}
		}
	})
}

// A program that goes through all folders passes over a hidden one, in which it finds nothing. Where rules of the kernel hide it alone, it
// cannot be listed.
func TestHiddenFolderIsPassedOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/sh", "-ec", "find . -type f; grep -rq text . && echo found")
		if err := os.Mkdir(filepath.Join(c.Dir, "secrets"), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(c.Dir, "a.txt"), "text\n")
		write(t, filepath.Join(c.Dir, "secrets", "key"), "text\n")
		c.Hide = []string{filepath.Join(c.Dir, "secrets")}
		out := run(t, i.runner(t, Options{}), c)
		if passed := out.ExitCode == 0 && string(out.Stdout) == "./a.txt\nfound\n"; passed != (i.name[0] == 'A') || strings.Contains(string(out.Stdout), "key") {
			t.Errorf("exit code %d, %q, %q", out.ExitCode, out.Stdout, out.Stderr)
		}
	})
}
