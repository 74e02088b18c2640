package survey

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/naming"
	"github.com/agent-base/agent-base/skill/manifest"
)

// walk finds the scripts in the folders of a skill.
type walk struct {
	set    *Set
	left   int     // files and folders that may still be examined
	others []other // entries of scripts/ that are not scripts, for a manifest that lists them
}

// other is an entry of scripts/ that is not a script.
type other struct {
	name string
	link bool
	bad  bool // it could be run, but its name cannot be called
}

// skill looks at the skill's folder: first at scripts/, which counts as missing if it is a symbolic link.
func (w *walk) skill() {
	top, err := fs.ReadDir(w.set.fsys, ".")
	if err != nil {
		w.set.reportUnreadable(err)
	}
	rest := make([]fs.DirEntry, 0, len(top))
	for _, d := range top {
		switch {
		case isManifest(d.Name()):
		case d.Name() != Dir:
			rest = append(rest, d)
		case d.Type()&fs.ModeSymlink != 0:
			w.set.report("script-symlink", Dir, fmt.Sprintf("%q is a symbolic link: its scripts are not used", Dir), "replace the link by the folder")
		case d.IsDir():
			w.left = MaxFiles
			w.folder(Dir)
		}
	}
	if w.set.rule != Direct {
		w.left = MaxFiles
		w.entries("", rest)
	}
}

// isManifest reports whether a file of the skill's folder is its manifest, which is never a script.
func isManifest(name string) bool { return name == "SKILL.md" || name == "skill.md" }

// folder looks at a folder and at those below it.
func (w *walk) folder(dir string) {
	list, err := fs.ReadDir(w.set.fsys, dir)
	if err != nil && dir == Dir {
		w.set.reportUnreadable(err)
	}
	w.entries(dir+"/", list)
}

// entries looks at the entries of a folder, whose path with a slash is prefix.
func (w *walk) entries(prefix string, list []fs.DirEntry) {
	for _, d := range list {
		file := prefix + d.Name()
		if len(file) > maxPath {
			continue // neither it nor what lies below it could be called
		}
		if w.left--; w.left < 0 {
			if w.left == -1 {
				w.set.report("scripts-many", cmp.Or(strings.TrimSuffix(prefix, "/"), "."),
					fmt.Sprintf("there are more than %d files: scripts among the rest are not known", MaxFiles), "move data elsewhere")
			}
			return
		}
		switch {
		case !d.IsDir():
			w.file(file, d)
		case w.set.rule != Direct && w.entered(file, d.Name()):
			w.folder(file)
		}
		if d.IsDir() && prefix == Dir+"/" {
			w.leave(other{name: d.Name()})
		}
	}
}

// entered reports whether a folder may have scripts.
func (w *walk) entered(dir, name string) bool {
	return !strings.HasPrefix(name, ".") && name != "node_modules" && content.Leftover(w.set.fsys, dir) == ""
}

// file decides about a file that is not a folder.
func (w *walk) file(file string, d fs.DirEntry) {
	s, dir := w.set, path.Dir(file)
	switch {
	case strings.HasPrefix(d.Name(), "."):
	case d.Type()&fs.ModeSymlink != 0:
		if dir == Dir && s.m.ScriptsDeclared {
			w.leave(other{name: d.Name(), link: true})
		} else if dir == Dir && !s.ignored(file) {
			s.reportLink(file)
		}
	case s.ignored(file):
	case !validPath(file):
		if bad := inScripts(file) && s.isScript(file, d); bad && !s.m.ScriptsDeclared {
			s.reportName(file)
		} else if dir == Dir {
			w.leave(other{name: d.Name(), bad: bad})
		}
	case s.isScript(file, d):
		s.add(file)
	case dir == Dir:
		w.leave(other{name: d.Name()})
		if s.isKindless(file, d) {
			s.report("script-kind", file, fmt.Sprintf("nothing says what runs %.100q", d.Name()), "give it an extension such as .py or .sh, or a #! line")
		}
	}
}

func (w *walk) leave(o other) {
	if w.set.m.ScriptsDeclared {
		w.others = append(w.others, o)
	}
}

// globs returns the patterns of scripts_ignore that can be used and reports the others. A list of scripts goes before them.
func (s *Set) globs() *glob.Set {
	out := &glob.Set{}
	if s.m.ScriptsDeclared {
		return out
	}
	for _, g := range s.m.ScriptsIgnore {
		err := out.Add(g)
		if err != nil {
			s.reportField("scripts-ignore", "scripts_ignore", fmt.Sprintf("%q ignores nothing: %v", g, err), "correct the pattern, or write fewer")
		}
		if errors.Is(err, glob.ErrTooMany) {
			break // so are those that follow
		}
	}
	return out
}

// ignored matches the name of a file, its path in scripts/ and its path: both "_*.py" and "scripts/_*.py" work.
func (s *Set) ignored(file string) bool {
	return slices.ContainsFunc([]string{file, file[strings.LastIndexByte(file, '/')+1:], strings.TrimPrefix(file, Dir+"/")}, func(name string) bool {
		_, ok := s.ignore.Match(name)
		return ok
	})
}

func (s *Set) report(code, file, msg, cure string) {
	s.problems = append(s.problems, manifest.Problem{Code: code, Severity: manifest.SeverityWarning, File: file, Message: msg, Cure: cure})
}

func (s *Set) reportField(code, field, msg, cure string) {
	s.problems = append(s.problems, manifest.Problem{
		Code: code, Severity: manifest.SeverityWarning, File: "SKILL.md", Field: field, Message: msg, Cure: cure,
	})
}

func (s *Set) reportUnreadable(err error) {
	s.report("scripts-unreadable", Dir, err.Error(), "make "+Dir+"/ a folder that can be read")
}

func (s *Set) reportLink(file string) {
	s.report("script-symlink", file, fmt.Sprintf("%q is a symbolic link: scripts must be files", file[len(Dir)+1:]), "replace the link by the file, or install the skill from its repository, which copies such files")
}

func (s *Set) reportName(file string) {
	s.report("script-name", file, fmt.Sprintf("%q cannot be called: a script's name has letters, digits, '-', '_' and '.'", strings.TrimPrefix(file, Dir+"/")), "rename the file")
}

// reportAlike reports the scripts that look like others.
func (s *Set) reportAlike() {
	if !slices.ContainsFunc(s.files, func(file string) bool { return !naming.ASCII(file) }) {
		return
	}
	others := naming.Alike(s.files)
	for _, file := range s.files {
		if other := others[file]; other != "" {
			s.report("script-alike", file, fmt.Sprintf("%q looks like %q, which is another script", file, other), "rename one of them")
		}
	}
}

func (s *Set) reportCase(file string) {
	s.report("script-case", file, fmt.Sprintf("%q differs from another script in upper and lower case alone", strings.TrimPrefix(file, Dir+"/")), "rename one of them")
}
