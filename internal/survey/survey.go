// Package survey examines a skill's files without executing anything: which of them are scripts, and their names, languages
// and #! lines.
//
// Only this package decides which files are scripts, for the callers that list scripts, run them, check a skill, and keep
// their text from a model. [Of] looks at a skill once. A [Set] answers what follows from that:
//
//   - [Set.Runnable] has every file that can be run: one with the extension of a known language, one that begins with #!,
//     and an executable program, wherever it lies in the skill.
//   - [Set.List] has those that are offered. They lie directly in scripts/, or deeper in scripts/ and are made to be
//     started, or SKILL.md names them.
//   - [Set.Kept] has those whose text a model is not given: they lie in scripts/, bin/ or tools/, or SKILL.md has a
//     command line that runs them. A template in assets/ can be run by its path, but it is there to be read.
//   - [Set.Find] finds the script that a name means.
//
// A manifest that lists its scripts has exactly those, and a file that scripts_ignore names is not a script. With [Direct]
// only files directly in scripts/ are scripts.
//
// It also reads what the text of a script shows: which flags it has ([KnowsJSON], [KnowsHelp]), what its author says about
// it ([DocText]), and whether it is a module of a Python package ([Module]).
//
// A symbolic link is not a script; its target is judged where it lies. Compare a file with a script by the
// file's identity (os.SameFile), not by its path. Hidden files and folders, node_modules and what belongs to no skill are left out, and
// so are files with a name that cannot be called: see [Set.Problems].
//
// Everything in a skill is hostile: reads are bounded, and so is the number of files.
package survey

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/naming"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Dir is the folder of a skill that holds its scripts.
const Dir = "scripts"

// Rule says where the scripts of a skill lie.
type Rule string

// The rules.
const (
	Any    Rule = "any"    // anywhere in the skill; the zero Rule means this one too
	Direct Rule = "direct" // directly in scripts/, with one of the extensions .py .sh .js .ts .rb .pl, a #! line, or as a program
)

// Options says which files of a skill are scripts.
type Options struct {
	Rule Rule
}

// Limits of a look at a skill.
const (
	MaxFiles = 10_000   // files and folders that are examined in scripts/, and again outside of it
	maxEntry = 64 << 10 // bytes that are read to see whether a file is made to be started
	maxLooks = 1000     // files that are read for that
)

// Script is one script of a skill.
type Script struct {
	Name string // the shortest name that finds it: "status", "office/unpack", "src/run.py"
	File string // slash path below the skill: "scripts/status.py"
}

// Set is what was found out about the scripts of one skill. It is not safe for concurrent use.
type Set struct {
	fsys     fs.FS
	m        *manifest.Manifest
	rule     Rule
	ignore   *glob.Set
	files    []string // slash paths of the scripts: those in scripts/ first, in the order of folders and names
	problems []manifest.Problem

	paths            map[string]int   // positions in files, by folded path
	stems            map[string][]int // by folded path without extension
	bases, baseStems map[string][]int // by folded name, with and without extension
	said             *mentions        // by SKILL.md; nil until it is asked for
	entries          map[string]bool  // whether a file is made to be started, of those that were read
}

// Of looks at the files of a skill. fsys is the skill's folder, m its manifest; nil options mean Any. It reads the first
// bytes of files that no extension explains.
func Of(fsys fs.FS, m *manifest.Manifest, o *Options) *Set {
	s := &Set{fsys: fsys, m: m}
	if o != nil {
		s.rule = o.Rule
	}
	s.ignore = s.globs()
	w := &walk{set: s}
	w.skill()
	if m.ScriptsDeclared {
		s.keepDeclared(w.others)
	}
	s.reportAlike()
	return s
}

// Problems returns what is wrong with the files of scripts/ and with what the manifest says about scripts.
func (s *Set) Problems() []manifest.Problem { return s.problems }

// Runnable returns all scripts in the order of their folders and names, those in scripts/ first.
func (s *Set) Runnable() []Script {
	return s.only(func(string) bool { return true })
}

// List returns the scripts that are offered, by name.
func (s *Set) List() []Script {
	out := s.only(s.listed)
	slices.SortFunc(out, func(a, b Script) int {
		return cmp.Or(cmp.Compare(Fold(a.Name), Fold(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Kept returns the scripts whose text is kept from a model.
func (s *Set) Kept() []Script { return s.only(s.kept) }

// Foremost sorts scripts: first those that SKILL.md names, then those directly in scripts/. Their order is otherwise kept.
func (s *Set) Foremost(scripts []Script) {
	rank := func(sc Script) int {
		switch {
		case s.mentioned().named[sc.File]:
			return 0
		case path.Dir(sc.File) == Dir:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(scripts, func(a, b Script) int { return cmp.Compare(rank(a), rank(b)) })
}

func (s *Set) only(accept func(file string) bool) []Script {
	var out []Script
	for i, file := range s.files {
		if accept(file) {
			out = append(out, Script{Name: s.name(i), File: file})
		}
	}
	return out
}

// add makes a file a script. If a file differs from another in case alone, the first is one.
func (s *Set) add(file string) {
	key := Fold(file)
	if _, ok := s.paths[key]; ok {
		if inScripts(file) {
			s.reportCase(file)
		}
		return
	}
	if s.paths == nil { // most skills have no script
		s.paths, s.stems, s.bases, s.baseStems = map[string]int{}, map[string][]int{}, map[string][]int{}, map[string][]int{}
	}
	i := len(s.files)
	s.files = append(s.files, file)
	base := path.Base(key)
	s.paths[key] = i
	s.stems[stem(key)] = append(s.stems[stem(key)], i)
	s.bases[base] = append(s.bases[base], i)
	s.baseStems[stem(base)] = append(s.baseStems[stem(base)], i)
}

func inScripts(file string) bool { return strings.HasPrefix(file, Dir+"/") }

// stem returns a path without the extension of its file.
func stem(file string) string {
	base := path.Base(file)
	if ext := path.Ext(base); ext != base {
		return strings.TrimSuffix(file, ext)
	}
	return file
}

// Fold returns the form in which names of scripts are compared: NFC, in lower case.
func Fold(s string) string { return naming.Fold(s) }
