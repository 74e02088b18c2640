package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/obeyed"
)

// made returns what is new in a folder that before made and after changed, as slash paths.
func made(t *testing.T, s *Seen, before, after tree) []string {
	t.Helper()
	s.Dir = t.TempDir()
	for i, name := range s.granted {
		s.granted[i] = filepath.Join(s.Dir, name)
	}
	before.write(t, s.Dir)
	look(s)
	after.write(t, s.Dir)
	list, err := s.New()
	if err != nil {
		t.Error(err)
	}
	var out []string
	for _, u := range list {
		rel, _ := filepath.Rel(s.Dir, u.Path)
		if out = append(out, filepath.ToSlash(rel)); u.Why == "" {
			t.Errorf("%s: no reason", u.Path)
		}
	}
	slices.Sort(out)
	return out
}

const plainConfig = "[core]\n\tbare = false # no\n[remote \"origin\"]\n\turl = ../x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

// M4, C65: what other programs obey and was not there before is found, wherever it is; what was there, and what nobody obeys, is not.
func TestSeen(t *testing.T) {
	repository := func(dir, config string) tree {
		return tree{dir + "/HEAD": "ref: x", dir + "/objects/x": "", dir + "/refs/x": "", dir + "/config": config, dir + "/hooks/a.sample": ""}
	}
	with := func(t tree, more ...string) tree {
		for i := 0; i < len(more); i += 2 {
			t[more[i]] = more[i+1]
		}
		return t
	}
	for _, tt := range []struct {
		name          string
		seen          Seen
		before, after tree
		want          string
	}{
		{name: "new", before: tree{"src/a.go": ""}, after: tree{"src/.claude/x": "", "new/deep/Agents.md": "", ".unheard": "", ".gitignore": "", "b.go": ""},
			want: ".unheard new/deep/Agents.md src/.claude"},
		{name: "there before", before: tree{".unheard/x": "", ".x": ""}, after: tree{".unheard/y": "", ".unheard/.z": "", ".unheard/d/CLAUDE.md": "", ".x": "2"},
			want: ".unheard/d/CLAUDE.md"},
		{name: "caches", after: tree{".pytest_cache/CLAUDE.md": "", "node_modules/x/.npmrc": "", ".next/.x": ""}},
		{name: "below a harmless folder", before: tree{".github/workflows/a": ""}, after: tree{".github/workflows/b": "", ".github/prompts/x": "", ".yarn/cache/x": "", ".yarn/plugins/x": ""},
			want: ".github/prompts .yarn/plugins"},
		{name: "granted", seen: Seen{granted: []string{"CLAUDE.md", ".vscode", "src"}}, after: tree{"CLAUDE.md": "", ".vscode/x": "", "src/.x": "", ".npmrc": ""}, want: ".npmrc"},
		{name: "open", seen: Seen{open: true}, after: with(repository("a/.git", "[core]\nfsmonitor = x\n"), ".npmrc", "", ".x/y", "", "CLAUDE.md", ""), want: "a/.git"},
		{name: "home", seen: Seen{home: true}, before: tree{".config/x": ""}, after: tree{".ssh/x": "", ".config/y": "", "src/.config/x": ""}, want: ".ssh src/.config"},
		{name: "other repositories", before: tree{".hg/x": ""}, after: tree{".hg/y": "", "a/.jj/repo/config.toml": "", "b/.svn/x": ""}, want: "a/.jj b/.svn"},
		{name: "plain repository", after: repository("a/.git", plainConfig)},
		{name: "plain bare repository", after: repository("a", plainConfig)},
		{name: "repository that runs", after: repository("a/.git", plainConfig+"[core]\n\tFSMonitor = x\n"), want: "a/.git"},
		{name: "bare repository that runs", after: with(repository("a", plainConfig), "a/hooks/pre-commit", ""), want: "a"},
		{name: "hooks", after: with(repository("a/.git", plainConfig), "a/.git/hooks/post-checkout", ""), want: "a/.git"},
		{name: "another common folder", after: with(repository("a/.git", plainConfig), "a/.git/commondir", "../x"), want: "a/.git"},
		{name: "a file for a repository", before: repository("b", plainConfig), after: tree{"a/.git": "gitdir: ../b\n"}, want: "a/.git"},
		{name: "what begins to be a repository", before: tree{"a/src/x": "", "a/objects/x": ""}, after: with(repository("a", plainConfig), "a/src/.npmrc", ""), want: "a/src/.npmrc"},
		{name: "the folder itself", after: tree{"HEAD": "", "objects/x": "", "refs/x": "", "config": "[core]\nhooksPath = x\n"}, want: "HEAD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(made(t, &tt.seen, tt.before, tt.after), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What moves with its folder stays, if nothing is known about it.
func TestSeenMoved(t *testing.T) {
	s := &Seen{Dir: t.TempDir()}
	tree{"a/.unheard": "", "a/.npmrc": "", "c/.unheard": ""}.write(t, s.Dir)
	look(s)
	for from, to := range map[string]string{"a": "b", "c/.unheard": "c/.other"} {
		if err := os.Rename(s.abs(from), s.abs(to)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.New()
	if err != nil || len(got) != 2 || got[0].Path != s.abs("b/.npmrc") || got[1].Path != s.abs("c/.other") {
		t.Errorf("got %+v, %v", got, err)
	}
}

// git follows a link to a folder of hooks.
func TestSeenLinkedHooks(t *testing.T) {
	s := &Seen{Dir: t.TempDir()}
	tree{"tools/pre-commit": ""}.write(t, s.Dir)
	look(s)
	tree{"a/.git/HEAD": "x", "a/.git/config": plainConfig}.write(t, s.Dir)
	if err := os.Symlink("../../tools", s.abs("a/.git/hooks")); err != nil {
		t.Skip(err)
	}
	got, err := s.New()
	if err != nil || len(got) != 1 || got[0].Path != s.abs("a/.git") {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The work trees and submodules of a repository that was there are no new repositories, unless their settings run something.
func TestSeenWorkTrees(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after tree
		want  string
	}{
		{"work tree", tree{"w/.git": "gitdir: ../.git/worktrees/w", ".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/HEAD": "x"}, ""},
		{"of another folder", tree{"w/.git": "gitdir: ../.git/worktrees/w", ".git/worktrees/w/commondir": "../../../evil\n"}, "w/.git"},
		{"with settings", tree{"w/.git": "gitdir: ../.git/worktrees/w", ".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/config.worktree": ""}, "w/.git"},
		{"submodule", tree{"m/.git": "gitdir: ../.git/modules/m", ".git/modules/m/config": "[core]\n\tworktree = ../../../m\n"}, ""},
		{"submodule that runs", tree{"m/.git": "gitdir: ../.git/modules/m", ".git/modules/m/config": "[core]\n\tsshCommand = x\n"}, "m/.git"},
		{"objects of the folder", tree{"m/.git/config": "[core]\n", "m/.git/objects/info/alternates": "../../../.git/objects\n"}, ""},
		{"objects of elsewhere", tree{"m/.git/config": "[core]\n", "m/.git/objects/info/alternates": "/elsewhere/.git/objects\n"}, "m/.git"},
		{"elsewhere", tree{"m/.git": "gitdir: /elsewhere/.git/modules/m"}, "m/.git"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := tree{".git/HEAD": "x", ".git/config": "[core]\n"}
			if got := strings.Join(made(t, &Seen{}, before, tt.after), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Folders without number do not hide anything: that there are too many is an error. What was not searched before is not searched later.
func TestSeenTooMuch(t *testing.T) {
	deep := strings.Repeat("x/", deepestSearched+1)
	s := &Seen{}
	if got := made(t, s, tree{deep + "a": ""}, tree{deep + ".npmrc": "", deep[2:] + ".npmrc": ""}); !slices.Equal(got, []string{deep[2:] + ".npmrc"}) {
		t.Errorf("got %q", got)
	}
	if got := s.Missing(); !strings.Contains(got, "in 1 folders below "+s.Dir) {
		t.Errorf("missing: %q", got)
	}
	tree{strings.Repeat("y/", deepestLooked+2) + "a": ""}.write(t, s.Dir)
	if _, err := s.New(); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("got %v", err)
	}
}

func TestPlainSettings(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, plainConfig: true, "# x\n; y\n[user]\nname = a\n[branch \"b\"]\nremote = x\n": true,
		"[include]\npath = x\n": false, "[core]\nhooksPath = x\n": false, "[alias]\na = !x\n": false, "[core] fsmonitor = x\n": false, "x = y\n": false,
		"[core]\nbare = tr\\\nue\n": true, "[core]\nbare = \"\nhooksPath = x\n": false, "[filter \"x\"]\nclean = y\n": false, "[remote \"a]b\"]\nurl = x\n": true, "[remote \"x\"]\nuploadpack = y\n": false,
	} {
		if got := plainSettings([]byte(text)); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// The names of the table are found in a new folder, and kept in one that was there.
func TestSeenNames(t *testing.T) {
	for _, name := range obeyed.Names() {
		for _, dir := range []string{"", "src/"} {
			if strings.HasPrefix(name, ".git/") {
				continue // see TestSeen
			}
			if got := made(t, &Seen{}, nil, tree{dir + name: ""}); len(got) != 1 || !strings.HasPrefix(dir+name, got[0]) {
				t.Errorf("%s%s: got %q", dir, name, got)
			}
			s := &Seen{}
			if got := made(t, s, tree{dir + name: ""}, nil); len(got) != 0 || !slices.Contains(s.keep, s.abs(dir+name)) {
				t.Errorf("%s%s: got %q, kept %q", dir, name, got, s.keep)
			}
		}
	}
}

// The cost of a look before a command and of one after it, at 10,000 files in 1,110 folders.
func BenchmarkSeen(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		at := filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d", i/100, i/10%10, i%10))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		for n := range 10 {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("file_%d.go", n)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		s := look(&Seen{Dir: dir})
		if made, err := s.New(); len(made) > 0 || err != nil || len(s.unread) > 0 {
			b.Fatal(made, err)
		}
	}
}
