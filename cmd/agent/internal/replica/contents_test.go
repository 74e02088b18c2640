package replica

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/state"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill"
)

// kept puts a skill with a text into the store of a replica, and returns its entry.
func kept(t *testing.T, r *Replica, name, text string) registry.Entry {
	t.Helper()
	stage, err := r.store().Stage(t.Context())
	must(t, err)
	defer stage.Close()
	dir := filepath.Join(stage.Dir, name)
	must(t, os.MkdirAll(filepath.Join(dir, "scripts"), 0o700),
		os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Says a text.\n---\n"+text), 0o600),
		os.WriteFile(filepath.Join(dir, "scripts", "say.sh"), []byte("echo "+text), 0o700))
	sum, err := dirhash.Dir(t.Context(), os.DirFS(dir), nil)
	must(t, err)
	path, err := stage.Keep(t.Context(), name, name, sum.Digest)
	must(t, err)
	return registry.Entry{Name: name, Digest: sum.Digest, Kind: "folder", Source: "/x", InstalledPath: path}
}

// The content of a listed skill comes to another machine as it was, and is gone when the list does not name it. One that is not what its digest
// says does not stay.
func TestContents(t *testing.T) {
	first, _ := opened(t, "")
	first.o.Installed = scratch.Dir(t)
	o, ctx := first.o, t.Context()
	o.Installed = scratch.Dir(t)
	second := New(&o)
	defer second.Close()
	a, b := kept(t, first, "a", "one"), kept(t, first, "b", "two")
	must(t, first.Skills().Register(ctx, a), first.Skills().Register(ctx, b))
	fetch := func(name string) (registry.Entry, error) {
		set, err := second.Skills().Load(ctx)
		must(t, err)
		e, _ := set.Get(name)
		return e, second.Skills().Fetch(ctx, &e)
	}
	e, err := fetch("a")
	if err != nil || e.InstalledPath == a.InstalledPath || store.Verify(ctx, e.InstalledPath, a.Digest) != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if info, err := os.Stat(filepath.Join(e.InstalledPath, "scripts", "say.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	s, err := first.open(ctx)
	must(t, err)
	there := func(e registry.Entry) bool {
		list, err := s.Contents(ctx)
		must(t, err)
		return list[e.Digest]
	}
	_, err = first.Skills().Unregister(ctx, "a")
	if must(t, err); there(a) || !there(b) {
		t.Error("a removed content stays, or another one is gone")
	}

	// What lies under the digest of b is another content: it is refused, and tried again only after a while.
	must(t, s.DropContent(ctx, b.Digest, 0))
	must(t, s.PutContent(ctx, b.Digest, func(w io.Writer) error {
		k, err := content.At(ctx, e.InstalledPath, skill.ID{Layer: place.Version(a.Digest), Name: "a", Digest: a.Digest})
		must(t, err)
		defer k.Close()
		return content.Pack(ctx, w, k)
	}))
	wrong := new(store.IntegrityError)
	if e, err = fetch("b"); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
	must(t, s.DropContent(ctx, b.Digest, 0))
	if _, again := fetch("b"); again == nil || again.Error() != err.Error() {
		t.Errorf("%v", again)
	}
	clear(second.tried)
	if _, err := fetch("b"); !errors.Is(err, state.ErrNoContent) {
		t.Errorf("%v", err)
	}
	if left := second.store().Versions(); slices.Contains(left, e.InstalledPath) {
		t.Errorf("it stays: %v", left)
	}

	// The machine that has it gives it to the fleet again, also after another one was killed while it did. A call that gives up keeps no other
	// one from getting it.
	_, err = first.node.Conn().RequestWithContext(ctx, "content."+b.Digest+".of.KILLED", []byte("half"))
	must(t, err, second.Tidy(ctx), first.Tidy(ctx))
	clear(second.tried)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := second.Skills().Fetch(gone, &e); err == nil {
		t.Error("a call that has given up gets it")
	}
	if _, err := fetch("b"); err != nil || !there(b) {
		t.Errorf("%v", err)
	}

	// A content that this machine does not have as it was is not given, and nothing is listed then.
	c := kept(t, first, "c", "three")
	file := filepath.Join(c.InstalledPath, "SKILL.md")
	must(t, os.Chmod(file, 0o600), os.WriteFile(file, []byte("---\nname: c\ndescription: Another.\n---\n"), 0o600))
	if err := first.Skills().Register(ctx, c); !errors.As(err, &wrong) || !strings.Contains(err.Error(), `the content of skill "c" is not shared`) {
		t.Errorf("%v", err)
	}
	set, err := first.Skills().Load(ctx)
	if _, listed := set.Get("c"); err != nil || listed || there(c) {
		t.Errorf("%v, %v", listed, err)
	}

	// Tidy removes what no list names, but nothing where a newer program has written the list.
	f := registry.Entry{Digest: digest("f")}
	must(t, s.PutContent(ctx, f.Digest, func(io.Writer) error { return nil }), first.Tidy(ctx))
	if !there(f) {
		t.Error("what is new is removed")
	}
	first.o.unnamed = 1
	if must(t, first.Tidy(ctx)); there(f) || !there(b) {
		t.Error("what no list names stays, or what it names is removed")
	}
	must(t, first.skills(nil).Transform(ctx, func([]byte) (document.Change, error) {
		return document.Change{Content: []byte(`{"version":99,"skills":[]}`)}, nil
	}))
	if err := first.Tidy(ctx); !errors.Is(err, registry.ErrNewer) || !there(b) {
		t.Errorf("%v", err)
	}
}
