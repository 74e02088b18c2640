package walk

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/obeyed"
)

// every stands for the names of all hidden folders.
const every = "*"

// hidden returns the names of the hidden folders that the walk searches in a folder. "." is the root.
func (r *Root) hidden(dir string) []string {
	switch {
	case !r.o.Nested:
		return nil
	case dir == ".":
		dir = filepath.ToSlash(r.path)
	}
	return obeyed.SkillFolders(path.Base(dir))
}

// ignored reports whether a folder of this name is never searched. hidden has the exceptions.
func ignored(name string, hidden []string) bool {
	switch {
	case name == "." || name == "..":
		return true
	case name[0] == '.':
		return !slices.Contains(hidden, name) && !slices.Contains(hidden, every)
	}
	return name == "node_modules"
}

// parts are the folders of a skill that hold no other skills.
var parts = [...]string{"scripts", "references", "reference", "resources", "assets", "toolsets", "templates", "template", "examples", "tests", "evals"}

// Collection reports whether a walk goes on below a folder although it has a manifest: below the root, and below a folder called
// "skills", except for what Part says.
func Collection(dir string, root bool) bool { return root || path.Base(dir) == "skills" }

// Part reports whether a folder of this name is part of the skill of the collection that it lies in.
func Part(name string) bool { return slices.Contains(parts[:], name) }

// Searched reports whether a nested walk searches a folder of this name in a folder called parent.
func Searched(parent, name string) bool { return !ignored(name, obeyed.SkillFolders(parent)) }
