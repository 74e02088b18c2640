package script

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/survey"
)

// Limits of the search for a module outside of a skill.
const (
	mostLevels   = 5   // folders above the skill
	mostSiblings = 500 // entries of each
)

// outside returns the file of a module of Python that lies near the skill and not in it, and the nearest folder that holds both;
// "" if there is none. A script that changes where Python looks for modules may mean code that it shares with other skills of
// its repository.
func (h *Host) outside(ctx context.Context, c *call, module string) (around, file string) {
	if !bytes.Contains(survey.Beginning(c.s.FS(), c.sc.File), []byte("sys.path")) || survey.KnownPackage(module) {
		return "", ""
	}
	location, err := c.s.Entry().Location(ctx) // the skill itself, where a sealed copy of it runs
	if err != nil {
		return "", ""
	}
	first, _, _ := strings.Cut(module, ".")
	below := paths.Real(filepath.Dir(location))
	home := paths.Real(h.operatorHome())
	for range mostLevels {
		dir := filepath.Dir(below)
		if dir == below || home != "" && paths.Within([]string{dir}, home) {
			return "", ""
		}
		if found := moduleNear(dir, below, first); found != "" {
			return dir, found
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "", "" // the end of the repository
		}
		below = dir
	}
	return "", ""
}

// moduleNear returns the path of a module in a folder, or in a folder of it other than one.
func moduleNear(dir, except, module string) string {
	places := []string{dir}
	for _, d := range firstEntries(dir) {
		if path := filepath.Join(dir, d.Name()); d.IsDir() && path != except && !strings.HasPrefix(d.Name(), ".") {
			places = append(places, path)
		}
	}
	for _, place := range places {
		for _, path := range []string{filepath.Join(place, module+".py"), filepath.Join(place, module, "__init__.py")} {
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}

// firstEntries returns what is in a folder, up to a limit; nothing if it cannot be read.
func firstEntries(dir string) []os.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(mostSiblings)
	return list
}
