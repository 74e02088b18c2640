package gitdir

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// forms are settings in all the forms that git reads, and some that it does not.
var forms = []string{
	"", "[a]\nb = c\n", "[a] b = c # d\n", "[A.B]\nC=d\n", "[a \"B.c]d\"]\ne\n", "[a \"x\\\"y\\\\z\"]\nb = 1", "[a]\nb = \" c \" ; d\n", "[a]\nb =  c  d  \n",
	"[a]\nb = c\\\n  d\n", "[a]\nb = \\t\\n\\\"\\\\\n", "[a]\n\tb=\n", "[a]\r\nb = c\r\n", "\ufeff[a]\nb = c\n", "# x\n; y\n[a]\nb-1 = 2\n", "[a] ; x\n b = \"c#d\"e\n",
	"[a]\nb = c \"d\" \n", "[a]b=1[c]\n", "[a-b.C.d]\nx = y\n",
	"[a\nb = c\n", "[a \"b]\nc = d\n", "[a]\n1b = c\n", "[a]\nb c\n", "[a]\nb = \"c\n", "[a]\nb = \\x\n", "[a \"b\"c]\nd = e\n", "[]\na = b\n", "[a]\nb = c\\", "[a \"b\n\"]\nc = d\n",
}

// asGit returns settings as `git config --list -z` prints them.
func asGit(list []Setting) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.Section + ".")
		if s.Sub != "" {
			b.WriteString(s.Sub + ".")
		}
		b.WriteString(s.Key)
		if !s.Bare {
			b.WriteString("\n" + s.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// What git reads is read alike, and what it refuses is refused.
func TestSettings(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range forms {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(git, "config", "--file", file, "--list", "-z")
		var out bytes.Buffer
		cmd.Stdout = &out
		bad := cmd.Run() != nil
		list, err := Settings([]byte(text))
		if (err != nil) != bad || err == nil && asGit(list) != out.String() {
			t.Errorf("%q: got %q, %v; git has %q, error %v", text, asGit(list), err, out.String(), bad)
		}
	}
}

func FuzzSettings(f *testing.F) {
	for _, text := range forms {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Settings(text)
		if err != nil {
			return
		}
		again, err := Settings(Text(list))
		if err != nil || asGit(again) != asGit(list) {
			t.Errorf("%q: written as %q, read as %q, %v", asGit(list), Text(list), asGit(again), err)
		}
	})
}
