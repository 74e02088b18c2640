package filename

import (
	"strings"
	"testing"
)

// security 2.2 #24, security 2.2 #29
func TestUnsafe(t *testing.T) {
	for _, name := range []string{"SKILL.md", "a b", ".hidden", "console", "com10", "auxiliary.txt", "日本語", "a'b", "می\u200cخواهم.md", "👩\u200d💻.png", "✔\ufe0f", "git", ".gitignore", strings.Repeat("n", 255)} {
		if why := Odd(name); why != "" {
			t.Errorf("%q %s", name, why)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "C:", "SKILL.md:evil", "a\x00b", "a\nb", "\x1b[2J", "\x7f", "a\u0085", "\xff",
		"con", "NUL.txt", "aux.", "Com1.tar.gz", "con .txt", "COM¹", "CONOUT$", "a.", "a ", "a\u202egpj.exe", ".\u200bgit", "a\U000e0061", "\ufeffa", strings.Repeat("n", 256)} {
		if Unsafe(name) == "" {
			t.Errorf("%q is safe", name)
		}
	}
	for _, name := range []string{"a?", "<a>", `"`, "a|b", "*"} {
		if Unsafe(name) != "" || Odd(name) == "" {
			t.Errorf("%q: unsafe %q, odd %q", name, Unsafe(name), Odd(name))
		}
	}
}

// security 2.6 #100
func TestIsGit(t *testing.T) {
	for name, want := range map[string]bool{".git": true, ".GIT": true, "git~1": true, "GIT~1": true, ".g\u200cit": true, ".git.": true, ".git ": true,
		".gi\ufefft": true, ".gitignore": false, "git": false, "git~2": false, ".github": false} {
		if got := IsGit(name); got != want {
			t.Errorf("IsGit(%q) = %v, want %v", name, got, want)
		}
	}
}

// security 2.2 #25
func TestFold(t *testing.T) {
	for c := range rune(0x80) {
		if got, want := Fold(string(c)), Fold(string(c)+"é"); got+"É" != want {
			t.Errorf("%q: got %q, next to another letter %q", c, got, want)
		}
	}
	for _, same := range [][2]string{{"Foo", "foo"}, {"é", "e\u0301"}, {"É", "e\u0301"}, {"ſ", "S"}, {"K", "\u212a"}, {"σ", "ς"}} {
		if Fold(same[0]) != Fold(same[1]) {
			t.Errorf("%q and %q differ", same[0], same[1])
		}
	}
}

func TestIsRepository(t *testing.T) {
	for name, want := range map[string]bool{".git": true, ".GIT ": true, "GIT~1": true, ".hg": true, ".jj": true, ".gitignore": false, "git": false} {
		if got := IsRepository(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
	}
}
