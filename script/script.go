// Package script finds the scripts of a skill, chooses what runs them and runs them within limits.
//
// It never asks about permission or trust: whoever calls it has. How a command is executed is a
// Runner of one method, so that a sandbox, a remote worker or an audit is middleware over it.
// A script that leaves its process group outlives the call in this build; the sandbox is to end it.
//
// A Host is safe for concurrent use; each run has its own work directory.
package script

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/agent-base/agent-base/skill"
)

// Dir is the folder of a skill that holds its scripts.
const Dir = "scripts"

// Script is one script of a skill.
type Script struct {
	Name string // file name without extension; kept with it where two would be alike (R99)
	File string // slash path below the skill: "scripts/status.py"
}

var extensions = []string{".py", ".sh", ".js", ".ts", ".rb", ".pl"}

// List returns the skill's scripts by name, and what is wrong with its scripts folder (R50).
func List(s *skill.Skill) ([]Script, []skill.Problem) {
	m := s.Manifest()
	entries, err := fs.ReadDir(s.FS(), Dir)
	if err != nil {
		if !m.ScriptsDeclared {
			return nil, nil
		}
		return nil, []skill.Problem{problem("scripts-missing", Dir, "the skill lists scripts, but has no scripts folder", "add "+Dir+"/, or remove the scripts field")}
	}
	var files []string
	var problems []skill.Problem
	for _, d := range entries {
		if !candidate(s.FS(), d) || ignored(d.Name(), m.ScriptsIgnore) {
			if d.Type()&fs.ModeSymlink != 0 {
				problems = append(problems, problem("script-symlink", Dir+"/"+d.Name(), fmt.Sprintf("%q is a symbolic link: scripts must be files", d.Name()), "replace the link by the file"))
			}
			continue
		}
		files = append(files, d.Name())
	}
	if m.ScriptsDeclared {
		var more []skill.Problem
		files, more = declared(files, m.Scripts)
		problems = append(problems, more...)
	}
	scripts, more := name(files)
	return scripts, append(problems, more...)
}

// candidate reports whether a directory entry can be a script: a regular file, not hidden, with a
// known extension or a #! line.
func candidate(fsys fs.FS, d fs.DirEntry) bool {
	if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
		return false
	}
	ext := strings.ToLower(path.Ext(d.Name()))
	if slices.Contains(extensions, ext) {
		return true
	}
	return ext == "" && strings.HasPrefix(firstLine(fsys, Dir+"/"+d.Name()), "#!")
}

func ignored(name string, globs []string) bool {
	for _, g := range globs {
		for _, target := range []string{name, Dir + "/" + name} {
			if ok, err := doublestar.Match(g, target); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// declared keeps the files that the manifest lists, as "status" or "status.py" (R31).
func declared(files, list []string) (kept []string, problems []skill.Problem) {
	for _, want := range list {
		want = strings.TrimPrefix(want, Dir+"/")
		i := slices.IndexFunc(files, func(f string) bool {
			return strings.EqualFold(f, want) || strings.EqualFold(stem(f), want)
		})
		if i < 0 {
			problems = append(problems, problem("script-missing", "scripts", fmt.Sprintf("script %q is listed but not there", want), "add the file, or remove it from the list"))
			continue
		}
		if !slices.Contains(kept, files[i]) {
			kept = append(kept, files[i])
		}
	}
	return kept, problems
}

// name gives each file its script name. Of files that differ in case alone the first in byte order
// counts (C37).
func name(files []string) (out []Script, problems []skill.Problem) {
	slices.Sort(files)
	stems, seen := map[string]int{}, map[string]bool{}
	for _, f := range files {
		stems[strings.ToLower(stem(f))]++
	}
	for _, f := range files {
		if seen[strings.ToLower(f)] {
			problems = append(problems, problem("script-case", Dir+"/"+f, fmt.Sprintf("%q differs from another script in case alone", f), "rename one of them"))
			continue
		}
		seen[strings.ToLower(f)] = true
		n := stem(f)
		if stems[strings.ToLower(n)] > 1 {
			n = f
		}
		out = append(out, Script{Name: n, File: Dir + "/" + f})
	}
	slices.SortFunc(out, func(a, b Script) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return out, problems
}

// Find returns the script of that name, in any case and with or without its extension (R45).
// The error is an *Error with code InvalidName or NotFound.
func Find(s *skill.Skill, name string) (Script, error) {
	if !validName(name) {
		return Script{}, &Error{Code: InvalidName, Message: fmt.Sprintf("Invalid script name: '%s'", name)}
	}
	scripts, _ := List(s)
	for _, match := range []func(Script) bool{
		func(sc Script) bool { return strings.EqualFold(sc.Name, name) },
		func(sc Script) bool { return strings.EqualFold(path.Base(sc.File), name) },
	} {
		if i := slices.IndexFunc(scripts, match); i >= 0 {
			return scripts[i], nil
		}
	}
	return Script{}, &Error{Code: NotFound, Message: fmt.Sprintf("Script '%s' not found in skill '%s'", name, s.Canonical())}
}

func validName(name string) bool {
	if name == "" || len(name) > 128 || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return !strings.Contains(name, "..")
}

func stem(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

func problem(code, field, msg, cure string) skill.Problem {
	return skill.Problem{Code: code, Severity: skill.Warning, File: "SKILL.md", Field: field, Message: msg, Cure: cure}
}
