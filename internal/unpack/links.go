package unpack

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/agent-base/agent-base/internal/filename"
)

// link is a symbolic link of an archive.
type link struct{ name, target string }

// link notes a link of an archive, or refuses it. Its name is taken: no file can have it or lie below it.
func (w *Writer) link(name, target string) error {
	if w.err != nil {
		return w.err
	}
	if !w.o.FollowLinks {
		w.err = special(name, fs.ModeSymlink)
	} else if w.err = w.seen.Add(name, false); w.err == nil {
		w.links = append(w.links, link{name, target})
	}
	return w.err
}

// LeftOut returns what was left out, and why, as "x is a symbolic link to \"y\", a folder".
func (w *Writer) LeftOut() []string { return w.left }

// follow writes a copy of the file that each link leads to. It looks only at what was written.
func (w *Writer) follow(ctx context.Context) error {
	if w.err = cmp.Or(w.err, w.leave()); w.err != nil {
		return w.err
	}
	links := map[string]bool{}
	for _, l := range w.links {
		links[l.name] = true
	}
	kind := func(p string) filename.Kind {
		info, err := w.root.Lstat(p)
		switch {
		case links[p]:
			return filename.Link
		case err != nil:
			return filename.None
		case info.IsDir():
			return filename.Folder
		}
		return filename.File
	}
	for _, l := range w.links {
		file, why := filename.Follow(l.name, l.target, kind)
		if why != "" {
			w.left = append(w.left, l.name+" "+why)
			continue
		}
		if w.err = w.duplicate(ctx, l.name, file); w.err != nil {
			return w.err
		}
	}
	w.links = nil
	return nil
}

// duplicate writes a copy of a file that was written.
func (w *Writer) duplicate(ctx context.Context, name, file string) error {
	f, err := w.root.Open(file)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = w.write(name, info.Mode()&0o111 != 0, reader{ctx, f}, info.Size())
	}
	return errors.Join(err, f.Close())
}
