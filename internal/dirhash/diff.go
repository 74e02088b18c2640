package dirhash

import (
	"cmp"
	"slices"
)

// Change is one difference between two states of a directory.
type Change struct {
	Path string
	Kind Kind
}

// Kind is the kind of a Change.
type Kind uint8

// The kinds of a Change. A file that became a link, or a link that became a file, is Changed.
const (
	Added Kind = iota
	Removed
	Changed
)

// String returns "added", "removed" or "changed".
func (k Kind) String() string { return [...]string{"added", "removed", "changed"}[k] }

// Diff returns the changes from old to new, sorted by path. It compares paths, kinds and hashes but not sizes. The lists
// may be in any order.
func Diff(old, new []File) []Change {
	before := make(map[string]File, len(old))
	for _, f := range old {
		before[f.Path] = f
	}
	var out []Change
	for _, f := range new {
		was, known := before[f.Path]
		delete(before, f.Path)
		switch {
		case !known:
			out = append(out, Change{f.Path, Added})
		case was.SHA256 != f.SHA256 || was.Link != f.Link:
			out = append(out, Change{f.Path, Changed})
		}
	}
	for path := range before {
		out = append(out, Change{path, Removed})
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
