package skill

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Refresh returns a catalogue of the current state. It reads only manifests whose size, times or inode changed, and
// returns c itself if nothing changed. When ctx is done it returns c, unchanged, and the error of ctx.
func (c *Catalog) Refresh(ctx context.Context) (*Catalog, error) {
	n := newCatalog(&c.o)
	if err := n.look(ctx, c); err != nil {
		n.release()
		return c, err
	}
	same := n.sameFiles(c)
	if same && !c.volatile {
		n.release()
		return c, nil
	}
	if err := n.build(ctx); err != nil {
		n.release()
		return c, err
	}
	if same && n.sameStates(c) {
		n.release()
		return c, nil
	}
	return n, nil
}

// release closes the handles of a catalogue that is not returned to the caller.
func (c *Catalog) release() {
	for _, p := range c.parts {
		if p.root != nil {
			p.root.Close()
			p.root = nil
		}
	}
}

func (c *Catalog) sameFiles(old *Catalog) bool {
	for i, p := range c.parts {
		o := old.parts[i]
		if !slices.Equal(p.list, o.list) || !slices.Equal(p.notes, o.notes) || (p.root == nil) != (o.root == nil) {
			return false
		}
		if p.root != nil && !p.root.Same(o.root) {
			return false
		}
	}
	return true
}

func (c *Catalog) sameStates(old *Catalog) bool {
	if !slices.Equal(c.problems, old.problems) || !slices.EqualFunc(c.ofPart, old.ofPart, slices.Equal[[]manifest.Problem]) || len(c.items) != len(old.items) {
		return false
	}
	for i := range c.items {
		if !c.items[i].same(&old.items[i]) {
			return false
		}
	}
	return true
}

// same reports whether two items, and what they hide, are the same skills in the same states.
func (it *item) same(o *item) bool {
	return it.state == o.state && it.why() == o.why() && it.r == o.r && it.part == o.part &&
		slices.EqualFunc(it.shadows(), o.shadows(), func(a, b item) bool { return a.same(&b) })
}
