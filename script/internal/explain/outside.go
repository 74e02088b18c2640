package explain

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Limits of the search for a module outside of a skill.
const (
	mostLevels   = 5      // folders above the skill
	mostSiblings = 500    // entries of each
	mostBeside   = 20     // scripts beside a script that are read
	mostFiles    = 20_000 // files and folders below the folder above a skill
)

// outside returns the file of a module of Python that lies near the skill and not in it, and the nearest folder that holds both;
// "" if there is none. A script that changes where Python looks for modules may mean code that it shares with other skills of
// its repository.
func (r *Run) outside(ctx context.Context, module string) (around, file string) {
	if !bytes.Contains(survey.Beginning(r.Skill.FS(), r.Script.File), []byte("sys.path")) || survey.KnownPackage(module) {
		return "", ""
	}
	location, err := r.Skill.Entry().Location(ctx) // the skill itself, where a sealed copy of it runs
	if err != nil {
		return "", ""
	}
	first, _, _ := strings.Cut(module, ".")
	below := paths.Real(filepath.Dir(location))
	home := paths.Real(r.Home)
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

// linkedModule returns where a link beside a script, or in the skill's folder, leads that has the name of a module, if that is outside of
// the skill, and the nearest folder that holds both; "" for a folder that holds the home, and if there is no such link.
func (r *Run) linkedModule(ctx context.Context, module string) (around, file string) {
	dir, err := r.Skill.Dir(ctx)
	if err != nil {
		return "", ""
	}
	real, home := paths.Real(dir), paths.Real(r.Home)
	first, _, _ := strings.Cut(module, ".")
	for _, place := range []string{filepath.Join(dir, filepath.FromSlash(path.Dir(r.Script.File))), dir} {
		for _, name := range []string{first + ".py", first} {
			to, err := filepath.EvalSymlinks(filepath.Join(place, name))
			if err != nil || paths.Within([]string{real}, to) {
				continue
			}
			for around = filepath.Dir(real); !paths.Within([]string{around}, to); {
				around = filepath.Dir(around)
			}
			if home == "" || paths.Within([]string{around}, home) {
				around = ""
			}
			return around, to
		}
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

// filesAbove is the cause of an Error of a script that failed, and that looks for files outside of its skill, which it does not see.
type filesAbove struct {
	Dir    string // the folder above the skill to which its text goes; "" if the skill's own folder alone was copied here
	copied bool   // it may see that folder, but a copy of the skill runs, which has not the folder around it
}

// wants returns the folder, if there is one.
func (a *filesAbove) wants() want.Set {
	if a.copied {
		return nil
	}
	return aroundOf(a.Dir)
}

// aroundOf returns the want of a folder around a skill; nothing for "".
func aroundOf(dir string) want.Set {
	if dir == "" {
		return nil
	}
	return want.Each(want.Around, want.Seen, dir)
}

// Error says what the script does not get.
func (a *filesAbove) Error() string {
	if a.Dir == "" {
		return "it looks for files outside of the skill's folder, " + onlyFolder
	}
	if a.copied {
		return "it looks for files in " + a.Dir + ", outside of the skill: a copy of the skill runs, because it was granted something for its " +
			"present content, and these files are not beside the copy"
	}
	return "it looks for files in " + a.Dir + ", outside of the skill, and does not get them"
}

// onlyFolder ends what is said of a skill that lacks what was around it.
const onlyFolder = "and only that folder was installed: use the skill from a clone of its repository"

// isAlone reports whether a skill was copied here without what was around it.
func (r *Run) isAlone(ctx context.Context) bool {
	at, err := r.Skill.Entry().Place(ctx)
	return err == nil && place.IsVersion(at)
}

var notThere = lazyregexp.New(`(?i)not (?:found|installed)|cannot find|no such file|ENOENT`)

// above recognises a script that fails for want of a file, and whose text goes from its own place to a folder above the skill,
// which it was not given. A failure that names an argument is about that.
func (r *Run) above(ctx context.Context) *filesAbove {
	said := string(output.Both(r.Out))
	if !notThere().MatchString(said) || slices.ContainsFunc(r.Args, func(arg string) bool { return len(arg) > 2 && strings.Contains(said, arg) }) {
		return nil
	}
	if r.isAlone(ctx) && r.looksAbove() > 0 {
		return &filesAbove{}
	}
	dir := r.folderAbove(ctx)
	shared := paths.Without(slices.Concat(r.Cmd.Read, r.Cmd.Write), append(slices.Clone(r.Here), r.Workspace)) // a copy of the skill is not in these
	sees := paths.Within(shared, dir)
	if dir == "" || sees && len(r.Cmd.Read) > 0 && paths.WithinReal(dir, r.Cmd.Read[0]) { // what ran is beside what it looks for
		return nil
	}
	return &filesAbove{Dir: dir, copied: sees}
}

// folderAbove returns the folder above the skill to which the text of a script goes, "" if it goes to none, or to one that has
// more than skills.
func (r *Run) folderAbove(ctx context.Context) string {
	levels := r.looksAbove()
	if levels == 0 || levels > mostLevels || r.isAlone(ctx) {
		return ""
	}
	file, err := r.Skill.Entry().Location(ctx)
	if err != nil {
		return ""
	}
	dir := paths.Real(filepath.Dir(file))
	for range levels {
		dir = filepath.Dir(dir)
	}
	home := paths.Real(r.Home)
	if dir == filepath.Dir(dir) || home != "" && paths.Within([]string{dir}, home) {
		return ""
	}
	return dir
}

// withoutShared returns modules of Python without those that have a file below a folder: no package is meant by their names.
func withoutShared(modules []string, dir string) []string {
	if dir == "" || len(modules) == 0 {
		return modules
	}
	seen, left := map[string]bool{}, mostFiles
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil {
			return fs.SkipDir
		}
		switch name := d.Name(); {
		case d.IsDir() && at != dir && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case name == "__init__.py":
			seen[filepath.Base(filepath.Dir(at))] = true
		case strings.HasSuffix(name, ".py"):
			seen[strings.TrimSuffix(name, ".py")] = true
		}
		return nil
	})
	return slices.DeleteFunc(slices.Clone(modules), func(module string) bool {
		first, _, _ := strings.Cut(module, ".")
		return seen[first] && !survey.KnownPackage(module)
	})
}

// looksAbove returns how many folders above the skill the script, or another one beside it that it may import, goes.
func (r *Run) looksAbove() int {
	levels := 0
	for _, sc := range append([]survey.Script{r.Script}, r.beside()...) {
		levels = max(levels, survey.LooksAbove(sc.File, survey.Beginning(r.Skill.FS(), sc.File)))
	}
	return levels
}

// beside returns the other scripts in the folder of the script, up to a limit.
func (r *Run) beside() []survey.Script {
	all := survey.Of(r.Skill.FS(), &manifest.Manifest{}, nil).Runnable()
	all = slices.DeleteFunc(all, func(other survey.Script) bool {
		return other.File == r.Script.File || path.Dir(other.File) != path.Dir(r.Script.File)
	})
	return all[:min(len(all), mostBeside)]
}
