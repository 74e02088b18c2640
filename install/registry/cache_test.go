package registry_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/agent-base/agent-base/install/registry"
)

// R137: stores that share a cache parse the same content once, and see every change.
func TestCache(t *testing.T) {
	s := newStore(t)
	err := s.Edit(t.Context(), func(d *registry.Draft) error {
		for i := range 50 {
			if err := d.Register(entry(fmt.Sprintf("skill-%d", i), "/srv/x")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	load := func(s *registry.Store) (*registry.Set, error) { return s.Load(t.Context()) }
	plain := testing.AllocsPerRun(5, func() { _, _ = load(s) })
	cache := &registry.Cache{}
	one, two := *s, *s
	one.Cache, two.Cache = cache, cache
	if set, err := load(&one); err != nil || set.Len() != 50 {
		t.Fatalf("got %v, %v", set, err)
	}
	if cached := testing.AllocsPerRun(5, func() { _, _ = load(&two) }); cached > plain/2 {
		t.Errorf("%v allocations, and %v without a cache", cached, plain)
	}
	if err := one.Register(t.Context(), entry("another", "/srv/y")); err != nil {
		t.Fatal(err)
	}
	if set, err := load(&two); err != nil || set.Len() != 51 {
		t.Errorf("after a change: %d entries, %v", set.Len(), err)
	}
	if err := os.WriteFile(s.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if set, err := load(&two); !errors.Is(err, registry.ErrCorrupt) || set.Len() != 0 {
		t.Errorf("a damaged file: %d entries, %v", set.Len(), err)
	}
}
