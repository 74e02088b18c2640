package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/listing"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/paths"
)

// Limits of a look at a folder that a command may write.
const (
	mostSearched    = 2000 // folders before a command
	deepestSearched = 12
	mostLooked      = 20_000 // of those, and of new ones, after it
	deepestLooked   = 64
)

// notSearched are the names of folders in which nothing is looked for: they hold packages, and many files.
var notSearched = []string{"node_modules", "venv", "__pycache__", "site-packages"}

// Seen is a folder that a command may write, with what other programs obeyed in it before. Nothing of that kind comes to be there.
type Seen struct {
	Dir string // absolute

	home    bool            // it is the home of the user
	open    bool            // only repositories count
	granted []string        // what in it the user granted by name, absolute
	had     map[string]bool // what was obeyed, or looks like it, as slash paths below Dir
	unread  map[string]bool // folders that were not searched

	loose        []os.FileInfo // of what had has, and the command may change
	keep, absent []string      // absolute paths that stay as they are, and that do not come to be
}

// named is a name in a folder, as a look finds it.
type named struct {
	dir, name string // dir is a slash path below Seen.Dir, "" for itself
	isDir     bool
	under     bool // the folder lies in a dot folder of which nothing is known: what is in it is its own affair, unless it is listed
}

func (n *named) rel() string { return path.Join(n.dir, n.name) }

// look notes what is obeyed in a folder.
func look(s *Seen) *Seen {
	s.had, s.unread = map[string]bool{}, map[string]bool{}
	s.walk(mostSearched, deepestSearched, s.note, func(rel string) bool {
		s.had[rel] = true
		s.addRepository(rel)
		return false
	}, func(rel string) { s.unread[rel] = true })
	return s
}

// note notes one entry, and reports whether to look into it.
func (s *Seen) note(n named) bool {
	f, ok := s.find(n)
	if f.Made || ok && s.isGranted(n) {
		return false
	}
	if !ok {
		return n.isDir && !s.isGranted(n)
	}
	rel := n.rel()
	s.had[rel] = true
	switch {
	case filename.IsRepository(n.name):
		s.addRepository(rel)
		return false
	case s.counts(&f, n):
		at := s.abs(rel)
		s.keep = append(s.keep, at)
		if real := paths.Real(at); real != at {
			s.keep = append(s.keep, real)
		}
		return false
	}
	if info, err := os.Lstat(s.abs(rel)); err == nil {
		s.loose = append(s.loose, info)
	}
	return true
}

// moved reports whether something was there before under the same name in another folder, and is not listed: with a folder that was
// moved it was, too.
func (s *Seen) moved(rel string) bool {
	f, ok := obeyed.In(path.Dir(rel), path.Base(rel))
	info, err := os.Lstat(s.abs(rel))
	return ok && !f.Listed && err == nil && slices.ContainsFunc(s.loose, func(was os.FileInfo) bool {
		return was.Name() == info.Name() && os.SameFile(was, info)
	})
}

// New returns what is obeyed in the folder now and was not there before, and an error if there was too much to look at.
func (s *Seen) New() ([]Undone, error) {
	var out []Undone
	add := func(rel, why string, isDir bool) {
		if !s.moved(rel) {
			out = append(out, Undone{Path: s.abs(rel), Why: why, IsDir: isDir})
		}
	}
	skipped := 0
	s.walk(mostLooked, deepestLooked, func(n named) bool {
		f, ok := s.find(n)
		if f.Made || !ok && !n.isDir || s.isGranted(n) {
			return false
		}
		rel := n.rel()
		had := s.had[rel]
		switch {
		case !ok:
			return !s.unread[rel]
		case filename.IsRepository(n.name):
			if !had && !s.plainRepository(rel) {
				add(rel, runsSettings, n.isDir)
			}
			return false
		case s.counts(&f, n), !had && !n.under:
			if !had {
				add(rel, f.Reason(), n.isDir)
			}
			return false
		}
		return true
	}, func(rel string) bool {
		switch had := s.had[rel]; {
		case had || s.plainRepository(rel):
			return !had
		case rel == "":
			add("HEAD", runsSettings, false) // without it the folder is no repository
		default:
			add(rel, runsSettings, true)
		}
		return rel == ""
	}, func(string) { skipped++ })
	if skipped > 0 {
		return out, fmt.Errorf("%d new folders were too many, or too deep, to look for files that other programs obey", skipped)
	}
	return out, nil
}

// runsSettings is why a new repository is moved aside that is not as git makes one.
const runsSettings = "git runs what its settings and hooks say"

// find returns what obeyed.In says about a name.
func (s *Seen) find(n named) (obeyed.Found, bool) {
	f, ok := obeyed.In(n.dir, n.name)
	return f, ok && (!s.open || f.Made || filename.IsRepository(n.name))
}

// counts reports whether what was found is listed for where it lies.
func (s *Seen) counts(f *obeyed.Found, n named) bool {
	return f.Listed && (!f.Home || s.home && n.dir == "")
}

func (s *Seen) isGranted(n named) bool {
	return len(s.granted) > 0 && slices.Contains(s.granted, s.abs(n.rel()))
}

// Forget has something taken for new that was there before, because it was moved away since.
func (s *Seen) Forget(abs string) {
	if rel, err := filepath.Rel(s.Dir, abs); err == nil {
		delete(s.had, filepath.ToSlash(rel))
	}
}

// Missing says what was not searched, "" for nothing.
func (s *Seen) Missing() string {
	if len(s.unread) == 0 {
		return ""
	}
	return fmt.Sprintf("keep: files that other programs obey were not looked for in %d folders below %s", len(s.unread), s.Dir)
}

func (s *Seen) abs(rel string) string { return filepath.Join(s.Dir, filepath.FromSlash(rel)) }

// below is a folder that a walk visits.
type below struct {
	rel   string
	under bool
}

// walk visits the entries of a folder, and of those folders in it for which visit says so, the nearest first. bare is told about folders
// that are repositories of git without a work tree, and says whether to go on below them; skip about those that were too many or too
// deep.
func (s *Seen) walk(most, deepest int, visit func(named) bool, bare func(rel string) bool, skip func(rel string)) {
	var l listing.Lister
	level, read := []below{{}}, 0
	for depth := 0; len(level) > 0; depth++ {
		var next []below
		for _, at := range level {
			if read++; read > most || depth > deepest {
				skip(at.rel)
				continue
			}
			next = append(next, s.read(&l, at, visit, bare)...)
		}
		level = next
	}
}

// read visits the entries of one folder, and returns the folders in it that are to be visited.
func (s *Seen) read(l *listing.Lister, at below, visit func(named) bool, bare func(rel string) bool) []below {
	var out []below
	parts := 0
	_ = l.List(s.abs(at.rel), func(name string, kind fs.FileMode) bool { // what cannot be read has no names
		isDir := kind.IsDir()
		if name == "HEAD" || name == "objects" || name == "refs" {
			parts++
		}
		n := named{at.rel, name, isDir, at.under}
		if isDir && slices.Contains(notSearched, name) || !visit(n) || !isDir {
			return true
		}
		rel := n.rel()
		out = append(out, below{rel, at.under || name[0] == '.' && s.had[rel]})
		return true
	})
	if parts == 3 && !bare(at.rel) {
		return nil
	}
	return out
}

// addRepository keeps what decides what git, or another version control system, runs in a folder of its own, or in one that a file
// names.
func (s *Seen) addRepository(rel string) {
	name, dir := path.Base(rel), s.abs(rel)
	if !filename.IsRepository(name) || filename.Plain(name) == ".git" {
		keep, absent := keptInGit(dir)
		s.keep, s.absent = append(s.keep, keep...), append(s.absent, absent...)
		return
	}
	for _, below := range obeyed.Below(name) {
		at := filepath.Join(dir, filepath.FromSlash(below))
		if _, err := os.Lstat(at); err == nil {
			s.keep = append(s.keep, at)
		} else {
			s.absent = append(s.absent, at)
		}
	}
}
