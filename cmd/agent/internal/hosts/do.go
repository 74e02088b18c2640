package hosts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/unpack"
)

// ErrExists is the error for a file, folder or link that no export has made. It stays as it is.
var ErrExists = errors.New("something else is there")

// Done is what an Export has done.
type Done struct {
	Export    *Export
	Unchanged bool // everything was there already
	Replaced  bool // an earlier export was there
}

// Do puts the skill into the folder of the agent. It makes the folder if it is missing. An earlier export is replaced in one step,
// so a reader finds the old or the new one; anything else is ErrExists.
//
// In a project, no link leads Do out of it: a project is from somebody else. In the home folder, links are the user's own and are
// followed.
func (e *Export) Do(ctx context.Context) (*Done, error) {
	if err := e.checkSource(); err != nil {
		return nil, err
	}
	d := &Done{Export: e}
	p, err := e.open()
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	made, err := mkdirs(p.root, p.dir)
	if err == nil {
		err = p.put(ctx, d)
	}
	if err != nil {
		for _, dir := range slices.Backward(made) {
			_ = p.root.Remove(dir) // which is not empty if somebody uses it
		}
		return nil, fmt.Errorf("%s: %w", e.Location(), err)
	}
	return d, nil
}

// Check reports whether there is an earlier export, and changes nothing. ErrExists says that something else is there.
func (e *Export) Check(ctx context.Context) (bool, error) {
	p, err := e.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer p.root.Close()
	is, err := p.look(ctx)
	if err == nil && is.exists && !is.ours {
		err = fmt.Errorf("%s: %w", e.Location(), ErrExists)
	}
	return is.exists, err
}

// checkSource fails if what is exported is not a skill.
func (e *Export) checkSource() error {
	info, err := os.Stat(filepath.Join(e.Source, "SKILL.md"))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return fmt.Errorf("%s has no SKILL.md: %w", e.Source, err)
	}
	return nil
}

// place is the folder of a host, open.
type place struct {
	root *os.Root
	dir  string // slash path below root of the folder; "." for root
	e    *Export
}

// open opens the folder that the folder of the host is below, which need not exist.
func (e *Export) open() (*place, error) {
	base, dir := e.Base, path.Dir(e.Path)
	if e.Scope == User {
		base, dir = resolve(base, dir)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &place{root, dir, e}, nil
}

// resolve follows the links of the part of dir that exists.
func resolve(base, dir string) (string, string) {
	var rest []string
	for dir != "." {
		if found, err := filepath.EvalSymlinks(filepath.Join(base, filepath.FromSlash(dir))); err == nil {
			return found, path.Join(append(rest, ".")...)
		}
		rest = slices.Insert(rest, 0, path.Base(dir))
		dir = path.Dir(dir)
	}
	return base, path.Join(rest...)
}

// mkdirs makes a folder and those above it. It returns those that did not exist, the outermost first.
func mkdirs(root *os.Root, dir string) (made []string, err error) {
	if dir == "." {
		return nil, nil
	}
	if made, err = mkdirs(root, path.Dir(dir)); err != nil {
		return made, err
	}
	if err = root.Mkdir(dir, 0o755); err == nil {
		made = append(made, dir)
	}
	if info, is := root.Stat(dir); errors.Is(err, fs.ErrExist) && is == nil && info.IsDir() {
		return made, nil
	}
	return made, err
}

func (p *place) name() string { return path.Join(p.dir, path.Base(p.e.Path)) }

// found is what is in the place of the skill.
type found struct {
	exists bool
	target string // of a link
	digest string // of a folder
	ours   bool   // an export has made it, and nobody has changed it
}

func (p *place) look(ctx context.Context) (found, error) {
	info, err := p.root.Lstat(p.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{}, nil
	case err != nil:
		return found{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := p.root.Readlink(p.name())
		return found{exists: true, target: target, ours: p.e.owns(target)}, err
	case info.IsDir():
		ours, digest, err := p.digest(ctx, p.name())
		return found{exists: true, digest: digest, ours: err == nil && ours}, ctx.Err()
	}
	return found{exists: true}, nil
}

// owns reports whether a link was made by an export.
func (e *Export) owns(target string) bool {
	if target == e.Source {
		return true
	}
	return slices.ContainsFunc(e.own, func(dir string) bool { return inside(target, dir) })
}

// inside reports whether the path of a link is in a folder, by its text.
func inside(target, dir string) bool {
	rel, err := filepath.Rel(filepath.Clean(dir), target)
	return filepath.IsAbs(target) && err == nil && rel != "." && filepath.IsLocal(rel)
}

// digest returns the digest of a folder, and whether an export has made its content.
func (p *place) digest(ctx context.Context, name string) (ours bool, digest string, err error) {
	sub, err := p.root.OpenRoot(name)
	if err != nil {
		return false, "", err
	}
	defer sub.Close()
	ours, sum, err := dirhash.Is(ctx, sub.FS(), p.e.digests...)
	return ours, sum.Digest, err
}

// put makes the link or the copy.
func (p *place) put(ctx context.Context, d *Done) error {
	is, err := p.look(ctx)
	if err != nil {
		return err
	}
	if is.exists && !is.ours {
		return ErrExists
	}
	if p.e.Method == Link && is.target == p.e.Source {
		d.Unchanged = true
		return nil
	}
	d.Replaced = is.exists
	if p.e.Method == Link && !is.exists {
		return p.root.Symlink(p.e.Source, p.name())
	}
	fresh := path.Join(p.dir, ".agent-base-"+rand.Text())
	defer p.root.RemoveAll(fresh) // what is there if it could not be put into its place
	if p.e.Method == Link {
		if err := p.root.Symlink(p.e.Source, fresh); err != nil {
			return err
		}
		return p.replace(fresh, is)
	}
	digest, err := p.copy(ctx, fresh)
	if err != nil {
		return err
	}
	if d.Unchanged = is.digest == digest; d.Unchanged {
		return nil
	}
	return p.replace(fresh, is)
}

// copy writes the skill to a new folder and returns its digest.
func (p *place) copy(ctx context.Context, to string) (string, error) {
	from, err := os.OpenRoot(p.e.Source)
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := p.root.Mkdir(to, 0o755); err != nil {
		return "", err
	}
	sub, err := p.root.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer sub.Close()
	w := unpack.NewWriter(sub, nil)
	if err := unpack.Copy(ctx, content.Of(from.FS()), w); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	_, digest, err := p.digest(ctx, to)
	return digest, err
}

// replace gives what is in fresh the name of the skill. A folder cannot take the place of another in one step: the old one is moved
// away first, and comes back if that fails.
func (p *place) replace(fresh string, is found) error {
	if !is.exists || is.target != "" && p.e.Method == Link {
		return p.root.Rename(fresh, p.name())
	}
	old := path.Join(p.dir, ".agent-base-"+rand.Text())
	if err := p.root.Rename(p.name(), old); err != nil {
		return err
	}
	if err := p.root.Rename(fresh, p.name()); err != nil {
		return errors.Join(err, p.root.Rename(old, p.name()))
	}
	return p.root.RemoveAll(old)
}

// Remove removes an export from the folder of the agent: a link that an export has made, or a copy with one of Request.Digests. It
// reports whether there was one. Anything else is ErrExists and stays.
func (e *Export) Remove(ctx context.Context) (bool, error) {
	p, err := e.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer p.root.Close()
	return p.remove(ctx)
}

func (p *place) remove(ctx context.Context) (bool, error) {
	is, err := p.look(ctx)
	switch {
	case err != nil || !is.exists:
		return false, err
	case !is.ours:
		return false, fmt.Errorf("%s: %w", p.e.Location(), ErrExists)
	case is.target != "":
		return true, p.root.Remove(p.name())
	}
	old := path.Join(p.dir, ".agent-base-"+rand.Text())
	if err := p.root.Rename(p.name(), old); err != nil {
		return false, err
	}
	return true, p.root.RemoveAll(old)
}
