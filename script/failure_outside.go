package script

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of the search for a module outside of a skill.
const (
	mostLevels   = 5   // folders above the skill
	mostSiblings = 500 // entries of each
	mostBeside   = 20  // scripts beside a script that are read
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
		if at := filepath.Join(dir, d.Name()); d.IsDir() && at != except && !strings.HasPrefix(d.Name(), ".") {
			places = append(places, at)
		}
	}
	for _, place := range places {
		for _, file := range []string{filepath.Join(place, module+".py"), filepath.Join(place, module, "__init__.py")} {
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				return file
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

// Above is the cause of an Error of a script that failed, and that looks for files outside of its skill, which it does not see.
type Above struct {
	Dir string // the folder that holds the skill
}

// Error says what the script does not get.
func (a *Above) Error() string {
	return "it looks for files in " + a.Dir + ", outside of the skill, and does not get them"
}

var notThere = lazyregexp.New(`(?i)not found|no such file|cannot find|can't find|could not find|missing|does not exist|not installed|ENOENT`)

// above recognises a script that fails for want of a file, and whose text goes from its own place to a folder above the skill that
// it does not get: the folder is not readable, or the script runs from a copy of the skill. A failure that names an argument is
// about that.
func (c *call) above(ctx context.Context, cmd *runner.Command, out *runner.Output) *Above {
	said := string(out.Stdout[max(0, len(out.Stdout)-saidMax):]) + "\n" + string(out.Stderr)
	if !notThere().MatchString(said) || slices.ContainsFunc(c.args, func(arg string) bool { return len(arg) > 2 && strings.Contains(said, arg) }) ||
		!c.looksAbove() {
		return nil
	}
	file, err := c.s.Entry().Location(ctx)
	if err != nil {
		return nil
	}
	place := paths.Real(filepath.Dir(file))
	runs, err := c.s.Dir(ctx)
	dir := filepath.Dir(place)
	if err != nil || paths.Real(runs) == place && paths.Within(slices.Concat(cmd.Read, cmd.Write), dir) {
		return nil
	}
	return &Above{Dir: dir}
}

// looksAbove reports whether the script, or another one beside it that it may import, goes from its own place to a folder above
// the skill.
func (c *call) looksAbove() bool {
	for _, sc := range append([]Script{c.sc}, beside(c.s, c.sc)...) {
		if survey.LooksAbove(sc.File, survey.Beginning(c.s.FS(), sc.File)) {
			return true
		}
	}
	return false
}

// beside returns the scripts in the folder of a script, up to a limit.
func beside(s *skill.Skill, sc Script) []Script {
	all := survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable()
	all = slices.DeleteFunc(all, func(other Script) bool { return other.File == sc.File || path.Dir(other.File) != path.Dir(sc.File) })
	return all[:min(len(all), mostBeside)]
}
