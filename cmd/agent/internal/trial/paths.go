package trial

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
)

func base(p string) string { return path.Base(filepath.ToSlash(p)) }

func dirOf(p string) string { return path.Dir(filepath.ToSlash(p)) }

// maxEntries is how many files and folders of a skill are looked at.
const maxEntries = 10_000

// files returns the slash paths of the regular files below some folders of a skill that keep accepts. It leaves out hidden
// files and folders, node_modules and what belongs to no skill.
func files(fsys fs.FS, folder string, keep func(name string) bool) []string {
	var out []string
	seen := 0
	_ = fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxEntries:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case name == folder:
		case strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || content.Leftover(fsys, name) != "":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && keep(name):
			out = append(out, name)
		}
		return nil
	})
	return out
}
