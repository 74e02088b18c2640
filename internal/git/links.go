package git

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// follow puts in the place of each symbolic link the file of the tree that it leads to. Other links are left out. The targets are
// read from the contents; nothing outside the tree is looked at.
func (t *tree) follow(c *contents) error {
	links := map[string]bool{}
	for _, n := range t.links {
		links[n.path] = true
	}
	kind := func(p string) filename.Kind {
		n := t.nodes[p]
		switch {
		case links[p]:
			return filename.Link
		case n == nil:
			return filename.None
		case n.mode.IsDir():
			return filename.Folder
		}
		return filename.File
	}
	var copies []*node
	for _, n := range t.links {
		target, err := c.short(n.id)
		if err != nil {
			return err
		}
		file, why := filename.Follow(n.path, target, kind)
		if why != "" {
			t.left = append(t.left, LeftOut{Path: n.path, Reason: why})
			continue
		}
		of := t.nodes[file]
		copies = append(copies, &node{name: n.name, path: n.path, id: of.id, mode: of.mode})
	}
	t.links = nil
	for _, n := range copies {
		if err := t.put(n); err != nil {
			return err
		}
		t.files = append(t.files, n)
		slices.SortFunc(t.nodes[path.Dir(n.path)].children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return nil
}

// short returns a content that is here, and of a long one only the beginning, which is too long for the target of a link.
func (c *contents) short(id string) (string, error) {
	at := c.places[id]
	b := make([]byte, min(at.size, filename.MaxTarget+1))
	if _, err := c.file.ReadAt(b, at.offset); err != nil {
		return "", fmt.Errorf("reading what git has: %w", err)
	}
	return string(b), nil
}
