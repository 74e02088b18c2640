package gitdir

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// With another home git reads what it reads with the user's, wherever that is: links, includes, conditions and XDG files. Passwords stay
// where they are.
func TestCarry(t *testing.T) {
	top := paths.Real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for name, text := range map[string]string{
		"var/home/dots/gitconfig": "[user]\n name = A\n email = a@example.com\n[include]\n path = more/one\n[includeIf \"gitdir:~/work/\"]\n path = ~/dots/work\n" +
			"[includeIf \"gitdir:~/else/\"]\n path = ~/dots/work\n[core]\n hooksPath = ~/hooks/\n[credential]\n helper = store\n[http \"https://x\"]\n extraHeader = secret\n" +
			"[url \"https://me:secret@example.com/\"]\n insteadOf = x:\n[alias]\n l = \"!f() { echo \\\"x\\\"; }; f\"\n[gpg \"ssh\"]\n allowedSignersFile = ~/.ssh/signers\n",
		"var/home/more/one": "[include]\n path = two\n path = gone\n[pull]\n rebase\n", "var/home/more/two": "[init]\n defaultBranch = trunk\n", "round": "[include]\n path = round\n[user]\n name = R\n",
		"var/home/dots/work": "[user]\n email = work@example.com\n[include]\n path = deeper\n", "var/home/dots/deeper": "[user]\n signingKey = ~/.ssh/id.pub\n",
		"var/home/.config/git/config": "[user]\n name = earlier\n[color]\n ui = never\n", "var/home/.config/git/ignore": "*.bak\n", "var/home/hooks/pre-commit": "",
		"var/home/.ssh/signers": "", "machine": "[user]\n name = M\n[push]\n default = current\n", "place/x": "", "broken": "[user\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("dots/gitconfig", at("var/home/.gitconfig")), os.Symlink("var/home", at("home")), os.MkdirAll(at("var/home/work"), 0o755)); err != nil {
		t.Fatal(err)
	}
	gittest.NewIn(t, at("var/home/work/one.git"))
	gittest.NewIn(t, at("var/home/two.git"))
	vars := map[string]string{"GIT_CONFIG_SYSTEM": at("machine")}
	u := &User{Home: at("home"), Getenv: func(name string) string { return vars[name] }}
	c := u.Carry(at("place"))
	for name, text := range c.Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at("place/"+name)), 0o755), os.WriteFile(at("place/"+name), text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(home, dir, key string, env ...string) string {
		cmd := exec.Command(gittest.Program(t), "-C", at(dir), "config", "--get", key)
		cmd.Env = append(env, "HOME="+at(home), "GIT_CONFIG_NOSYSTEM=")
		out, _ := cmd.Output()
		return strings.TrimSpace(string(out))
	}
	for _, key := range []string{"user.name", "user.email", "init.defaultBranch", "pull.rebase", "color.ui", "push.default", "alias.l"} {
		for _, dir := range []string{"var/home/work/one.git", "var/home/two.git"} {
			if got, want := read("place", dir, key, "GIT_CONFIG_NOSYSTEM=1"), read("home", dir, key, "GIT_CONFIG_SYSTEM="+at("machine")); got != want || want == "" && key != "pull.rebase" {
				t.Errorf("%s in %s: got %q, want %q", key, dir, got, want)
			}
		}
	}
	if got := paths.Real(c.SigningKey); got != at("var/home/.ssh/id.pub") {
		t.Errorf("the key that signs: %q", c.SigningKey)
	}
	who := (&User{Home: u.Home, Getenv: u.Getenv, Identity: true}).Carry(at("who"))
	if text := fmt.Sprintf("%s", who.Files); !strings.Contains(text, "a@example.com") || !strings.Contains(text, "work@example.com") || !strings.Contains(text, `default = "current"`) ||
		strings.Contains(text, "hooksPath") || strings.Contains(text, "rebase") || strings.Contains(text, "signingKey") || who.Reads != nil {
		t.Errorf("identity: %s, reads %q", text, who.Reads)
	}
	if got := read("place", "var/home/work/one.git", "user.email"); got != "work@example.com" {
		t.Errorf("the condition does not hold: %q", got)
	}
	for _, key := range []string{"credential.helper", "http.https://x.extraHeader", "url.https://me:secret@example.com/.insteadOf"} {
		if got := read("place", "var/home/two.git", key); got != "" {
			t.Errorf("%s is carried: %q", key, got)
		}
	}
	if want := []string{at("home/.config/git/ignore"), at("home/hooks")}; !slices.Equal(c.Reads, want) {
		t.Errorf("reads %q, want %q", c.Reads, want)
	}
	vars = map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": at("broken"), "XDG_CONFIG_HOME": at("gone")}
	if c := u.Carry(at("place")); c.Files != nil || c.Reads != nil {
		t.Errorf("of nothing: %+v", c)
	}
	vars["GIT_CONFIG_GLOBAL"] = at("round")
	if c := u.Carry(at("place")); !strings.Contains(string(c.Files[".gitconfig"]), `name = "R"`) {
		t.Errorf("in a circle: %+v", c)
	}
	vars = map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": at("var/home/.config")}
	if c := (&User{Getenv: u.Getenv}).Carry(at("place")); c.Files != nil {
		t.Errorf("without a home: %+v", c)
	}
}
