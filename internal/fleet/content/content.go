// Package content brings the content of skills to the machine that runs them, by digest: Spool makes an archive of one, a Cache gets,
// checks and keeps it. The sender of an archive is not trusted: content that does not have the digest is not kept.
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
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/proc"
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

// Check returns an error if the content of a skill cannot be sent, which may be a *LinkError.
func Check(ctx context.Context, s *skill.Skill) error {
	_, err := files(ctx, s)
	return err
}

// files returns the files that the digest of a skill covers.
func files(ctx context.Context, s *skill.Skill) ([]skill.SumFile, error) {
	sum, err := s.Sum(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(sum.Files, func(f skill.SumFile) bool { return f.Link }); i >= 0 {
		return nil, &LinkError{s.Name(), sum.Files[i].Path}
	}
	return sum.Files, nil
}

// Pack writes the files that the digest of a skill covers, as a tar archive. The error may be that of Check.
func Pack(ctx context.Context, w io.Writer, s *skill.Skill) error {
	covered, err := files(ctx, s)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	for _, f := range covered {
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

// Spool writes the archive of a skill to a temporary file in a folder. The caller closes and removes it.
func Spool(ctx context.Context, dir string, s *skill.Skill) (*os.File, error) {
	f, err := os.CreateTemp(dir, "content-")
	if err != nil {
		return nil, err
	}
	if err = Pack(ctx, f, s); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// DefaultMost is how many bytes of contents a Cache keeps.
const DefaultMost = 1 << 30

// Cache keeps contents in a folder. It is safe for concurrent use, also by several processes.
type Cache struct {
	Dir  store.Dir
	Most int64 // bytes of all contents; default DefaultMost. Those that were not opened for longest go first, and none that is open

	mu     sync.Mutex
	coming map[string]chan struct{} // contents that are on their way, by path; closed when they have come or failed
}

// Get returns the archive of a content.
type Get func(context.Context) (io.ReadCloser, error)

// Open opens the skill with an ID, and gets its content if it is not there, or not whole. Of several calls for the same content one gets
// it. The caller closes the skill and then calls release: until then the content is not removed.
func (c *Cache) Open(ctx context.Context, id skill.ID, get Get) (s *skill.Skill, release func(), err error) {
	path, err := c.Dir.Path(id.Name, id.Digest)
	if err != nil {
		return nil, nil, err
	}
	for range 2 {
		if release, err = c.hold(ctx, path, id, get); err != nil {
			break
		}
		if s, err = whole(ctx, path, id); err == nil {
			return s, release, nil
		}
		release() // somebody has changed it since it came
		if removed, bad := c.Dir.Remove(ctx, path); !removed {
			err = errors.Join(err, bad)
			break
		}
	}
	return nil, nil, fmt.Errorf("skill %q with the digest %s: %w", id.Name, id.Digest, err)
}

// whole opens the skill in a folder. It returns an error unless that is the content of an ID.
func whole(ctx context.Context, path string, id skill.ID) (*skill.Skill, error) {
	s, err := At(ctx, path, id)
	if err != nil {
		return nil, err
	}
	now, err := s.ID(ctx)
	if err == nil && now != id {
		err = fmt.Errorf("the content of skill %q is that of %+v", id.Name, now)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// hold keeps the content from being removed, and gets it first if it is not there.
func (c *Cache) hold(ctx context.Context, path string, id skill.ID, get Get) (release func(), err error) {
	for {
		release, err := c.Dir.Lease(ctx, path)
		if !errors.Is(err, fs.ErrNotExist) {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // when it was last used
			return release, err
		}
		c.mu.Lock()
		come, others := c.coming[path]
		if !others {
			if c.coming == nil {
				c.coming = map[string]chan struct{}{}
			}
			come = make(chan struct{})
			c.coming[path] = come
		}
		c.mu.Unlock()
		if !others {
			release, err := c.get(ctx, id, get)
			c.mu.Lock()
			delete(c.coming, path)
			c.mu.Unlock()
			close(come)
			if err == nil {
				c.prune(ctx)
			}
			return release, err
		}
		select { // if that fails, another call gets it
		case <-come:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// get gets a content, keeps it if it is the one, and holds it.
func (c *Cache) get(ctx context.Context, id skill.ID, get Get) (release func(), err error) {
	from, err := get(ctx)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	err = Keep(ctx, &c.Dir, id.Name, id.Digest, from, func(path string) error {
		release, err = c.Dir.Lease(ctx, path)
		return err
	})
	return release, err
}

// Keep reads the archive of a content and keeps it in a store. It returns an error if the archive has another digest. It calls use, which may be
// nil, with the folder of the content: before use returns nothing removes that.
func Keep(ctx context.Context, in *store.Dir, name, digest string, from io.Reader, use func(path string) error) (err error) {
	stage, err := in.Stage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	const sub = "content"
	if err := write(ctx, from, filepath.Join(stage.Dir, sub)); err != nil {
		return err
	}
	path, err := stage.Keep(ctx, sub, name, digest)
	if err != nil || use == nil {
		return err
	}
	return use(path)
}

// prune removes contents until the others fit, and what killed processes have left. It leaves what cannot be removed now for the next call.
func (c *Cache) prune(ctx context.Context) {
	most := c.Most
	if most <= 0 {
		most = DefaultMost
	}
	type kept struct {
		path string
		used time.Time
		size int64
	}
	var all []kept
	var sum int64
	for _, path := range c.Dir.Versions() {
		if info, err := os.Stat(path); err == nil {
			_, size := proc.Measure(path)
			all, sum = append(all, kept{path, info.ModTime(), size}), sum+size
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, k := range all {
		if sum <= most {
			break
		}
		if removed, _ := c.Dir.Remove(ctx, k.path); removed {
			sum -= k.size
		}
	}
	_, _ = c.Dir.Sweep(ctx, func(context.Context) (func(string) bool, error) { return func(string) bool { return true }, nil }, nil)
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

// At opens the skill in a folder, under an ID. It does not check the digest.
func At(ctx context.Context, dir string, id skill.ID) (*skill.Skill, error) {
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: id.Layer, Place: id.Layer, Source: skill.Dir(dir, nil)}}})
	if err != nil {
		return nil, err
	}
	e, err := c.Lookup(id.Name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}
