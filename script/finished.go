package script

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finished finds an environment for a machine that has no uv (C29): of those that any uv completed for this block and
// source of packages the one that was resolved last, and whose files are as they were. It must be of the Python that
// is there; where none is, of one that only uv had found and that is still the same. It reports whether there is one.
func (e *environmentOf) finished() bool {
	entries, _ := os.ReadDir(filepath.Join(e.h.Cache, "python"))
	var all []*environmentOf
	for _, d := range entries {
		key, ok := strings.CutSuffix(d.Name(), ".json")
		if !ok || !strings.HasPrefix(key, e.wanted()) {
			continue
		}
		c := *e
		c.key = key
		c.record = readRecord(c.path(".json"), key)
		if c.ofThisPython() {
			all = append(all, &c)
		}
	}
	slices.SortFunc(all, func(a, b *environmentOf) int { return b.record.Resolved.Compare(a.record.Resolved) })
	i := slices.IndexFunc(all, func(c *environmentOf) bool { return c.look() == "" })
	if i < 0 {
		return false
	}
	*e = *all[i]
	return true
}

// ofThisPython reports whether the Python that made the environment is as it was, and the one to use.
func (e *environmentOf) ofThisPython() bool {
	now := identity(e.record.Base)
	return now != "" && now == e.record.BaseFacts && (e.base == "" || now == identity(e.base))
}
