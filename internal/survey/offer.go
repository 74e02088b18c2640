package survey

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// keptFolders are the folders whose scripts are run and not read.
var keptFolders = []string{Dir, "bin", "tools"}

// kept reports whether a script is run and not read.
func (s *Set) kept(file string) bool {
	folder, _, below := strings.Cut(file, "/")
	return below && slices.Contains(keptFolders, folder) || s.mentioned().run[file]
}

// listed reports whether a script is offered.
func (s *Set) listed(file string) bool {
	switch {
	case s.m.ScriptsDeclared || s.rule == Direct || s.mentioned().run[file]:
		return true
	case isSupport(file):
		return false
	case path.Dir(file) == Dir || s.mentioned().named[file]:
		return true
	}
	return inScripts(file) && s.isEntry(file)
}

// isSupport reports whether a file is a part of a package or a test, which nobody starts.
func isSupport(file string) bool { return Fold(path.Base(file)) == "__init__.py" || IsTest(file) }

// IsTest reports whether a file is a test, from its name and its folders.
func IsTest(file string) bool {
	base := Fold(path.Base(file))
	name := stem(base)
	switch {
	case base == "conftest.py", strings.HasPrefix(base, "test_"),
		strings.HasSuffix(name, "_test"), strings.HasSuffix(name, ".test"), strings.HasSuffix(name, ".spec"):
		return true
	}
	return slices.ContainsFunc(strings.Split(Fold(path.Dir(file)), "/"), func(folder string) bool {
		return folder == "test" || folder == "tests" || folder == "__tests__"
	})
}

// isEntry reports whether a file is made to be started: it is executable, begins with #!, or is Python that looks whether
// it is the main program. For a module of a Python package only the last counts: many have the #! line of a template. Only
// the beginning of at most maxLooks files is read.
func (s *Set) isEntry(file string) bool {
	python := LanguageOf(file) == Python
	inPackage := python && s.whole(Fold(path.Dir(file)+"/__init__.py")) != nil
	if info, err := fs.Stat(s.fsys, file); err == nil && info.Mode()&0o111 != 0 && !inPackage {
		return true
	}
	if is, ok := s.entries[file]; ok || len(s.entries) >= maxLooks {
		return is
	}
	text := string(head(s.fsys, file, maxEntry))
	if s.entries == nil {
		s.entries = map[string]bool{}
	}
	s.entries[file] = strings.HasPrefix(text, "#!") && !inPackage || python && hasMainGuard(text)
	return s.entries[file]
}

// hasMainGuard reports whether Python code has a part for the main program that does more than to refuse.
func hasMainGuard(text string) bool {
	guarded := false
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "if")
		switch {
		case ok && strings.Contains(rest, "__name__") && strings.Contains(rest, "__main__"):
			guarded = true
		case guarded && strings.TrimSpace(line) != "":
			return !strings.HasPrefix(strings.TrimSpace(line), "raise ")
		}
	}
	return guarded
}
