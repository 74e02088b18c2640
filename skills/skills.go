// Package skills holds the skills that come with the program: kalshi-markets, hello-extended, hello-world and gh. They
// are ordinary skills, embedded from core/ without changes.
//
// It only embeds the files: package skill parses them, and its catalogue decides what may run. The package is safe for
// concurrent use.
package skills

import (
	"embed"
	"io/fs"
)

// Core returns the bundled skills, one directory each, with a SKILL.md in it. It contains every file, including those
// with names that begin with a dot or an underscore, such as toolsets/__init__.py.
func Core() fs.FS {
	sub, err := fs.Sub(core, "core")
	if err != nil {
		panic(err) // cannot happen: "core" is a valid path
	}
	return sub
}

// Examples returns the names of the skills that are there to be read and tried. The agent offers them to a model only if
// somebody names them.
func Examples() []string { return []string{"hello-extended", "hello-world"} }

//go:embed all:core
var core embed.FS
