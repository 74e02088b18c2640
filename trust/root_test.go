package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder with the home in it, or with what every user puts there, is not trusted as a whole.
func TestAddRootIsNotTooWide(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, everyones := filepath.Join(top, "home"), filepath.Join(top, "tmp")
	for _, dir := range []string{filepath.Join(home, "skills"), everyones} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(everyones, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("home", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ home, dir, want string }{
		{home, home, "your whole home"},
		{home, top, "your whole home"},
		{filepath.Join(top, "link"), home, "your whole home"},
		{home, everyones, "every user of this machine"},
		{home, filepath.Join(home, "skills"), ""},
		{"", home, ""},
	} {
		s := &Store{Path: filepath.Join(t.TempDir(), "trust.json"), Home: tt.home}
		err := s.AddRoot(t.Context(), tt.dir)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("home %q, folder %s: got %v, want %q", tt.home, tt.dir, err, tt.want)
		}
	}
}
