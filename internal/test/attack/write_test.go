//go:build unix

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The engine writes only where the user asked: not through links, and not into other folders.
func TestNothingOutsideIsWritten(t *testing.T) {
	v := newVictim(t)
	mine := "---\nname:   Mine\ndescription: a: b\n---\n"
	v.write(v.home, map[string]string{"mine.md": mine, "dir/SKILL.md": mine})
	out := filepath.Join(v.home, "mine.md")
	v.write(v.skills, map[string]string{"evil/SKILL.md": "-> " + out, "evil2": "-> " + filepath.Join(v.home, "dir")})
	for _, args := range [][]string{
		{"skill", "validate", filepath.Join(v.skills, "evil"), "--fix"}, {"skill", "validate", filepath.Join(v.skills, "evil", "SKILL.md"), "--fix"}, {"skill", "validate", v.skills, "--fix"},
		{"skill", "create", "../escaped"}, {"skill", "create", "/escaped"}, {"skill", "create", "a/b"}, {"skill", "create", ".hidden"}, {"skill", "create", "con"}, {"skill", "create", "x\ny"},
		{"skill", "disable", "../../x"}, {"skill", "trust", "../good", "--yes"},
	} {
		v.run(args...)
	}
	for _, f := range []string{"mine.md", "dir/SKILL.md"} {
		if b, err := os.ReadFile(filepath.Join(v.home, f)); string(b) != mine {
			t.Errorf("%s was changed to %q %v", f, b, err)
		}
	}
	for _, f := range []string{filepath.Join(v.project, "..", "escaped"), filepath.Join(v.home, "escaped"), "/escaped"} {
		if _, err := os.Lstat(f); err == nil {
			t.Errorf("%s was created", f)
		}
	}
	v.unharmed()
}

// Files with settings, of a project or of the user, are read as carefully as those of a skill.
func TestHostileSettingsFiles(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"a pipe":   mkfifo,
		"endless":  func(p string) error { return os.Symlink("/dev/zero", p) },
		"a folder": func(p string) error { return os.Mkdir(p, 0o755) },
		"sparse": func(p string) error {
			if err := os.WriteFile(p, nil, 0o644); err != nil {
				return err
			}
			return os.Truncate(p, 1<<40)
		},
		"a bomb": func(p string) error {
			return os.WriteFile(p, []byte("skills: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"), 0o644)
		},
		"deep":   func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("[", 100_000)), 0o644) },
		"binary": func(p string) error { return os.WriteFile(p, []byte("\x00\xff\x1b[2J"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			v.write(v.project, map[string]string{".agent/keep": ""})
			if err := make(filepath.Join(v.project, ".agent", "config.yaml")); err != nil {
				t.Fatal(err)
			}
			v.unharmed()
			trust := filepath.Join(v.home, ".agent", "trust.json")
			if err := os.Remove(trust); err != nil {
				t.Fatal(err)
			}
			if err := make(trust); err != nil {
				t.Fatal(err)
			}
			if o := v.run("script", "run", "good", "ok"); o.code != 5 { // fails closed
				t.Errorf("with such a trust file: %s", o)
			}
			if o := v.show("skill", "list"); o.code != 0 || !strings.Contains(o.stdout, "good ") {
				t.Errorf("with such a trust file: %s", o)
			}
		})
	}
}
