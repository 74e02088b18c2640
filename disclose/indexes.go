package disclose

import (
	"sync"

	"github.com/agent-base/agent-base/skill"
)

// Indexes keeps the index of a catalogue for all conversations that use it, so that it is made once: a server has one Indexes for
// each catalogue that it refreshes. The zero value is ready to use. It is safe for concurrent use.
type Indexes struct {
	mu    sync.Mutex
	of    *skill.Catalog
	index *Index // of it
}

// Of returns the index of c. It is kept until Of is called for another catalogue.
func (x *Indexes) Of(c *skill.Catalog) *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of != c {
		x.of, x.index = c, NewIndex(c)
	}
	return x.index
}
