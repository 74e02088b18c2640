// Package skills holds the skills that come with the program: kalshi-markets, hello-extended,
// hello-world and gh (R162-R165). They are ordinary skills, embedded as they lie in core/.
//
// It reads nothing and runs nothing: what a skill means is the business of package skill, and
// whether it may run is its catalogue's. Everything here may be used by many goroutines at once.
package skills

import (
	"embed"
	"io/fs"
)

// Core returns the bundled skills, one directory each, with a SKILL.md in it. Every file is there,
// also those whose names begin with a dot or an underscore, such as toolsets/__init__.py.
func Core() fs.FS {
	sub, err := fs.Sub(core, "core")
	if err != nil {
		panic(err) // only if "core" were no valid path
	}
	return sub
}

//go:embed all:core
var core embed.FS
