//go:build unix

package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// C66: what others choose is not on the PATH of scripts.
func TestCleanPath(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"home/bin", "home/go/bin", "work/node_modules/.bin", "skills/x/bin", "open", "shared", "home/.ssh/bin", "agent/bin"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Chmod(at("open"), 0o777))
	check(os.Symlink(at("work/node_modules/.bin"), at("home/link")))
	check(os.Symlink(at("work"), at("alias")))
	check(os.Symlink(".ssh", at("home/tools")))
	check(os.WriteFile(at("home/file"), nil, 0o755))
	list := strings.Join([]string{
		at("home/go/bin"), ".", "", at("gone"), at("home/file"), at("skills/x/bin"), at("work/node_modules/.bin"), at("home/link"),
		at("alias/node_modules/.bin"), at("open"), at("home/bin"), at("home/bin"),
		at("home/.ssh/bin"), at("home/tools/bin"), at("home"), top, at("agent/bin"),
	}, ":")
	o := &PathOptions{Project: at("work"), Home: at("home"), Own: at("agent"), Skills: []string{at("skills")}}
	dirs, dropped := CleanPath(list, o)
	if diff := cmp.Diff([]string{at("home/go/bin"), at("home/bin")}, dirs); diff != "" {
		t.Error(diff)
	}
	want := []Dropped{
		{".", "is not an absolute path"}, {"", "is not an absolute path"}, {at("gone"), "does not exist"}, {at("home/file"), "is not a folder"},
		{at("skills/x/bin"), "is in a folder of skills"}, {at("work/node_modules/.bin"), "is in the project"}, {at("home/link"), "is in the project"},
		{at("alias/node_modules/.bin"), "is in the project"}, {at("open"), "is writable by every user (mode 0777)"},
		{at("home/.ssh/bin"), "has keys"}, {at("home/tools/bin"), "has keys"}, {at("home"), "holds the whole home"}, {top, "holds the whole home"},
		{at("agent/bin"), "is the agent's own"},
	}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Error(diff)
	}
	for _, project := range []string{at("home"), top, "/", "/usr"} { // not a project of its own
		o.Project = project
		if dirs, _ := CleanPath(at("home/bin")+":/usr/bin", o); len(dirs) != 2 {
			t.Errorf("in the project %s: %q", project, dirs)
		}
	}
	o.Project = at("alias") // a link to the project is the project
	if dirs, _ := CleanPath(at("work/node_modules/.bin"), o); len(dirs) != 0 {
		t.Errorf("got %q", dirs)
	}
}

// A program that is only in a dropped folder is not used, and the error says so.
func TestFindClean(t *testing.T) { // C66
	at := t.TempDir()
	for _, name := range []string{"good/both", "bad/both", "bad/one"} {
		file := filepath.Join(at, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	dirs, dropped := CleanPath(filepath.Join(at, "bad")+":bad:"+filepath.Join(at, "good"), &PathOptions{Project: filepath.Join(at, "bad")})
	if path, err := FindClean("both", dirs, dropped); path != filepath.Join(at, "good/both") || err != nil {
		t.Errorf("both: %q, %v", path, err)
	}
	_, err := FindClean("one", dirs, dropped)
	want := filepath.Join(at, "bad/one") + " is not used, because its folder is in the project"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one: %v, want %q", err, want)
	}
	if text := Lack(err, "get it"); text != "but "+want+": install it in another folder of PATH" {
		t.Errorf("one: %q", text)
	}
	_, err = FindClean("none", dirs, dropped)
	if text := Lack(err, "get it"); !errors.Is(err, fs.ErrNotExist) || text != "which is not installed: get it" {
		t.Errorf("none: %v, %q", err, text)
	}
}

type ofGroup struct {
	fs.FileInfo
	mode fs.FileMode
	gid  uint32
}

func (f ofGroup) Mode() fs.FileMode { return f.mode }
func (f ofGroup) Sys() any          { return &syscall.Stat_t{Gid: f.gid} }

func TestWritableByOthers(t *testing.T) { // C66
	own := uint32(os.Getegid())
	const nobody = 4_000_000_001
	for _, tt := range []struct {
		name string
		info ofGroup
		want string
	}{
		{"nobody else", ofGroup{mode: 0o755, gid: nobody}, ""},
		{"all", ofGroup{mode: 0o777, gid: own}, "is writable by every user (mode 0777)"},
		{"root's group", ofGroup{mode: 0o775, gid: 0}, ""},
		{"the user's own group", ofGroup{mode: 0o775, gid: own}, ""},
		{"another group", ofGroup{mode: 0o775, gid: nobody}, "is writable by the group 4000000001 (mode 0775)"},
	} {
		if got := writableByOthers(tt.info); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for file, mode := range map[string]fs.FileMode{filepath.Join(a, "tool"): 0o644, filepath.Join(b, "tool"): 0o755} {
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Find("tool", []string{a, b}); got != filepath.Join(b, "tool") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Find("gone", []string{a, b}); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
