package confine

import (
	"path/filepath"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/paths"
)

// addProgram adds the program of a command to the view: its file, and the installation that it belongs to.
func (v *view) addProgram(path string) {
	real, links, err := paths.Resolve(path)
	if err != nil {
		return // starting it says what is wrong
	}
	v.addLinks(links)
	for _, l := range links {
		if root := installation(l.Path); root != "" {
			v.add(entry{path: root, kind: readable, optional: true})
		}
	}
	if root := installation(real); root != "" {
		v.add(entry{path: root, kind: readable, optional: true})
		return
	}
	v.add(entry{path: real, kind: readable, optional: true})
}

// installation returns the folder that an interpreter was installed into, with its libraries. It returns "" for a program that lies
// in a folder with other things, such as a home folder.
func installation(program string) string {
	bin := filepath.Dir(program)
	root := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || root == "/" || root == "/usr" || root == "/usr/local" { // every command sees /usr
		return ""
	}
	for _, sign := range language.Signs() {
		found, err := filepath.Glob(filepath.Join(root, sign))
		if err == nil && len(found) > 0 {
			return root
		}
	}
	return ""
}
