package skill

import (
	"path"
	"path/filepath"
	"slices"
)

// dropLinks removes the notes about links whose target another source reads at its own place: nothing is lost by not
// following them. Installers make such links, as .claude/skills/x to .agents/skills/x.
func (c *Catalog) dropLinks() {
	if !slices.ContainsFunc(c.parts, func(p *part) bool { return len(p.links) > 0 }) {
		return
	}
	read := map[string]bool{}
	for _, p := range c.parts {
		p.addFolders(read)
	}
	for _, p := range c.parts {
		for _, l := range slices.Backward(p.links) {
			if read[l.target] {
				p.notes = slices.Delete(p.notes, l.note, l.note+1)
			}
		}
		p.links = nil
	}
}

// addFolders adds the folders of the part's skills, and those between them and the root, without symbolic links.
func (p *part) addFolders(read map[string]bool) {
	for _, dir := range p.folders {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			read[real] = true
		}
	}
	s, ok := p.source.(*dirSource)
	if !ok {
		return
	}
	root, err := filepath.EvalSymlinks(s.abs)
	if err != nil {
		return
	}
	read[root] = true
	for _, r := range p.list {
		for dir := r.path(); dir != "."; dir = path.Dir(dir) {
			full := filepath.Join(root, filepath.FromSlash(dir))
			if read[full] {
				break
			}
			read[full] = true
		}
	}
}
