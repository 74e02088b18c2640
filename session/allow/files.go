package allow

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
)

// Files are rules about one kind of access to files, to compare many paths with: those that a list of what is forbidden names. The
// zero value names nothing. It does not change and is safe for concurrent use.
type Files struct{ rules []fileRule }

// fileRule is one rule with what its pattern is about.
type fileRule struct {
	o       *Options
	all     bool   // it has no pattern and names every file
	pattern string // as parsePath returns it
	wider   []string
}

// Reading returns the rules of a list about reading files, and Changing those about writing and editing them. With bare, rules without
// a pattern count and name every file.
func (l *List) Reading(bare bool) Files { return l.files(bare, toolRead) }

// Changing is described at Reading.
func (l *List) Changing(bare bool) Files { return l.files(bare, toolEdit, toolWrite) }

func (l *List) files(bare bool, tools ...string) Files {
	var f Files
	for _, r := range l.Rules() {
		switch {
		case !slices.Contains(tools, r.Tool):
		case r.Bare() && bare:
			f.rules = append(f.rules, fileRule{o: &l.o, all: true})
		case !r.Bare():
			f.rules = append(f.rules, fileRule{o: &l.o, pattern: r.pattern.path, wider: wider(r.pattern.path)})
		}
	}
	return f
}

// And returns the rules of both.
func (f Files) And(g Files) Files { return Files{slices.Concat(f.rules, g.rules)} }

// Empty reports whether there are no rules.
func (f Files) Empty() bool { return len(f.rules) == 0 }

// Name reports whether a rule names the file or folder at an absolute path. What is in a folder that is named is named, too.
func (f Files) Name(abs string) bool {
	return slices.ContainsFunc(f.rules, func(r fileRule) bool {
		return r.all || slices.ContainsFunc(r.wider, func(p string) bool { return r.o.matchPath(p, abs, false) })
	})
}

// Exact returns the absolute paths that rules without a wildcard name. Such a rule without a folder names files of its name at any
// depth; here it stands for those in the roots.
func (f Files) Exact() []string {
	var out []string
	for _, r := range f.rules {
		if !r.all && !strings.ContainsAny(r.pattern, "*?[{") {
			out = append(out, r.o.placed(r.pattern)...)
		}
	}
	return out
}

// Starts returns absolute paths: each path that is named is one of them, or lies below one. "/" is for rules without a pattern.
func (f Files) Starts() []string {
	var out []string
	for _, r := range f.rules {
		switch {
		case r.all:
			return []string{string(filepath.Separator)}
		case !strings.Contains(r.pattern, "/"):
			out = append(out, r.o.Roots...)
		case strings.ContainsAny(r.pattern, "*?[{"):
			dir, _ := glob.Split(r.pattern)
			if strings.HasPrefix(r.pattern, "~/") && dir == "~" {
				dir = "~/"
			}
			out = append(out, r.o.placed(dir)...)
		default:
			out = append(out, r.o.placed(r.pattern)...)
		}
	}
	return out
}

// placed returns the absolute paths that a path without wildcards stands for.
func (o *Options) placed(text string) []string {
	switch {
	case strings.HasPrefix(text, "/"):
		return []string{filepath.FromSlash(path.Clean(text))}
	case strings.HasPrefix(text, "~/"):
		if o.Home == "" {
			return nil
		}
		return []string{filepath.Join(o.Home, filepath.FromSlash(text[2:]))}
	}
	out := make([]string, len(o.Roots))
	for i, root := range o.Roots {
		out[i] = filepath.Join(root, filepath.FromSlash(text))
	}
	return out
}

// wider returns the patterns that cover what a pattern names in a list of what is forbidden: one without a folder names files at any
// depth, and one that names a folder what is in it.
func wider(pattern string) []string {
	out := []string{pattern, pattern + "/**"}
	if !strings.Contains(pattern, "/") {
		out = append(out, "**/"+pattern, "**/"+pattern+"/**")
	}
	return out
}
