package gitdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of the settings of a repository only those count that compare files; none names a file or a program.
func TestPlain(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config", "[core]\n\tfsmonitor = run\n\tfilemode = false\n\thooksPath = x\n\tautocrlf\n\teol = \"a b\"\n\texcludesFile = /etc/passwd\n\tworktree = /\n"+
		"[core \"x\"]\n\tignorecase = true\n[filter \"x\"]\n\tclean = run\n[include]\n\tpath = more\n[extensions]\n\tobjectFormat = sha256\n\tpartialClone = origin\n")
	r := &Repository{Git: dir, Common: dir}
	got := string(r.Plain([]byte("[core]\n\texcludesfile = /home/a/.ignore\n\tpager = run\n\teol = lf\n")))
	want := Text([]Setting{{Section: "core", Key: "excludesfile", Value: "/home/a/.ignore"}, {Section: "core", Key: "eol", Value: "lf"}, {Section: "core", Key: "filemode", Value: "false"},
		{Section: "core", Key: "autocrlf", Bare: true}, {Section: "extensions", Key: "objectformat", Value: "sha256"}})
	if got != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	for head, branch := range map[string]string{"ref: refs/heads/a/b\n": "a/b", "ref: refs/heads/.invalid\n": "", "0123456789\n": "", "": ""} {
		write("HEAD", head)
		if text, got := r.Head(); got != branch || string(text) != head {
			t.Errorf("%q: got %q, %q", head, got, text)
		}
	}
	write("HEAD", strings.Repeat("x", maxFile+1))
	if text, branch := r.Head(); text != nil || branch != "" {
		t.Error("a long HEAD is read")
	}
}
