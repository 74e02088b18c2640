package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/listing"
	"github.com/agent-base/agent-base/internal/paths"
)

// hideSockets puts something unreadable over the sockets of programs outside that lie in folders which the command sees: over one it would
// reach its service, whatever network it has. One that the user granted by its own name can be reached. Without namespaces the command
// has no unix sockets, and it has none where it is not known which there are.
//
// Any file of a folder that was granted can be a socket, under a name that no program gave it: these folders are searched. In those of the
// system and of other installed programs it has the name that its program gave it.
func (p *plan) hideSockets() {
	text, err := os.ReadFile("/proc/self/net/unix")
	for _, name := range boundNames(string(text)) {
		p.hideSocket(name)
	}
	s := &socketSearch{left: mostSearched}
	folders := paths.Without(slices.Concat(p.c.Read, p.c.Write), slices.Concat(p.c.Own, p.c.Stored, p.c.Installed)) // Own and Stored are no others'
	slices.Sort(folders)                                                                                            // a folder before those in it
	for _, dir := range folders {
		s.search(filepath.Clean(dir))
	}
	for _, path := range s.found {
		p.hideSocket(path)
	}
	switch {
	case err != nil:
		s.unknown = "it is not known which there are"
	case s.left <= 0:
		s.unknown = fmt.Sprintf("it sees folders with more than %d files", mostSearched)
	case s.unknown == "":
		return
	}
	p.noSockets = true
	p.missing = append(p.missing, "sockets: the command has no unix sockets, because "+s.unknown)
}

// mostSearched is how many files and folders are looked at for sockets when a command starts.
const mostSearched = 200_000

// socketSearch looks for sockets.
type socketSearch struct {
	done    []string // folders that were searched
	found   []string
	left    int    // files and folders to look at
	unknown string // why it does not know all of them, "" if it does
	lister  listing.Lister
}

// search looks in a folder and those below it, without following links.
func (s *socketSearch) search(top string) {
	if paths.Within(s.done, top) {
		return
	}
	s.done = append(s.done, top)
	for next := []string{top}; len(next) > 0 && s.left > 0; {
		dir := next[len(next)-1]
		next = next[:len(next)-1]
		s.left--
		err := s.lister.List(dir, func(name string, kind fs.FileMode) bool {
			s.left--
			switch kind {
			case fs.ModeDir:
				next = append(next, dir+"/"+name)
			case fs.ModeSocket:
				s.found = append(s.found, dir+"/"+name)
			}
			return s.left > 0
		})
		if err != nil && mayHold(dir, err) {
			s.unknown = "it cannot be seen what is in " + dir
		}
	}
}

// mayHold reports whether what cannot be listed may have sockets all the same. What is no folder has none.
func mayHold(dir string, err error) bool {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return false
	case !errors.Is(err, fs.ErrPermission):
		return true
	}
	var info unix.Stat_t
	return unix.Access(dir, unix.X_OK) == nil || unix.Lstat(dir, &info) == nil && int(info.Uid) == os.Geteuid()
}

func (p *plan) hideSocket(path string) {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	over, ok := p.view.above(path)
	if _, granted := p.view.entries[path]; granted || !ok || over.kind != readable && over.kind != writable && over.kind != kept && over.kind != layered {
		return
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		p.view.add(entry{path: path, kind: hiddenFile, optional: true})
	}
}

// boundNames returns the absolute names of the unix sockets in a list of /proc/net/unix.
func boundNames(list string) []string {
	const columns = 7 // before the name, which may have spaces
	var names []string
	for line := range strings.Lines(list) {
		rest := strings.TrimSuffix(line, "\n")
		for range columns {
			_, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		}
		if filepath.IsAbs(rest) {
			names = append(names, rest)
		}
	}
	return names
}
