// Package content brings the content of skills to the machine that runs them, by digest: Write makes an archive of one, a Cache gets,
// checks and keeps it. Who sends an archive is not trusted: what does not have the digest is nowhere.
package content

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/unpack"
	"github.com/agent-base/agent-base/skill"
)

// LinkError is the error for a content that cannot be sent because it has a symbolic link.
type LinkError struct{ Skill, Path string }

// Error says what helps.
func (e *LinkError) Error() string {
	return fmt.Sprintf("skill %q is not sent to another machine, because %q is a symbolic link: put the file in its place, or install the skill, which does that", e.Skill, e.Path)
}

// Write writes the files that the digest of a skill covers, as a tar archive. The error may be a *LinkError.
func Write(ctx context.Context, w io.Writer, s *skill.Skill) error {
	sum, err := s.Sum(ctx)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	for _, f := range sum.Files {
		if f.Link {
			return &LinkError{s.Name(), f.Path}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := add(archive, s.FS(), f.Path, f.Size); err != nil {
			return err
		}
	}
	return archive.Close()
}

// add adds a file of some bytes to an archive.
func add(archive *tar.Writer, fsys fs.FS, name string, size int64) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: int64(info.Mode().Perm())}); err != nil {
		return err
	}
	_, err = io.Copy(archive, f) // more than the header says is an error
	return err
}

// Cache keeps contents in a folder. It is safe for concurrent use, also by several processes.
type Cache struct {
	Dir store.Dir

	// Get returns the archive of a content. It may be called at the same time for the same one.
	Get func(context.Context, skill.ID) (io.ReadCloser, error)
}

// Open opens the skill with an ID, and gets its content if it is not there. The caller closes the skill and then calls release: until
// then the content is not removed.
func (c *Cache) Open(ctx context.Context, id skill.ID) (s *skill.Skill, release func(), err error) {
	path, err := c.Dir.Path(id.Name, id.Digest)
	if err != nil {
		return nil, nil, err
	}
	release, err = c.Dir.Lease(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		release, err = c.get(ctx, id)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("skill %q with the digest %s: %w", id.Name, id.Digest, err)
	}
	if s, err = At(ctx, path, id); err == nil {
		now, bad := s.ID(ctx)
		if bad == nil && now != id {
			bad = fmt.Errorf("the content of skill %q is that of %+v", id.Name, now)
		}
		if err = bad; err != nil {
			s.Close()
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// get gets a content, keeps it if it is the one, and holds it.
func (c *Cache) get(ctx context.Context, id skill.ID) (release func(), err error) {
	from, err := c.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	stage, err := c.Dir.Stage(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	const sub = "content"
	if err := write(ctx, from, filepath.Join(stage.Dir, sub)); err != nil {
		return nil, err
	}
	path, err := stage.Keep(ctx, sub, id.Name, id.Digest)
	if err != nil {
		return nil, err
	}
	return c.Dir.Lease(ctx, path)
}

// write writes the files of an archive into a new folder.
func write(ctx context.Context, from io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	w := unpack.NewWriter(root, nil)
	return w.End(unpack.Tar(ctx, from, w))
}

// At opens what a folder has as the skill with an ID. Nobody has checked that it has its digest.
func At(ctx context.Context, dir string, id skill.ID) (*skill.Skill, error) {
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: id.Layer, Source: skill.Dir(dir, nil)}}})
	if err != nil {
		return nil, err
	}
	e, err := c.Lookup(id.Name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}
