package runner

import (
	"errors"
	"testing"
)

// The longest entry of all lists decides what a command may do with a path; of two that are as long, what hides and keeps comes last.
func TestAccess(t *testing.T) {
	c := &Command{Read: []string{"/a"}, Write: []string{"/a/w", "/a/w/same"}, Keep: []string{"/a/w/.git"}, Hide: []string{"/a/w/.ssh", "/a/w/same"}}
	for path, want := range map[string]Access{
		"/": Hides, "/b": Hides, "/ab": Hides, "/a": MayRead, "/a/x": MayRead, "/a/w": MayWrite, "/a/w/x": MayWrite, "/a/w/.git": MayRead,
		"/a/w/.git/hooks": MayRead, "/a/w/.gitx": MayWrite, "/a/w/.ssh/id": Hides, "/a/w/same": Hides,
	} {
		if got := c.Access(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

// What a sandbox confines follows from its tier; nothing is confined by none.
func TestSandbox(t *testing.T) {
	for tier, want := range map[string][2]bool{
		"A": {true, true}, "B": {true, true}, "C": {false, true}, "D": {true, true}, "E": {false, false}, NoSandbox: {false, false}, "": {false, false},
	} {
		s := &Sandbox{Tier: tier}
		if got := [2]bool{s.ConfinesFiles(), s.ConfinesNetwork()}; got != want {
			t.Errorf("%q: got %v, want %v", tier, got, want)
		}
	}
	var none *Sandbox
	if none.ConfinesFiles() || none.ConfinesNetwork() {
		t.Error("no sandbox confines")
	}
	if s := none.OrNone(); s.Tier != NoSandbox || s.Layers == nil || s.Missing == nil {
		t.Errorf("got %+v", s)
	}
}

func TestTexts(t *testing.T) {
	fault := errors.New("no room")
	e := &SandboxError{Layer: "namespaces", Err: fault, Cure: "Ask."}
	if got, want := e.Error(), "the sandbox has no namespaces: no room. Ask."; got != want || !errors.Is(e, fault) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tt := range []struct {
		u    Undone
		want string
	}{
		{Undone{Path: "/x"}, "it is as before"},
		{Undone{Path: "/x", Moved: "/y"}, "it is as before, and what was made of it is in /y"},
		{Undone{Path: "/x", Err: fault}, "it could not be put back: no room"},
	} {
		if got := tt.u.Text(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
