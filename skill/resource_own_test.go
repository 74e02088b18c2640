package skill

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
)

// credulous is a tree that takes any name, cleans it and opens what that is. It remembers what it was asked for.
type credulous struct {
	ownTree
	mu    *sync.Mutex
	asked *[]string
}

func (c credulous) Open(name string) (fs.File, error) {
	c.mu.Lock()
	*c.asked = append(*c.asked, name)
	c.mu.Unlock()
	return c.ownTree.Open(path.Clean(name))
}

// A11: a path is refused before the source of a skill sees it, and what is not a regular file is not read.
func TestReadTrustsNoTree(t *testing.T) {
	var asked []string
	tree := credulous{ownTree{fstest.MapFS{
		"SKILL.md":        {Data: []byte(skillText("a", ""))},
		"references/a.md": {Data: []byte("A")},
		"pipe":            {Mode: fs.ModeNamedPipe},
		"device":          {Mode: fs.ModeDevice},
	}}, &sync.Mutex{}, &asked}
	c := opened(t, &Options{Layers: []Layer{{Name: "own", Source: own(func(context.Context) (Tree, error) { return tree, nil })}}})
	s := loaded(t, c, "a")
	for _, name := range []string{"./SKILL.md", "references//a.md", "references/./a.md", "references/../SKILL.md", "SKILL.md/"} {
		if _, err := s.Read(name); !errors.Is(err, fs.ErrInvalid) || slices.Contains(asked, name) {
			t.Errorf("%s: %v; the tree was asked for %q", name, err, asked)
		}
	}
	for _, name := range []string{"pipe", "device"} {
		if res, err := s.Read(name); !errors.Is(err, errIrregular) {
			t.Errorf("%s: got %v, %v", name, res, err)
		}
	}
	if res, err := s.Read("references/a.md"); err != nil || string(res.Data) != "A" {
		t.Errorf("got %v, %v", res, err)
	}
}
