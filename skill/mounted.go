package skill

import (
	"fmt"
	"path"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Mounted returns the slash path of the skill's folder in a workspace in which the root of its layer is mounted at Mount:
// "skills/pdf", or "skills/office/pdf" for a folder below others. A model is told this path, and a host makes the folder readable
// there. Of two skills whose folders would have one path, the second by name has its name in place of its folder. The answer is ""
// for a command, which is a file among others, see Commands, and for a skill of a server, which has no folder.
func (e Entry) Mounted() string {
	if _, command := e.part().source.(*commandSource); command || e.Server() != "" {
		return ""
	}
	if at, ok := e.c.mounts()[e.it]; ok {
		return at
	}
	return e.mountedAs(e.folder())
}

// folder returns the path of the skill's folder below the root of its layer. A root that is the skill itself has the skill's name.
func (e Entry) folder() string {
	if dir := e.Path(); dir != "" && dir != "." {
		return dir
	}
	return e.Name()
}

func (e Entry) mountedAs(dir string) string { return path.Join(e.Mount(), dir) }

// findMounts returns the paths of the skills whose folders have that of another one.
func (c *Catalog) findMounts() map[*item]string {
	var out map[*item]string
	taken := make(map[string]bool, len(c.items))
	for i := range c.items {
		e := Entry{c, &c.items[i]}
		if e.State() != StateEnabled && e.State() != StateHidden || e.Server() != "" {
			continue
		}
		at := e.mountedAs(e.folder())
		for n := 1; taken[manifest.Canonical(at)]; n++ {
			if at = e.mountedAs(e.Canonical()); n > 1 {
				at = fmt.Sprintf("%s-%d", at, n)
			}
			if out == nil {
				out = map[*item]string{}
			}
			out[e.it] = at
		}
		taken[manifest.Canonical(at)] = true
	}
	return out
}
