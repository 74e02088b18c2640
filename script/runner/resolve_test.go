package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
)

// place makes files, folders (names with a slash at the end) and links (NAME -> TEXT) in a folder that has no links in its path.
func place(t *testing.T, names ...string) func(name string) string {
	t.Helper()
	top := paths.Real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, name := range names {
		name, text, isLink := strings.Cut(name, " -> ")
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case isLink:
			err = os.Symlink(strings.ReplaceAll(text, "TOP", top), at(name))
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at(name), 0o755)
		default:
			err = os.WriteFile(at(name), nil, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// codex, claude-code: reports 01, 03. What a path leads to is what a command gets, and each link on the way is there.
func TestReachResolves(t *testing.T) {
	at := place(t, "var/home/u/.agent/", "var/home/u/.ssh/bin/", "home -> var/home", "store/env/bin/tool", "store/env/lib/", "home/u/.profile -> ../../../store/env",
		"home/u/data -> TOP/disks/a", "disks/a/", "disks/b/", "work/", "work/out -> TOP/disks/b", "open/", "open/in -> TOP/disks/b", "round -> round2", "round2 -> round", "file",
		"toKeys -> home/u/.ssh", "toOwn -> home/u/.agent", "home/u/tools -> .ssh", "up -> home/u/data/../b", "system -> /bin")
	home := at("home/u")
	for _, tt := range []struct {
		name    string
		reach   Reach
		read    []string // some of what it reads or writes
		not     []string
		links   []string
		missing string // a part of what is named; "" for nothing
	}{
		{name: "a PATH through a link", reach: Reach{Path: []string{at("home/u/.profile/bin")}}, read: []string{"store/env/bin", "store/env/lib"}, links: []string{"home", "var/home/u/.profile"}},
		{name: "a program of the system through a link", reach: Reach{Programs: []string{at("system/sh")}}, links: []string{"system"}},
		{name: "a program through links", reach: Reach{Programs: []string{at("home/u/.profile/bin/tool")}}, read: []string{"store/env/bin"}, links: []string{"home", "var/home/u/.profile"}},
		{name: "a grant through links", reach: Reach{GrantRead: []string{at("home/u/data")}}, read: []string{"disks/a"}, links: []string{"home", "var/home/u/data"}},
		{name: "above what a link leads to", reach: Reach{GrantRead: []string{at("up")}}, read: []string{"disks/b"}, links: []string{"up", "home", "var/home/u/data"}},
		{name: "a home that is a link", reach: Reach{Home: at("home/u/own"), Temp: at("home/u/tmp")}, read: []string{"var/home/u/own", "var/home/u/tmp"}, links: []string{"home"}},
		{name: "keys that were named", reach: Reach{GrantRead: []string{at("home/u/.ssh")}}, read: []string{"var/home/u/.ssh"}},

		{name: "a circle", reach: Reach{Path: []string{at("round/bin")}}, not: []string{"round"}, missing: "round/bin leads through too many symbolic links"},
		{name: "a PATH that is gone", reach: Reach{Path: []string{at("gone/bin")}}, not: []string{"gone/bin"}, missing: "path: " + at("gone/bin") + " does not exist"},
		{name: "a PATH below a file", reach: Reach{Path: []string{at("file/bin")}}, not: []string{"file/bin"}, missing: "file/bin cannot be used: not a directory"},
		{name: "a PATH that is a folder of keys", reach: Reach{Path: []string{at("home/u/.ssh/bin")}}, not: []string{"var/home/u/.ssh/bin"}, missing: "keys are in it"},
		{name: "a PATH that leads to keys", reach: Reach{Path: []string{at("home/u/tools/bin")}}, not: []string{"var/home/u/.ssh/bin"}, missing: "keys are in it"},
		{name: "a PATH that is the home", reach: Reach{Path: []string{home}}, not: []string{"var/home/u"}, missing: "the whole home is in it"},
		{name: "a PATH that holds the home", reach: Reach{Path: []string{at("home")}}, not: []string{"var/home"}, missing: "the whole home is in it"},
		{name: "a link where the user works", reach: Reach{Here: []string{at("work")}, GrantWrite: []string{at("work/out")}}, not: []string{"disks/b"},
			missing: "write: " + at("work/out") + " leads through a symbolic link in a folder that commands may write"},
		{name: "a link in another grant", reach: Reach{GrantWrite: []string{at("open"), at("open/in")}}, read: []string{"open"}, not: []string{"disks/b"}, missing: "open/in leads through"},
		{name: "a grant that leads to keys", reach: Reach{GrantRead: []string{at("toKeys")}}, not: []string{"var/home/u/.ssh"}, missing: "keys are in it"},
		{name: "a grant that leads to the agent's files", reach: Reach{GrantWrite: []string{at("toOwn")}}, not: []string{"var/home/u/.agent"}, missing: "the agent's own files are there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.reach.Guard = Guard{Home: home, Private: []string{at("home/u/.agent")}}
			c, err := tt.reach.Command(Command{Path: "/bin/sh"})
			if err != nil {
				t.Fatal(err)
			}
			all, links := slices.Concat(c.Read, c.Write), []string{}
			for _, l := range c.Links {
				links = append(links, l.Path)
			}
			checkHas(t, at, "the command", all, tt.read)
			checkHas(t, at, "its links", links, tt.links)
			for _, name := range tt.not {
				if slices.Contains(all, at(name)) {
					t.Errorf("it gets %s", name)
				}
			}
			if missing := strings.Join(c.Missing, "\n"); (tt.missing == "") != (missing == "") || !strings.Contains(missing, tt.missing) {
				t.Errorf("missing: %q, want %q", missing, tt.missing)
			}
		})
	}
}
