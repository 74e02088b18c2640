package gitdir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
)

// A project has the identity of its own folder, wherever that lies; a folder that takes its place has another one, also if it has its number.
// A .git that only claims to be of a repository gives nobody its identity.
func TestIdentity(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system does not say when a folder was made")
	}
	top := paths.Real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, name) }
	make := func(name string) {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	make("repo/.git/objects")
	make("plain")
	make("false")
	if err := os.WriteFile(at("false/.git"), []byte("gitdir: "+at("repo/.git")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	repo, plain := Identity(at("repo")), Identity(at("plain"))
	if repo == "" || plain == "" || repo == plain {
		t.Fatalf("repo %q, plain %q", repo, plain)
	}
	if got := Identity(at("false")); got == repo || Standing(at("false")) != at("false") {
		t.Errorf("a folder that claims to be of a repository has its identity, %q", got)
	}
	if err := os.Rename(at("plain"), at("moved")); err != nil {
		t.Fatal(err)
	}
	if got := Identity(at("moved")); got != plain {
		t.Errorf("moved: %q, want %q", got, plain)
	}
	for range 100 { // some file systems give a number again at once
		if err := os.RemoveAll(at("moved")); err != nil {
			t.Fatal(err)
		}
		make("moved")
		if Identity(at("moved")) == plain {
			t.Fatal("another folder has the identity of one that is gone")
		}
	}
}
