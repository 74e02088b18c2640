package disclose

import (
	"sync"
	"testing"

	"github.com/agent-base/agent-base/skill"
)

// All who ask for the index of a catalogue get the same one, until it is asked for another catalogue.
func TestIndexes(t *testing.T) {
	var x Indexes
	first, second := &skill.Catalog{}, &skill.Catalog{}
	got := make([]*Index, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = x.Of(first) })
	}
	all.Wait()
	for _, one := range got {
		if one == nil || one != got[0] {
			t.Fatalf("got %p and %p for one catalogue", one, got[0])
		}
	}
	if next := x.Of(second); next == got[0] || next.catalog != second || x.Of(second) != next {
		t.Error("the index is not that of the catalogue")
	}
}
