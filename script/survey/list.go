package survey

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Script is one script of a skill.
type Script struct {
	Name string // file name without extension; kept where two would be alike
	File string // slash path below the skill: "scripts/status.py"
}

// List returns the scripts of a skill with the files fsys and the manifest m, by name, and the problems of its scripts
// folder. It reads the first bytes of files without a known extension.
//
// A manifest that lists its scripts has exactly those. Without a list each runnable file directly in scripts/ is one,
// except dot files and files that scripts_ignore names. Symbolic links are not scripts.
func List(fsys fs.FS, m *manifest.Manifest) ([]Script, []manifest.Problem) {
	f := &folder{fsys: fsys, m: m}
	entries, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.report("scripts-unreadable", Dir, err.Error(), "make "+Dir+"/ a folder that can be read")
	}
	if m.ScriptsDeclared {
		f.declared(entries)
	} else {
		f.discover(entries)
	}
	return f.scripts(), f.problems
}

// folder collects what List finds out about a scripts folder.
type folder struct {
	fsys     fs.FS
	m        *manifest.Manifest
	files    []string // base names that are scripts
	problems []manifest.Problem
}

// read lists the scripts folder by name. A folder that is a symbolic link counts as none.
func (f *folder) read() ([]fs.DirEntry, error) {
	root, err := fs.ReadDir(f.fsys, ".")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(root, func(d fs.DirEntry) bool { return d.Name() == Dir })
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	if root[i].Type()&fs.ModeSymlink != 0 {
		f.report("script-symlink", Dir, fmt.Sprintf("%q is a symbolic link: its scripts are not used", Dir), "replace the link by the folder")
		return nil, nil
	}
	if !root[i].IsDir() {
		return nil, nil
	}
	return fs.ReadDir(f.fsys, Dir)
}

func (f *folder) report(code, file, msg, cure string) {
	f.problems = append(f.problems, manifest.Problem{
		Code: code, Severity: manifest.SeverityWarning, File: file, Message: msg, Cure: cure,
	})
}

func (f *folder) reportField(code, field, msg, cure string) {
	f.problems = append(f.problems, manifest.Problem{
		Code: code, Severity: manifest.SeverityWarning, File: "SKILL.md", Field: field, Message: msg, Cure: cure,
	})
}

// discover takes every file of a known kind that is not ignored.
func (f *folder) discover(entries []fs.DirEntry) {
	globs := f.globs()
	for _, d := range entries {
		switch {
		case strings.HasPrefix(d.Name(), ".") || ignored(d.Name(), globs):
		case d.Type()&fs.ModeSymlink != 0:
			f.refuseLink(d.Name())
		case isScript(f.fsys, Dir, d):
			f.add(d.Name())
		}
	}
}

func (f *folder) refuseLink(name string) {
	f.report("script-symlink", Dir+"/"+name, fmt.Sprintf("%q is a symbolic link: scripts must be files", name), "replace the link by the file")
}

func (f *folder) add(name string) {
	if !ValidName(name) {
		f.report("script-name", Dir+"/"+name, fmt.Sprintf("%q cannot be called: a script's name has letters, digits, '-', '_' and '.'", name), "rename the file")
		return
	}
	f.files = append(f.files, name)
}

// globs returns the patterns of scripts_ignore that can be used and reports the others.
func (f *folder) globs() *glob.Set {
	out := &glob.Set{}
	for _, g := range f.m.ScriptsIgnore {
		err := out.Add(g)
		if err != nil {
			f.reportField("scripts-ignore", "scripts_ignore", fmt.Sprintf("%q ignores nothing: %v", g, err), "correct the pattern, or write fewer")
		}
		if errors.Is(err, glob.ErrTooMany) {
			break // so are those that follow
		}
	}
	return out
}

// ignored matches the base name and the path: both "_*.py" and "scripts/_*.py" work.
func ignored(name string, globs *glob.Set) bool {
	_, base := globs.Match(name)
	if base {
		return true
	}
	_, whole := globs.Match(Dir + "/" + name)
	return whole
}

// declared takes the files that the manifest lists, as "status", "status.py" or "scripts/status.py". The
// rules for links, kinds and names hold for them too.
func (f *folder) declared(entries []fs.DirEntry) {
	listed := f.listing(entries)
	for _, want := range f.m.Scripts {
		base := strings.TrimPrefix(strings.TrimPrefix(want, "./"), Dir+"/")
		i := listed.find(base)
		switch {
		case strings.Contains(base, "/"):
			f.reportField("scripts-value", "scripts", fmt.Sprintf("script %q is not directly in %s/", want, Dir), "move the file to "+Dir+"/ and list its name")
		case i < 0:
			f.reportField("script-missing", "scripts", fmt.Sprintf("script %q is listed but not there", want), "add "+Dir+"/"+base+", or remove it from the list")
		case entries[i].Type()&fs.ModeSymlink != 0:
			f.refuseLink(entries[i].Name())
		case !isScript(f.fsys, Dir, entries[i]):
			f.reportField("script-kind", "scripts", fmt.Sprintf("%q is listed as a script, but nothing is known that runs it", want), "give it "+Kinds())
		case !listed.taken[i]:
			listed.taken[i] = true
			f.add(entries[i].Name())
		}
	}
}

// listing finds the entries of a scripts folder by what a manifest may call them, without going through all for each name.
type listing struct {
	f       *folder
	entries []fs.DirEntry
	byName  map[string]int   // folded names to the first that has it
	byStem  map[string][]int // folded names without extension to those that have it, in order
	taken   []bool           // those that are scripts already
}

func (f *folder) listing(entries []fs.DirEntry) *listing {
	l := &listing{f, entries, make(map[string]int, len(entries)), make(map[string][]int, len(entries)), make([]bool, len(entries))}
	for i, d := range entries {
		name := Fold(d.Name())
		if _, ok := l.byName[name]; !ok {
			l.byName[name] = i
		}
		l.byStem[stem(name)] = append(l.byStem[stem(name)], i)
	}
	return l
}

// find returns the position of the first entry of that name, else of the first script or link of that stem, else -1. It
// reads no entry twice that is not a script.
func (l *listing) find(base string) int {
	base = Fold(base)
	if i, ok := l.byName[base]; ok {
		return i
	}
	same := l.byStem[base]
	for len(same) > 0 {
		if d := l.entries[same[0]]; d.Type()&fs.ModeSymlink != 0 || isScript(l.f.fsys, Dir, d) {
			break
		}
		same = same[1:]
	}
	if l.byStem[base] = same; len(same) == 0 {
		return -1
	}
	return same[0]
}

// scripts returns the scripts with their names. If files differ only in case, it keeps the first in byte order.
func (f *folder) scripts() []Script {
	slices.Sort(f.files)
	stems, bases := map[string]int{}, map[string]bool{}
	var kept []string
	for _, name := range f.files {
		if bases[Fold(name)] {
			f.report("script-case", Dir+"/"+name, fmt.Sprintf("%q differs from another script in upper and lower case alone", name), "rename one of them")
			continue
		}
		bases[Fold(name)] = true
		stems[Fold(stem(name))]++
		kept = append(kept, name)
	}
	out := make([]Script, len(kept))
	for i, name := range kept {
		short := stem(name)
		if stems[Fold(short)] > 1 || short != name && bases[Fold(short)] {
			short = name
		}
		out[i] = Script{Name: short, File: Dir + "/" + name}
	}
	slices.SortFunc(out, func(a, b Script) int {
		return cmp.Or(cmp.Compare(Fold(a.Name), Fold(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func stem(file string) string {
	if s := strings.TrimSuffix(file, path.Ext(file)); s != "" {
		return s
	}
	return file
}

// Fold returns the form in which names are compared: ASCII, for names have nothing else.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
