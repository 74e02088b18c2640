package hosttool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is where a path leads: in the workspace or in the folder of a skill. The caller closes it.
type place struct {
	root  *os.Root
	dir   string // of root, absolute
	rel   string // slash path in root without links; "." is root
	shown string // the path as results show it
	mount *Mount // nil in the workspace
}

func (p *place) close() { p.root.Close() }

// name returns rel with the separators of the system.
func (p *place) name() string { return filepath.FromSlash(p.rel) }

// abs returns the absolute path.
func (p *place) abs() string { return filepath.Join(p.dir, p.name()) }

// maxLinks is how many links may lie on one path, as on Linux.
const maxLinks = 40

// place returns where a model's path leads, with the root opened. The file need not exist.
func (h *host) place(name string, mounts []Mount) (*place, error) {
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return nil, h.outside(name, "is not a file name")
	}
	p, dirs, err := h.locate(name, mounts)
	if err != nil {
		return nil, err
	}
	if p.root, err = os.OpenRoot(p.dir); err != nil {
		return nil, err
	}
	plain := p.rel
	if p.rel, err = resolve(p.root, dirs, plain); err != nil {
		p.close()
		if errors.Is(err, errLeaves) {
			return nil, h.outside(name, err.Error())
		}
		return nil, err
	}
	return p, nil
}

// locate chooses the root and the path in it from the text of the path alone. dirs are the names of the root.
func (h *host) locate(name string, mounts []Mount) (p *place, dirs []string, err error) {
	if name == "" {
		name = "."
	}
	full := filepath.Clean(name)
	if !filepath.IsAbs(full) {
		if m, rel := mounted(filepath.ToSlash(full), mounts); m != nil {
			return newPlace(m, m.Dir, rel), []string{m.Dir}, nil
		}
		full = filepath.Join(h.o.Workspace, full)
	}
	best := &place{}
	try := func(m *Mount, roots ...string) {
		for _, dir := range roots {
			if rel, ok := below(dir, full); ok && len(dir) >= len(best.dir) {
				best, dirs = newPlace(m, roots[0], rel), roots
			}
		}
	}
	try(nil, h.o.Workspace, h.real)
	for i := range mounts {
		if !mounts[i].Hidden {
			try(&mounts[i], mounts[i].Dir)
		}
	}
	for i := 0; i < len(mounts) && best.dir == ""; i++ { // it may be a folder's real name
		if mounts[i].Hidden {
			continue
		}
		if real, err := filepath.EvalSymlinks(mounts[i].Dir); err == nil {
			try(&mounts[i], mounts[i].Dir, real)
		}
	}
	if best.dir == "" {
		return nil, nil, h.outside(name, "leads elsewhere")
	}
	return best, dirs, nil
}

func newPlace(m *Mount, dir, rel string) *place {
	p := &place{mount: m, dir: dir, rel: rel, shown: rel}
	if m != nil {
		p.shown = path.Join(m.path(), rel)
	}
	return p
}

// outside refuses a path and says what is allowed.
func (h *host) outside(name, why string) error {
	return denied("outside", "Path %q %s: allowed are paths below the workspace, such as 'src/main.go', and files of skills, as 'skills/NAME/references/x.md'", name, why)
}

// below returns the slash path of full in dir.
func below(dir, full string) (string, bool) {
	rel, err := filepath.Rel(dir, full)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (m *Mount) path() string {
	if m.Path != "" {
		return m.Path
	}
	return "skills/" + m.Name
}

// mounted returns the skill whose path rel begins with, and the rest of rel. Of several the longest path counts. A path that none has may
// begin with "skills/" and the name of one.
func mounted(rel string, mounts []Mount) (*Mount, string) {
	var found *Mount
	in := ""
	try := func(m *Mount, at string) {
		if rest, ok := beneath(at, rel); ok && !m.Hidden && (found == nil || len(at) > len(found.path())) {
			found, in = m, rest
		}
	}
	for i := range mounts {
		try(&mounts[i], mounts[i].path())
	}
	for i := 0; i < len(mounts) && found == nil; i++ {
		try(&mounts[i], "skills/"+mounts[i].Name)
	}
	return found, in
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

var errLeaves = errors.New("is a link that leads out")

// resolve follows the links on a path in root, as long as they stay in it, and returns a path without links. The part
// that does not exist stays unchanged. If links change later, os.Root still confines the path.
func resolve(root *os.Root, dirs []string, rel string) (string, error) {
	pending, done, links := strings.Split(rel, "/"), []string{}, 0
	for len(pending) > 0 {
		part := pending[0]
		pending = pending[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(done) == 0:
			return "", errLeaves
		case part == "..":
			done = done[:len(done)-1]
			continue
		}
		at := strings.Join(append(slices.Clone(done), part), "/")
		info, err := root.Lstat(filepath.FromSlash(at))
		if errors.Is(err, fs.ErrNotExist) {
			return missing(at, pending)
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("more than %d links", maxLinks)
		}
		target, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			if target, err = inner(dirs, target); err != nil {
				return "", err
			}
			done = nil
		}
		pending = append(strings.Split(filepath.ToSlash(target), "/"), pending...)
	}
	return path.Join(append([]string{"."}, done...)...), nil
}

// missing returns the path of a file that does not exist yet.
func missing(at string, rest []string) (string, error) {
	full := path.Join(append([]string{at}, rest...)...)
	if !filepath.IsLocal(filepath.FromSlash(full)) {
		return "", errLeaves
	}
	return full, nil
}

// inner returns the path of an absolute link's target in the root with the names dirs.
func inner(dirs []string, target string) (string, error) {
	for _, dir := range dirs {
		if rel, ok := below(dir, filepath.Clean(target)); ok {
			return rel, nil
		}
	}
	return "", errLeaves
}

// Resolver returns a function that gives the absolute path, without links, of the file that the tools with these options
// open for a model's path. The file need not exist. A path that the tools refuse is an error. The function uses Workspace
// and Mounts alone; Resolver returns an error if the workspace does not exist.
func Resolver(o *Options) (func(ctx context.Context, name string) (string, error), error) {
	real, err := filepath.EvalSymlinks(o.Workspace)
	if err != nil {
		return nil, err
	}
	h := &host{o: *o, real: real}
	return func(ctx context.Context, name string) (string, error) {
		var mounts []Mount
		if o.Mounts != nil {
			mounts = o.Mounts(ctx)
		}
		p, err := h.place(name, mounts)
		if err != nil {
			return "", err
		}
		defer p.close()
		dir, err := filepath.EvalSymlinks(p.dir)
		return filepath.Join(dir, p.name()), err
	}, nil
}
