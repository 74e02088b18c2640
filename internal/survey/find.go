package survey

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/naming"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of a script's name.
const (
	maxName = 128 // characters of a file or folder
	maxPath = 512 // bytes of a path
)

// ValidName reports whether name can mean a script of the skill with the manifest m. A name is a path of names that have
// letters and digits of any script, '-', '_' and inner '.', with '/' or '\\' between them. What models paste before it may stay: "./", a placeholder such as
// "${CLAUDE_SKILL_DIR}/", and the way to a folder with the skill's name, as in "~/.claude/skills/pdf/" and
// "/mnt/skills/pdf/". Another absolute path, ".." and "__pycache__" are not valid. With Direct a name has no path.
func ValidName(name string, m *manifest.Manifest, o *Options) bool {
	if o != nil && o.Rule == Direct {
		return validComponent(name)
	}
	return len(targets(name, m)) > 0
}

func validComponent(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > maxName || len(name) > filename.MaxName || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return false
	}
	other := strings.IndexFunc(name, func(r rune) bool { return !naming.Letter(r) && r != '-' && r != '_' && r != '.' })
	return other < 0 && utf8.ValidString(name) && Fold(name) != "__pycache__"
}

func validPath(file string) bool {
	if len(file) > maxPath {
		return false
	}
	for part := range strings.SplitSeq(file, "/") {
		if !validComponent(part) {
			return false
		}
	}
	return true
}

// target is a path that a name can mean.
type target struct {
	path   string
	rooted bool // it begins at the skill's folder, even without a folder in it
}

// targets returns the paths that a name can mean, in the order in which they are tried.
func targets(name string, m *manifest.Manifest) []target {
	if name == "" || len(name) > 2*maxPath {
		return nil
	}
	name = slashed(name)
	rooted := false
	for strings.HasPrefix(name, "./") {
		name, rooted = name[2:], true
	}
	parts := strings.Split(name, "/")
	if slices.Contains(parts, "..") {
		return nil
	}
	if isPlaceholder(parts[0]) {
		parts, rooted = parts[1:], true
	}
	var out []target
	if p := strings.Join(parts, "/"); validPath(p) {
		out = append(out, target{p, rooted})
	}
	if len(parts) > 1 && skillWord(parts[0]) && validPath(strings.Join(parts[1:], "/")) {
		out = append(out, target{strings.Join(parts[1:], "/"), true})
	}
	for i, part := range parts {
		if p := strings.Join(parts[i+1:], "/"); m.Name != "" && manifest.Canonical(part) == manifest.Canonical(m.Name) && validPath(p) {
			out = append(out, target{p, true})
		}
	}
	return out
}

// slashed returns a path of a command line of Windows with slashes.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// isPlaceholder reports whether the first part of a path stands for a folder: "$DIR", "${DIR}", "{baseDir}", "<skill>", "...".
func isPlaceholder(part string) bool {
	return part == "..." || len(part) > 1 && strings.ContainsAny(part, "${}<>")
}

// skillWord reports whether the first part of a path is a word that stands for the skill's folder without the marks of a
// placeholder, as SKILL_DIR.
func skillWord(part string) bool {
	return part == strings.ToUpper(part) && strings.Contains(part, "SKILL")
}

// Find returns the script of that name, in any case, with or without its extension, by its path below the skill or below
// scripts/, or, if no other has that name, without its folder. If there is none, or several that the name fits, it returns
// false and the paths of the candidates.
func (s *Set) Find(name string) (found Script, same []string, ok bool) {
	if !ValidName(name, s.m, &Options{Rule: s.rule}) {
		return Script{}, nil, false
	}
	for _, t := range targets(name, s.m) {
		switch at := s.at(t); {
		case len(at) == 1:
			return Script{Name: s.name(at[0]), File: s.files[at[0]]}, nil, true
		case len(at) > 1:
			for _, i := range at {
				same = append(same, s.name(i))
			}
			return Script{}, same, false
		}
	}
	return Script{}, nil, false
}

// at returns the positions of the scripts that a path fits best. A bare name is first that of a file in scripts/; a path is
// first one below the skill's folder.
func (s *Set) at(t target) []int {
	p := Fold(t.path)
	in := Fold(Dir) + "/" + p
	switch {
	case strings.Contains(p, "/"):
		return first(s.whole(p), s.whole(in), s.stems[p], s.stems[in])
	case t.rooted && s.whole(p) != nil:
		return s.whole(p)
	}
	return first(s.whole(in), s.stems[in], s.whole(p), s.stems[p], s.inside(s.bases[p]), s.inside(s.baseStems[p]), s.bases[p], s.baseStems[p])
}

func first(lists ...[]int) []int {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

func (s *Set) whole(folded string) []int {
	if i, ok := s.paths[folded]; ok {
		return []int{i}
	}
	return nil
}

// inside returns those positions whose files lie in scripts/.
func (s *Set) inside(at []int) []int {
	n := 0
	for n < len(at) && inScripts(s.files[at[n]]) { // they come first
		n++
	}
	return at[:n]
}

// name returns the shortest name that finds the file at a position, but outside of scripts/ its path.
func (s *Set) name(i int) string {
	file := s.files[i]
	short, names := strings.TrimPrefix(file, Dir+"/"), []string{file}
	if short != file {
		names = []string{stem(short), short, file}
	}
	for _, name := range names {
		if at := s.at(target{path: name}); len(at) == 1 && at[0] == i {
			return name
		}
	}
	return "./" + file
}

// Why says why a name of an existing file finds no script, "" if there is no such file or nothing to say about it.
func (s *Set) Why(name string) string {
	for _, t := range targets(name, s.m) {
		for _, p := range []string{t.path, Dir + "/" + t.path} {
			if why := s.whyNot(path.Split(p)); why != "" {
				return why
			}
		}
	}
	return ""
}

// whyNot says why a file of a folder is not a script.
func (s *Set) whyNot(dir, name string) string {
	if s.rule == Direct && dir != Dir+"/" {
		return ""
	}
	entries, _ := fs.ReadDir(s.fsys, path.Clean(dir)) // an unreadable folder has no scripts
	for _, d := range entries {
		if d.IsDir() || Fold(d.Name()) != Fold(name) && Fold(stem(d.Name())) != Fold(name) {
			continue
		}
		file := strings.TrimPrefix(dir+d.Name(), "./")
		info, err := d.Info()
		switch {
		case err != nil || !validPath(file):
		case d.Type()&fs.ModeSymlink != 0:
			return file + " is a symbolic link, and scripts must be files: replace it by a copy, or install the skill from its repository, which copies such files"
		case s.ignored(file):
			return "scripts_ignore of its manifest excludes " + file
		case s.isScript(file, d) && s.m.ScriptsDeclared:
			return "its manifest does not list " + file + " in scripts"
		case info.Mode().IsRegular() && Executable(info.Mode()) && !s.isScript(file, d):
			return "nothing shows what runs " + file + ", so give it " + Kinds(s.rule)
		}
	}
	return ""
}

// Near returns the name of the script that was probably meant by a name that is none, by its name, its path or its file's name: one that
// is listed, else any; "" if none is near.
func (s *Set) Near(name string) string {
	bare := stem(path.Base(name))
	for _, scripts := range [][]Script{s.List(), s.Runnable()} {
		var names, paths, files []string
		called := map[string]string{} // by the name of the file
		for _, sc := range scripts {
			file := stem(path.Base(sc.File))
			names, paths, files = append(names, sc.Name), append(paths, sc.File), append(files, file)
			called[file] = sc.Name
		}
		if meant := cmp.Or(near.Name(name, names), near.Name(name, paths), called[near.Name(bare, files)]); meant != "" {
			return meant
		}
	}
	return ""
}
