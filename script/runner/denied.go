package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/paths"
)

// FileRules are rules of the user's about files, as session/allow reads them.
type FileRules interface {
	Empty() bool           // there are none
	Name(path string) bool // one names the file or folder at an absolute path, or a folder above it
	Starts() []string      // absolute paths: each path that is named is one of them, or lies below one
	Exact() []string       // absolute paths that rules without a wildcard name
}

// Denied are the rules that say which files the user's agent does not read and does not change. Nil denies nothing. What they name in
// the folders of a command is hidden from it, or stays as it is.
type Denied struct{ Read, Write FileRules }

// Denies reports whether a rule names a path.
func (d *Denied) Denies(path string, write bool) bool {
	rules := d.Read
	if write {
		rules = d.Write
	}
	return rules != nil && rules.Name(path)
}

// Limits of the search for what rules name, in all folders of a command.
const (
	mostWalked = 200_000 // files and folders
	mostNamed  = 2000    // of them that are named
)

// DeniedError is the error for rules that name more than a command can be kept from.
type DeniedError struct {
	Dir  string // that was searched
	What string // such as "more than 2000 files"
}

// Error says what would help.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("the rules that deny files cannot be kept to: %s in %s; write rules that name folders, such as Read(secrets/**)", e.What, e.Dir)
}

// Deny keeps a command from what rules name in some folders, except in those of except: it Hides it, or keeps it as it is. Nothing that
// the command was granted in it remains. It returns a *DeniedError if that is too much.
func (d *Denied) Deny(c *Command, folders, except []string) error {
	s := &nameSearch{folders: folders, except: except}
	if d.Read != nil && !d.Read.Empty() {
		hidden, err := s.named(d.Read)
		if err != nil {
			return err
		}
		c.Hide, c.Denied = paths.Unique(append(c.Hide, hidden...)), paths.Unique(append(c.Denied, hidden...))
		inside := func(path string) bool { return paths.Within(hidden, path) && !slices.Contains(hidden, path) }
		c.Read, c.Write = slices.DeleteFunc(c.Read, inside), slices.DeleteFunc(c.Write, func(path string) bool { return paths.Within(hidden, path) })
	}
	if d.Write == nil || d.Write.Empty() || len(c.Write) == 0 {
		return nil
	}
	s.folders = slices.DeleteFunc(slices.Clone(folders), func(dir string) bool { return !paths.Within(c.Write, dir) })
	kept, err := s.named(d.Write)
	if err != nil {
		return err
	}
	c.Keep = append(c.Keep, kept...)
	for _, path := range slices.Clone(c.Write) {
		if paths.Within(kept, path) && !paths.Within(except, path) {
			c.Write = paths.Without(c.Write, []string{path})
			c.Read = append(c.Read, path)
		}
	}
	c.keepNew(d.Write, s.folders)
	c.Keep, c.Absent = paths.Unique(c.Keep), paths.Unique(c.Absent)
	return nil
}

// keepNew keeps files from coming to be that rules name. Of those with a wildcard it says that it cannot.
func (c *Command) keepNew(rules FileRules, folders []string) {
	exact := rules.Exact()
	for _, path := range exact {
		if _, err := os.Lstat(path); err != nil && paths.Within(folders, path) {
			c.Absent = append(c.Absent, path)
		}
	}
	for _, start := range rules.Starts() {
		switch _, err := os.Lstat(start); {
		case slices.Contains(exact, start) || !paths.Within(folders, start):
		case err != nil:
			c.Absent = append(c.Absent, start)
		case !paths.Within(c.Keep, start):
			c.Missing = append(c.Missing, fmt.Sprintf("keep: new files in %s may have names that a rule denies to change", start))
		}
	}
	c.Missing = paths.Unique(c.Missing)
}

// nameSearch looks for what rules name.
type nameSearch struct {
	folders, except []string
	walked          int
}

// named returns the paths in the folders that rules name, without what lies in another of them. What a link among them leads to, and
// other names of the same file, are named too.
func (s *nameSearch) named(rules FileRules) ([]string, error) {
	var out []string
	for _, start := range s.starts(rules) {
		err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
			if s.walked++; s.walked > mostWalked {
				return &DeniedError{start, fmt.Sprintf("more than %d files", mostWalked)}
			}
			switch {
			case err != nil && d == nil:
				return fs.SkipAll // there is nothing
			case err != nil, paths.Within(s.except, path):
				return skip(d)
			case !rules.Name(path):
				return nil
			}
			if out = append(out, path); len(out) > mostNamed {
				return &DeniedError{start, fmt.Sprintf("they name more than %d files", mostNamed)}
			}
			if d.Type()&fs.ModeSymlink != 0 {
				out = append(out, paths.Real(path))
			}
			return skip(d)
		})
		if err != nil {
			return nil, err
		}
	}
	more, err := s.otherNames(out)
	return paths.Unique(append(out, more...)), err
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// starts returns where to look: the starts of the rules in the folders, and the folders below a start, without those in another.
func (s *nameSearch) starts(rules FileRules) []string {
	var all []string
	for _, start := range rules.Starts() {
		for _, dir := range s.folders {
			switch {
			case paths.Within([]string{dir}, start):
				all = append(all, start)
			case paths.Within([]string{start}, dir):
				all = append(all, dir)
			}
		}
	}
	all = paths.Unique(all)
	return slices.DeleteFunc(slices.Clone(all), func(dir string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return other != dir && paths.Within([]string{other}, dir) })
	})
}

// otherNames returns the other names in the folders of those files among some paths, and in those folders, that have several.
func (s *nameSearch) otherNames(named []string) ([]string, error) {
	linked := map[paths.FileID]bool{}
	err := s.shared(named, func(_ string, id paths.FileID) { linked[id] = true })
	if err != nil || len(linked) == 0 {
		return nil, err
	}
	var out []string
	err = s.shared(s.folders, func(path string, id paths.FileID) {
		if linked[id] && !paths.Within(named, path) {
			out = append(out, path)
		}
	})
	if len(out) > mostNamed {
		return nil, &DeniedError{s.folders[0], fmt.Sprintf("they name files with more than %d other names", mostNamed)}
	}
	return out, err
}

// shared visits the files with several names that are some paths, or lie below them.
func (s *nameSearch) shared(starts []string, visit func(path string, id paths.FileID)) error {
	for _, start := range starts {
		err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
			if s.walked++; s.walked > mostWalked {
				return &DeniedError{start, fmt.Sprintf("more than %d files", mostWalked)}
			}
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if info, err := d.Info(); err == nil {
				if id, ok := paths.Shared(info); ok {
					visit(path, id)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
