// Package program identifies a program on this machine and runs it to find its version and, behind a script of a version
// manager (pyenv, asdf, mise), the real program.
//
// The program runs in a folder of the engine and sees nothing of a skill. It gets only the variables of the operator's
// environment that version managers use. This package starts no process itself: the caller supplies the function.
// An Asker is safe for concurrent use.
package program

import (
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/ondisk"
)

// LocalPrograms is the folder of the system in which administrators put links to what they install.
const LocalPrograms = "/usr/local/bin"

// FixedPath is the PATH where none is given.
const FixedPath = "/usr/local/bin:/usr/bin:/bin"

// Identity returns a program's real path and what changes with its content, "" when it cannot be looked at.
func Identity(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil {
		return ""
	}
	return real + " " + ondisk.Facts(info)
}

// IsShim reports whether a program is itself a script that starts another.
func IsShim(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 2)
	n, _ := f.Read(b)
	return n == 2 && string(b) == "#!"
}
