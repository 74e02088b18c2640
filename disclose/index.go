package disclose

import (
	"sync"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Index finds skills of one catalogue for a query. It is immutable and safe for concurrent use.
type Index struct {
	catalog  *skill.Catalog
	entries  []skill.Entry // the skills that a model may see, by canonical name
	triggers *triggers
	words    func() *wordIndex // made by the first search
}

// NewIndex returns an index of the skills of c that a model may see.
func NewIndex(c *skill.Catalog) *Index {
	x := &Index{catalog: c, entries: make([]skill.Entry, 0, c.Len())}
	for e := range c.Visible() {
		x.entries = append(x.entries, e)
	}
	x.triggers = newTriggers(x.entries)
	x.words = sync.OnceValue(func() *wordIndex { return newWordIndex(x.entries) })
	return x
}

// Problems returns the trigger patterns that are not used, with the reasons. The other triggers of their skills work.
func (x *Index) Problems() []manifest.Problem { return x.triggers.problems }
