package git

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// LeftOut is an entry of a commit that the file system does not have.
type LeftOut struct {
	Path   string
	Reason string // such as "is a submodule"
	Commit string // id, of a submodule
}

// Submodule reports whether the entry is a submodule.
func (l *LeftOut) Submodule() bool { return l.Reason == isSubmodule }

// node is a file or a folder of a commit.
type node struct {
	name     string
	path     string
	id       string // of a file's content
	mode     fs.FileMode
	children []*node // of a folder, sorted by name

	from *Repository // of a file of a submodule: where it is
	own  *node       // and what it is there
}

// tree has the files of a commit by their paths, folders included.
type tree struct {
	nodes map[string]*node
	files []*node // in the order of git; copies in place of links come last
	links []*node // symbolic links: the content is the target
	left  []LeftOut
	keep  func(path string) bool // which entries are wanted; nil wants all
}

// What names may be.
const (
	mostPath  = 1024 // bytes
	mostDepth = 64   // names in a path
)

// parseTree reads a list of files. If there are more than a limit, it keeps those that choose wants, all submodules and SubmodulesFile. It returns an
// error for entries that no honest repository has: names that lead out of the folder or into git's own, control characters, and two
// entries with one name. What cannot be kept everywhere is left out.
func parseTree(l listing, mostFiles int, choose Choose) (*tree, error) {
	t, err := readTree(l, mostFiles, nil)
	if choose != nil && errors.Is(err, ErrTooMany) {
		return readTree(l, mostFiles, choose(l.paths()))
	}
	return t, err
}

// readTree is parseTree for the files that keep wants; nil wants all.
func readTree(l listing, mostFiles int, keep func(path string) bool) (*tree, error) {
	t := &tree{nodes: map[string]*node{".": {name: ".", path: ".", mode: fs.ModeDir | 0o755}}, keep: keep}
	for entry, err := range l.entries() {
		if err != nil {
			return nil, err
		}
		if err := t.add(entry); err != nil {
			return nil, err
		}
		if len(t.files)+len(t.links)+len(t.left) > mostFiles {
			return nil, &tooMany{tooMuch{tooManyText(mostFiles, keep != nil)}}
		}
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return t, nil
}

func tooManyText(most int, chosen bool) string {
	if chosen {
		return fmt.Sprintf("more than %d of its files are wanted", most)
	}
	return fmt.Sprintf("it has more than %d files", most)
}

// add adds an entry: mode, type, id and, after a tab, the path.
func (t *tree) add(entry string) error {
	head, p, ok := strings.Cut(entry, "\t")
	words := strings.Split(head, " ")
	if !ok || len(words) != 3 || !isID(words[2]) {
		return fmt.Errorf("%w: its list of files cannot be read at %.80q", ErrHostile, entry)
	}
	if why := hostile(p); why != "" {
		return fmt.Errorf("%w: the path %.120q %s", ErrHostile, p, why)
	}
	mode, reason := fileMode(words[0])
	if t.keep != nil && reason != isSubmodule && p != SubmodulesFile && !t.keep(p) {
		return nil
	}
	if reason == "" {
		reason = unusual(p)
	}
	if reason != "" {
		l := LeftOut{Path: p, Reason: reason}
		if l.Submodule() {
			l.Commit = words[2]
		}
		t.left = append(t.left, l)
		return nil
	}
	n := &node{name: path.Base(p), path: p, id: words[2], mode: mode}
	if mode == fs.ModeSymlink {
		t.links = append(t.links, n)
		return nil
	}
	if err := t.put(n); err != nil {
		return err
	}
	t.files = append(t.files, n)
	return nil
}

// put adds a node and the folders above it.
func (t *tree) put(n *node) error {
	if other := t.nodes[n.path]; other != nil {
		return fmt.Errorf("%w: it has %q twice", ErrHostile, n.path)
	}
	t.nodes[n.path] = n
	dir := path.Dir(n.path)
	parent := t.nodes[dir]
	if parent == nil {
		parent = &node{name: path.Base(dir), path: dir, mode: fs.ModeDir | 0o755}
		if err := t.put(parent); err != nil {
			return err
		}
	}
	if !parent.mode.IsDir() {
		return fmt.Errorf("%w: it has %q as a file and as a folder", ErrHostile, dir)
	}
	parent.children = append(parent.children, n)
	return nil
}

// fileMode returns the mode that a file gets, or why the entry is left out.
func fileMode(mode string) (fs.FileMode, string) {
	switch mode {
	case "100644", "100664":
		return 0o644, ""
	case "100755":
		return 0o755, ""
	case "120000":
		return fs.ModeSymlink, ""
	case "160000":
		return 0, isSubmodule
	}
	return 0, "has the mode " + mode
}

const isSubmodule = "is a submodule"

// hostile returns what is wrong with a path that no honest repository has.
func hostile(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		return "has a control character"
	}
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "", part == ".", part == "..":
			return "leads out of its folder"
		case filename.IsGit(part):
			return "is in git's own folder"
		}
	}
	return ""
}

// unusual returns why a file cannot be kept under its path everywhere.
func unusual(p string) string {
	if len(p) > mostPath || strings.Count(p, "/") >= mostDepth {
		return "has a path that is too long"
	}
	for part := range strings.SplitSeq(p, "/") {
		if why := filename.Unsafe(part); why != "" {
			return "has a name that " + why
		}
	}
	return ""
}

// below reports whether a path is a folder or lies in it.
func below(dir, p string) bool {
	return dir == "." || p == dir || len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

var errNotFolder = errors.New("not a folder")
