package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Issue 11: no script gets to write what holds everything, what decides which programs run, keys, or the approvals: through links
// neither.
func TestCheckWrite(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/.ssh/sub", "home/notes", "home/.config/x", "state/agent", "state/data"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home"), at("link")); err != nil {
		t.Fatal(err)
	}
	for dir, ok := range map[string]bool{
		"/": false, "/etc": false, "/usr/lib/x": false, at("home"): false, top: false, at("link"): false, at("link/.ssh"): false, at("home/.ssh/sub"): false,
		at("home/.netrc"): false, at("state"): false, at("state/agent"): false, at("state/agent/x"): false,
		at("home/notes"): true, at("link/notes"): true, at("home/.config/x"): true, at("state/data"): true, at("new"): true,
	} {
		err := checkWrite(dir, at("home"), at("state/agent"))
		var f *Failure
		if (err == nil) != ok || err != nil && (!errors.As(err, &f) || f.Exit != ExitDenied) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
	p := &Proposal{userHome: at("home"), own: at("state/agent")}
	for word, ok := range map[string]bool{"write:" + at("home/notes"): true, "write:" + at("home"): false, "write:/": false, "read:" + at("state/agent/x"): false} {
		if err := p.more(&choice{}, word); (err == nil) != ok {
			t.Errorf("%s: got %v", word, err)
		}
	}
}
