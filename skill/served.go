package skill

import (
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// written returns the record of the skill with the name that its manifest has.
func (r *record) written() *record {
	if r.more != nil && r.more.plain != nil {
		return r.more.plain
	}
	return r
}

// nameServed gives the skills of servers that have the name of another skill names of their own. It uses the records that old has.
func (c *Catalog) nameServed(old *Catalog) {
	if !c.serves() {
		return
	}
	count, own := map[string]int{}, make([]map[string]int, len(c.parts)) // skills by name: of all parts, and of each
	for i, p := range c.parts {
		own[i] = map[string]int{}
		for _, r := range p.list {
			count[r.canonical()]++
			own[i][r.canonical()]++
		}
	}
	for i, p := range c.parts {
		if p.layer.Server == "" {
			continue
		}
		known := map[*record]*record{}
		if old != nil {
			for _, r := range old.parts[i].list {
				known[r.written()] = r
			}
		}
		for k, r := range p.list {
			name := r.canonical()
			if count[name] == 1 {
				continue
			}
			served := p.layer.Server + ":" + r.name()
			if own[i][name] > 1 {
				served = p.layer.Server + ":" + strings.ReplaceAll(r.path(), "/", ":")
			}
			p.list[k] = r.as(free(served, count), known[r])
		}
	}
}

// serves reports whether a layer is that of a server.
func (c *Catalog) serves() bool {
	for _, p := range c.parts {
		if p.layer.Server != "" {
			return true
		}
	}
	return false
}

// free returns a name that no skill has, and takes it.
func free(name string, count map[string]int) string {
	for n := 1; ; n++ {
		out := name
		if n > 1 {
			out += "-" + strconv.Itoa(n)
		}
		if canonical := manifest.Canonical(out); count[canonical] == 0 {
			count[canonical] = 1
			return out
		}
	}
}

// as returns a record with another name, which is the one that was made before if that has it.
func (r *record) as(name string, before *record) *record {
	if before != nil && before != r && before.name() == name {
		return before
	}
	out, more := *r, *r.more
	more.plain, more.name, more.canonical = r, name, manifest.Canonical(name)
	out.more = &more
	return &out
}
