package scan

import (
	"path"
	"path/filepath"
	"slices"
)

// searched has the names of the hidden folders that are searched. A folder called "skills" is searched for all of them, any
// other folder for the first hosts of them: those in which hosts keep skills.
var searched = [...]string{
	".agents", ".agent", ".claude", ".codex", ".gemini", ".github", ".cursor", ".opencode", ".qwen", ".kiro",
	".curated", ".system", ".experimental",
}

const hosts = 10

// every stands for the names of all hidden folders.
const every = "*"

// history has the names of the hidden folders of version control, in which nobody keeps skills.
var history = [...]string{".git", ".hg", ".svn", ".jj"}

// hiddenIn returns the names of the hidden folders that are searched in a folder called parent.
func hiddenIn(parent string) []string {
	if parent == "skills" {
		return searched[:]
	}
	return searched[:hosts]
}

// hidden returns the names of the hidden folders that the walk searches in a folder. "." is the root.
func (r *Root) hidden(dir string) []string {
	switch {
	case !r.o.Nested:
		return nil
	case dir == ".":
		dir = filepath.ToSlash(r.path)
	}
	return hiddenIn(path.Base(dir))
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
func Searched(parent, name string) bool { return !ignored(name, hiddenIn(parent)) }
