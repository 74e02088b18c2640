package skill

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// build merges the parts into items, sets their states and collects the problems.
func (c *Catalog) build(ctx context.Context) error {
	all, order := c.ordered()
	j := newJudge(c)
	c.items = make([]item, 0, len(all))
	for i := 0; i < len(order); {
		first, end := &all[order[i].at], i+1
		for end < len(order) && all[order[end].at].name == first.name {
			end++
		}
		it := item{r: first.r, part: first.part}
		if end-i > 1 {
			it.extra = &extra{}
			for _, k := range order[i+1 : end] {
				if s := (item{r: all[k.at].r, part: all[k.at].part}); !c.oneFolder(&it, &s) {
					it.extra.shadows = append(it.extra.shadows, s)
				}
			}
		}
		c.items = append(c.items, it)
		i = end
	}
	c.items = slices.Clip(c.items)
	for i := range c.items {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if j.judge(ctx, &c.items[i]); c.items[i].extra != nil {
			j.shadows(ctx, &c.items[i])
		}
	}
	j.alike()
	j.connect()
	j.selected()
	c.volatile = j.volatile
	c.ofPart, c.problems = j.ofPart, slices.Clip(j.problems)
	return ctx.Err()
}

// oneFolder reports whether two items of one name are one folder that was found in two ways.
func (c *Catalog) oneFolder(a, b *item) bool {
	one, other := c.file(a), c.file(b)
	absolute := filepath.IsAbs(one) && filepath.IsAbs(other)
	one, other = filepath.Dir(one), filepath.Dir(other)
	if absolute && one == other || slices.Contains(c.parts[a.part].folders, other) || slices.Contains(c.parts[b.part].folders, one) {
		return true
	}
	return absolute && a.r.stamp == b.r.stamp && a.r.stamp.Inode != 0 && sameFolder(one, other)
}

// sameFolder reports whether links lead from two paths to one folder.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// keyed is a record with its sort key.
type keyed struct {
	name string // canonical
	r    *record
	part uint16
}

// sortKey stands for a keyed record while it is sorted. Most pairs differ in their prefixes.
type sortKey struct {
	first, second uint64 // the first 16 bytes of the name
	at            uint32 // index of the record
}

// ordered returns all records, and their order by name and then by precedence.
func (c *Catalog) ordered() ([]keyed, []sortKey) {
	n := 0
	for _, p := range c.parts {
		n += len(p.list)
	}
	all, order := make([]keyed, 0, n), make([]sortKey, 0, n)
	for i, p := range c.parts {
		for _, r := range p.list {
			if !c.o.Audience.sees(r) {
				continue
			}
			name := r.canonical()
			order = append(order, sortKey{prefix(name), prefix(name[min(8, len(name)):]), uint32(len(all))})
			all = append(all, keyed{name, r, uint16(i)})
		}
	}
	value := c.layerValues()
	slices.SortFunc(order, func(x, y sortKey) int {
		switch {
		case x.first != y.first:
			return cmp.Compare(x.first, y.first)
		case x.second != y.second:
			return cmp.Compare(x.second, y.second)
		}
		a, b := &all[x.at], &all[y.at]
		if d := strings.Compare(a.name, b.name); d != 0 {
			return d
		}
		return c.before(a, b, value)
	})
	return all, order
}

// prefix returns the first eight bytes of a name as a number that sorts like them.
func prefix(s string) (n uint64) {
	for i := range 8 {
		n <<= 8
		if i < len(s) {
			n |= uint64(s[i])
		}
	}
	return n
}

// before compares two records of one name. It is negative if a takes precedence.
func (c *Catalog) before(a, b *keyed, value map[string]int) int {
	if c.o.Precedence == PrecedencePriority {
		x := value[c.parts[a.part].layer.Name]*1000 + a.r.priority()
		y := value[c.parts[b.part].layer.Name]*1000 + b.r.priority()
		if d := cmp.Compare(y, x); d != 0 {
			return d
		}
	}
	if d := cmp.Compare(a.part, b.part); d != 0 {
		return d
	}
	if d := cmp.Compare(a.defects(), b.defects()); d != 0 {
		return d
	}
	x, y := a.r.path(), b.r.path()
	return cmp.Or(cmp.Compare(strings.Count(x, "/"), strings.Count(y, "/")), strings.Compare(x, y)) // a backup lies deeper
}

// hiddenPath reports whether a path has a hidden folder. What a repository keeps there for one host is often a copy of
// the skill that it develops.
func hiddenPath(path string) bool {
	return path != "." && strings.HasPrefix(path, ".") || strings.Contains(path, "/.")
}

// defects ranks the skills of one name in one place, 0 for the best claim to it: one that can be used, whose folder has the
// name, is not hidden and lies directly in the place or in a folder called skills. The first of these weighs most.
func (k *keyed) defects() (n int) {
	at := k.r.path()
	parent := path.Base(path.Dir(at))
	for _, bad := range []bool{
		k.r.flags&isFatal != 0,
		manifest.Canonical(path.Base(at)) != k.name,
		hiddenPath(at),
		parent != "." && parent != "skills",
	} {
		n *= 2
		if bad {
			n++
		}
	}
	return n
}

// layerValues returns the values of the layers by name: Layer.Value, or the number of the layer, counted from the
// lowest, which is 1.
func (c *Catalog) layerValues() map[string]int {
	value := map[string]int{}
	for _, l := range slices.Backward(c.o.Layers) {
		if _, ok := value[l.Name]; !ok {
			value[l.Name] = cmp.Or(l.Value, len(value)+1)
		}
	}
	return value
}

func (r *record) priority() int {
	if k := r.kept(); k != nil {
		return k.priority
	}
	return 0
}

// shadows judges the skills that an item hides and reports those of its own layer. Hiding a skill of another layer is
// intended.
func (j *judge) shadows(ctx context.Context, it *item) {
	breaks := false
	for i := range it.extra.shadows {
		s := &it.extra.shadows[i]
		j.quiet = true
		j.judge(ctx, s)
		j.quiet = false
		mine, other := j.c.parts[it.part], j.c.parts[s.part]
		if other.layer != mine.layer || other != mine && j.c.o.Duplicates == DuplicatesOverride {
			continue
		}
		if j.c.o.Precedence == PrecedencePriority && s.r.priority() != it.r.priority() {
			continue
		}
		j.duplicate(it, s)
		breaks = breaks || j.c.o.Duplicates == DuplicatesRefuse
	}
	if breaks && it.state != StateBroken {
		it.state, it.extra.why = StateBroken, ruling{CauseDuplicate, "several skills of one layer have this name"}
	}
}

func (j *judge) duplicate(first, second *item) {
	p := manifest.Problem{Code: "name-duplicate", Severity: manifest.SeverityWarning, File: j.c.file(second), Field: "name",
		Message: fmt.Sprintf("skill %q is also in %q, which counts", second.r.name(), j.c.file(first)),
		Cure:    "rename one of the two"}
	if broken := firstFatal(second.r.problems("")); broken != nil {
		p.Message += ", and this one cannot be used: " + broken.Message
		p.Cure = "repair it and rename it, or remove it"
	}
	if j.c.o.Duplicates == DuplicatesRefuse {
		p.Severity = manifest.SeverityError
		p.Message = fmt.Sprintf("skill %q is also in %q, so neither counts", second.r.name(), j.c.file(first))
		p.Cure = "rename one of the two, or remove it"
	}
	j.report(second.part, p)
}

// file returns the name of an item's manifest in problems.
func (c *Catalog) file(it *item) string { return c.parts[it.part].file(it.r.path(), it.r.file()) }
