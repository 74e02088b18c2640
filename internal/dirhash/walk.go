package dirhash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/content"
)

const (
	maxDepth = 100 // folders inside each other
	batch    = 512 // entries read at once, so a huge folder exceeds the limit before it is in memory
)

type walker struct {
	fsys                fs.FS
	entries, maxEntries int   // remaining and allowed
	bytes, maxBytes     int64 // remaining and allowed
	buf                 []byte
	whole               bool
	files               []File
	left                int
	links               map[string]string // texts by path
}

// list collects the files and links below the root, unsorted.
func (w *walker) list(ctx context.Context) error {
	for todo := []string{"."}; len(todo) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if strings.Count(dir, "/") >= maxDepth {
			return fmt.Errorf("folders are nested deeper than %d levels at %q", maxDepth, dir[:80]+"…")
		}
		dirs, err := w.listOne(dir)
		if err != nil {
			return err
		}
		todo = append(todo, dirs...)
	}
	return nil
}

// listOne adds the files and links of one folder and returns its sub-folders.
func (w *walker) listOne(dir string) (dirs []string, err error) {
	f, err := w.fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fmt.Errorf("%q cannot be listed", dir)
	}
	for {
		list, err := d.ReadDir(batch)
		for _, e := range list {
			name := path.Join(dir, e.Name())
			if w.leave(name) {
				continue
			}
			if e.IsDir() {
				dirs = append(dirs, name)
			}
			if err := w.add(name, e); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(list) == 0 {
			return dirs, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// leave reports whether the digest does not cover an entry, and notes it.
func (w *walker) leave(name string) bool {
	if w.whole {
		return name == ".git"
	}
	left := content.Leftover(w.fsys, name) != ""
	if left {
		w.left++
	}
	return left
}

func (w *walker) add(name string, e fs.DirEntry) error {
	if w.entries--; w.entries < 0 {
		return fmt.Errorf("more than %d files and folders (at %q): move large data out of it", w.maxEntries, name)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("file name %q is not UTF-8", name)
	}
	switch e.Type() {
	case 0:
		w.files = append(w.files, File{Path: name})
		return nil
	case fs.ModeDir:
		return nil
	case fs.ModeSymlink:
		text, err := fs.ReadLink(w.fsys, name)
		if err != nil {
			return err
		}
		if !contained(name, text) {
			return fmt.Errorf("link %q leads out of the skill, to %q: replace it by a copy", name, text)
		}
		w.links[name] = text
		w.files = append(w.files, File{Path: name, Link: true})
		return nil
	}
	return special(name, e.Type())
}

// contained reports whether a link stays below the root, wherever other links lead. All ".." must be at the beginning of
// its text: after the name of another link, ".." is not the folder that precedes it in the text. A backslash is not
// accepted, since it separates names on some systems only.
func contained(name, text string) bool {
	if text == "" || path.IsAbs(text) || strings.Contains(text, `\`) {
		return false
	}
	up, down := 0, false
	for part := range strings.SplitSeq(text, "/") {
		switch {
		case part == ".." && down:
			return false
		case part == "..":
			up++
		case part != "." && part != "":
			down = true
		}
	}
	return up <= strings.Count(name, "/")
}
