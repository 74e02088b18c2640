// Package survey examines a skill's files without executing anything: which of them are scripts, and their names, languages
// and #! lines.
//
// Only this package decides which files are scripts, for the callers that list scripts, run them, and keep their text from
// a model. There are two answers, with one rule behind both:
//
//   - [Runnable] has every file below scripts/, bin/ and tools/ that this engine knows how to run: one with the extension
//     of a known language, one that begins with #!, and an executable program. A model is not given the text of these.
//   - [List] has those of them that are offered by name: they lie directly in scripts/, and neither the manifest nor
//     their own name excludes them.
//
// It also reads what the text of a script shows: which flags it has ([KnowsJSON], [KnowsHelp]), what its author says about
// it ([DocText]), and whether it is a module of a Python package ([Module]).
//
// A symbolic link is not a script; its target is judged where it lies. Compare a file with a script by the
// file's identity (os.SameFile), not by its path.
//
// Everything in a skill is hostile: reads are bounded, and a folder with too many files is an error.
package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Dir is the folder of a skill that holds its scripts. Scripts that are listed lie directly in it.
const Dir = "scripts"

// folders are where files may be run from.
var folders = []string{Dir, "bin", "tools"}

// MaxFiles is the most files of a skill's folder that are examined.
const MaxFiles = 10_000

// ErrTooMany is returned for a folder with more than MaxFiles files, whose scripts are therefore not known.
var ErrTooMany = errors.New("too many files to tell scripts from other files")

// Runnable returns the slash paths of all files of a skill that can be run, in the order of their folders and names. A
// missing or unreadable folder has none. The error wraps ErrTooMany.
func Runnable(fsys fs.FS) ([]string, error) {
	var out []string
	for _, dir := range folders {
		if !isFolder(fsys, dir) {
			continue
		}
		seen := 0
		err := fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // an unreadable folder has no scripts
			}
			if seen++; seen > MaxFiles {
				return fmt.Errorf("%w: more than %d in %s/", ErrTooMany, MaxFiles, dir)
			}
			if isScript(fsys, path.Dir(p), d) {
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isFolder reports whether an entry of the skill's folder is itself a folder, not a link to one.
func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Lstat(fsys, name)
	return err == nil && info.IsDir()
}
