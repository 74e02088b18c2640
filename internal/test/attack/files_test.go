//go:build unix

package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// specialFiles make what is no regular file.
func specialFiles() map[string]func(string) error {
	return map[string]func(string) error{
		"pipe": mkfifo,
		"socket": func(p string) error {
			short, err := os.MkdirTemp("", "s") // a socket's path has at most 107 bytes
			if err != nil {
				return err
			}
			defer os.RemoveAll(short)
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			return os.Rename(filepath.Join(short, "s"), p)
		},
		"device by a link": func(p string) error { return os.Symlink("/dev/zero", p) },
		"terminal":         func(p string) error { return os.Symlink("/dev/tty", p) },
		"folder":           func(p string) error { return os.Mkdir(p, 0o755) },
	}
}

// plantSpecial makes the skill of a name with one of specialFiles in the place of a file.
func plantSpecial(v *victim, name, file string, make func(string) error) {
	v.t.Helper()
	dir := filepath.Join(v.skills, name)
	v.write(dir, map[string]string{"SKILL.md": "---\nname: " + name + "\ndescription: Does harm.\n---\nBody\n", "references/b.md": "b", "scripts/b.sh": okScript})
	p := filepath.Join(dir, filepath.FromSlash(file))
	os.Remove(p)
	if err := make(p); err != nil {
		v.t.Fatal(err)
	}
}

var specialPlaces = []string{"SKILL.md", "references/a.md", "scripts/a.sh", "scripts/a"}

// Anything but a regular file is reported at once, as a manifest, as a file and as a script.
func TestSpecialFiles(t *testing.T) {
	for kind, make := range specialFiles() {
		for _, file := range specialPlaces {
			t.Run(kind+" as "+file, func(t *testing.T) {
				t.Parallel()
				v := newVictim(t)
				plantSpecial(v, "evil", file, make)
				checkSpecial(v, kind, file)
				v.unharmedBy("evil")
			})
		}
	}
	t.Run("together", func(t *testing.T) {
		v := newVictim(t)
		for kind, make := range specialFiles() {
			for i, file := range specialPlaces {
				plantSpecial(v, fmt.Sprint(strings.ReplaceAll(kind, " ", "-"), i), file, make)
			}
		}
		v.unharmed()
	})
}

func checkSpecial(v *victim, kind, file string) {
	v.t.Helper()
	code, problems := v.validate()
	if file == "SKILL.md" {
		if s := v.listed("evil"); kind != "folder" && (s["state"] != "broken" || code != 4) {
			v.t.Errorf("listed as %v; validate: %d %v", s, code, problems)
		}
		return
	}
	for _, args := range [][]string{
		{"skill", "read", "evil", file}, {"skill", "trust", "evil", "--yes"}, {"script", "run", "evil", "a"}, {"script", "help", "evil", "a"},
		{"skill", "activate", "evil"}, {"skill", "prepare", "evil"}, {"script", "list", "evil", "--json"},
	} {
		o := v.run(args...)
		if o.code == 0 && (args[1] == "read" || args[1] == "trust" && kind != "folder" || args[1] == "run" || args[1] == "help") {
			v.t.Errorf("agent %q: %s", args, o)
		}
	}
}

// No spelling of a path and no link leads out of a skill.
func TestNothingOutsideIsRead(t *testing.T) {
	v := newVictim(t)
	out := v.secretFile()
	rel, err := filepath.Rel(filepath.Join(v.skills, "evil"), out)
	if err != nil {
		t.Fatal(err)
	}
	v.write(v.skills, map[string]string{"private/SKILL.md": "---\nname: private\ndescription: " + secret + "\n---\n" + secret})
	v.evil(map[string]string{
		"in.md": "-> references/a.md", "references/a.md": "inside", "out.md": "-> " + out, "rel.md": "-> " + rel, "dir": "-> " + filepath.Dir(out),
		"up": "-> ../private", "chain": "-> dir2/secret.txt", "dir2": "-> dir", "self": "-> self", "loop": "-> .", "proc": "-> /proc/self/root" + out,
		"cwd": "-> /proc/self/cwd", "scripts/out.sh": "-> " + out, "references/deep/x.md": "-> ../../../private/SKILL.md",
	})
	hardLinked := os.Link(out, filepath.Join(v.skills, "evil", "hard.md")) == nil
	paths := []string{
		"out.md", "rel.md", "dir/secret.txt", "up/SKILL.md", "chain", "dir2/secret.txt", "self", "proc", "cwd/../home/secret.txt", "scripts/out.sh",
		"references/deep/x.md", out, "../private/SKILL.md", "references/../../private/SKILL.md", "%2e%2e/private/SKILL.md", "%252e%252e/private/SKILL.md",
		`..\private\SKILL.md`, "..%2fprivate%2fSKILL.md", "\uff0e\uff0e/private/SKILL.md", "..\u2215private\u2215SKILL.md", "./../private/SKILL.md",
		"/proc/self/fd/3", "/proc/self/root" + out, "/dev/stdin", "file://" + out, "~/secret.txt", "$HOME/secret.txt", "out.md\x00.md", "out.md/", "out.md/.",
		"out.md::$DATA", "OUT.MD", strings.Repeat("loop/", 300) + "out.md", strings.Repeat("n/", 5000) + "n", strings.Repeat("n", 256), strings.Repeat("n", 4097),
	}
	for _, p := range paths {
		if strings.ContainsRune(p, 0) {
			continue // an argument cannot contain NUL
		}
		o := v.run("skill", "read", "evil", "--", p)
		if o.code == 0 || o.stderr == "" {
			t.Errorf("%.80q is read: %.200s", p, o)
		}
		v.leaks(o, fmt.Sprintf("reading %.80q", p))
	}
	if o := v.run("skill", "read", "evil", "in.md"); o.stdout != "inside" {
		t.Errorf("a link inside: %s", o)
	}
	if o := v.run("skill", "read", "evil", strings.Repeat("loop/", 30)+"references/a.md"); o.code == 0 && o.stdout != "inside" {
		t.Errorf("a loop: %s", o)
	}
	for _, args := range [][]string{
		{"skill", "activate", "evil"}, {"skill", "validate", filepath.Join(v.skills, "evil")}, {"skill", "trust", "evil", "--yes"},
		{"script", "list", "evil"}, {"script", "run", "evil", "out"}, {"skill", "info", "evil"}, {"skill", "prepare", "evil"}, {"doctor"},
	} {
		v.leaks(v.run(args...), strings.Join(args, " "))
	}
	if o := v.run("skill", "trust", "evil", "--yes"); o.code == 0 {
		t.Errorf("a skill with links out of it is trusted: %s", o)
	}
	_ = hardLinked // a hard link is the file itself; only its owner can create one, see protected_hardlinks
}

// C38: a linked folder in a clone is not a skill, in any root, if the link leads out of it.
func TestLinkedFolders(t *testing.T) {
	v := newVictim(t)
	v.write(v.home, map[string]string{"private/SKILL.md": "---\nname: private\ndescription: " + secret + "\n---\n" + secret})
	private := filepath.Join(v.home, "private")
	v.write(v.project, map[string]string{
		".agent/skills/x": "-> " + private, ".agents/skills": "-> " + v.home, ".claude/skills": "-> ../../home",
		".agent/skills/y/SKILL.md": "-> " + filepath.Join(private, "SKILL.md"),
	})
	for _, args := range [][]string{
		{"skill", "list", "--all", "--json"}, {"skill", "prompt"}, {"skill", "read", "x"}, {"skill", "activate", "private"}, {"skill", "why", "y"},
		{"skill", "search", "secret"}, {"doctor"}, {"skill", "info", "y"}, {"skill", "read", "y"},
	} {
		v.leaks(v.run(args...), strings.Join(args, " "))
	}
	if o := v.run("doctor"); !strings.Contains(o.stdout+o.stderr, "symbolic link") && !strings.Contains(o.stdout+o.stderr, "leads out") {
		t.Errorf("doctor does not report the links: %s", o)
	}
	v.unharmed()
}

// Nothing outside a skill is read while the skill replaces its files and folders by links.
func TestSwapsWhileReading(t *testing.T) {
	v := newVictim(t)
	out := v.secretFile()
	v.evil(map[string]string{"references/secret.txt": "inside", "a.md": "inside"})
	dir := filepath.Join(v.skills, "evil")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(filepath.Join(dir, "references"), filepath.Join(dir, "kept"))
			os.Symlink(filepath.Dir(out), filepath.Join(dir, "references"))
			os.Remove(filepath.Join(dir, "a.md"))
			os.Symlink(out, filepath.Join(dir, "a.md"))
			os.Remove(filepath.Join(dir, "references"))
			os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, "references"))
			os.Remove(filepath.Join(dir, "a.md"))
			os.WriteFile(filepath.Join(dir, "a.md"), []byte("inside"), 0o644)
		}
	}()
	read := 0
	for range 60 {
		for _, p := range []string{"references/secret.txt", "a.md"} {
			o := v.run("skill", "read", "evil", p)
			v.leaks(o, p)
			if o.stdout == "inside" {
				read++
			}
		}
	}
	close(stop)
	<-done
	if read == 0 {
		t.Error("nothing was read: the test did not race")
	}
	v.unharmed()
}

// A binary file, or one without end, does not reach a terminal or a model unchanged.
func TestOddResources(t *testing.T) {
	v := newVictim(t)
	v.evil(map[string]string{"assets/pack.zip": "PK\x03\x04\x00scripts/x.py", "assets/zero.txt": "a\x00b", "assets/big.txt": "x", "assets/latin.txt": "caf\xe9"})
	if err := os.Truncate(filepath.Join(v.skills, "evil", "assets", "big.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if o := v.run("skill", "read", "evil", "assets/big.txt"); o.code == 0 || !strings.Contains(o.stderr, "1099511627776") {
		t.Errorf("a sparse file: %.300s", o)
	}
	for _, f := range []string{"assets/pack.zip", "assets/zero.txt", "assets/latin.txt"} {
		o := v.run("skill", "read", "evil", f, "--json")
		if !strings.Contains(o.stdout, `"binary":true`) {
			t.Errorf("%s: %.300s", f, o)
		}
	}
	if o := v.run("skill", "trust", "evil", "--yes"); o.code == 0 {
		t.Errorf("a skill with a terabyte is trusted: %s", o)
	}
	v.unharmed()
}

// Two names in one folder can be the same name on another system. The test creates them: an archive cannot contain both.
func TestNamesThatFold(t *testing.T) {
	v := newVictim(t)
	v.evil(map[string]string{"scripts/Run.sh": "echo '\"first\"'\n", "scripts/run.sh": "echo '\"second\"'\n",
		"references/caf\u00e9.md": "one", "references/cafe\u0301.md": "two", "references/\ufb01le.md": "ligature", "references/file.md": "plain"})
	v.mustRun("skill", "trust", "evil", "--yes")
	if o := v.run("script", "run", "evil", "RUN"); o.stdout != "\"first\"\n" {
		t.Errorf("the first in byte order must be used: %s", o)
	}
	if _, problems := v.validate(); !strings.Contains(fmt.Sprint(problems), "file-clash") {
		t.Errorf("validate does not report it: %v", problems)
	}
	for name, want := range map[string]string{"caf\u00e9.md": "one", "cafe\u0301.md": "two", "file.md": "plain", "\ufb01le.md": "ligature"} {
		if o := v.run("skill", "read", "evil", "references/"+name); o.stdout != want {
			t.Errorf("%q: %s", name, o)
		}
	}
	v.unharmed()
}

func mkfifo(p string) error { return syscall.Mkfifo(p, 0o644) }
