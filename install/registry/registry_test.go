package registry_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install/registry"
)

func newStore(t *testing.T) *registry.Store {
	t.Helper()
	return &registry.Store{Path: filepath.Join(t.TempDir(), "skills", "registry.json"), Now: func() time.Time { return time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC) }}
}

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func entry(name, dir string) registry.Entry {
	return registry.Entry{Name: name, InstalledPath: dir, Digest: digest("a"), Source: "owner/" + name, Kind: "git"}
}

// R137: register, get in any spelling, list in order, update, unregister.
func TestLifeOfAnEntry(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"zeta", "Alpha_One", "mid"} {
		if err := s.Register(t.Context(), entry(name, "/srv/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range set.All() {
		names = append(names, e.NameCanonical)
	}
	if got := strings.Join(names, " "); got != "alpha-one mid zeta" {
		t.Errorf("order %s", got)
	}
	if e, ok := set.Get("ALPHA-one"); !ok || e.Name != "Alpha_One" {
		t.Errorf("got %+v, %v", e, ok)
	}
	var dup *registry.DuplicateError
	err = s.Register(t.Context(), registry.Entry{Name: "alpha_one", InstalledPath: "/other", Source: "their/place"})
	if !errors.As(err, &dup) || !strings.Contains(err.Error(), "their/place") || !strings.Contains(err.Error(), "owner/Alpha_One") {
		t.Errorf("got %v", err)
	}
	if err := s.Update(t.Context(), "alpha-one", func(e *registry.Entry) error {
		e.Digest, e.InstalledPath = digest("b"), "/srv/new"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	was, err := s.Unregister(t.Context(), "ALPHA_ONE")
	if err != nil || len(was.Previous) != 1 || was.Previous[0].Digest != digest("a") || was.UpdatedAt.IsZero() {
		t.Errorf("got %+v, %v", was, err)
	}
	if _, err := s.Unregister(t.Context(), "alpha-one"); !errors.Is(err, registry.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}
