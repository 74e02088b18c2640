package script

import (
	"sync"
	"time"

	"github.com/agent-base/agent-base/skill"
)

// HelpText is the help of a script.
type HelpText struct {
	Text  string // the whole help
	Usage string // only its usage paragraph, "" without one

	// Described means that the script has no help of its own and was not run: Text is its description (survey.DocText) and
	// Usage the lines of SKILL.md that call it (survey.UsageLines). Both may be "".
	Described bool
}

// helpTTL is how long an answer of Help is kept.
const helpTTL = time.Minute

const maxHelps = 64 // answers that are kept

// helps keeps answers of Help.
type helps struct {
	now func() time.Time

	mu    sync.Mutex
	known map[helpKey]keptHelp
}

// helpKey names the answer of a script.
type helpKey struct {
	skill.ID
	file string
}

type keptHelp struct {
	help  HelpText
	until time.Time
}

// get returns a copy of the answer, nil if there is none or it is too old.
func (c *helps) get(key helpKey) *HelpText {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.known[key]
	if !ok || !c.now().Before(kept.until) {
		return nil
	}
	return &kept.help
}

func (c *helps) put(key helpKey, help *HelpText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for k, kept := range c.known {
		if !now.Before(kept.until) {
			delete(c.known, k)
		}
	}
	if c.known == nil || len(c.known) >= maxHelps {
		c.known = map[helpKey]keptHelp{}
	}
	c.known[key] = keptHelp{*help, now.Add(helpTTL)}
}
