package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/script/runner"
)

// mounted is how Sandbox.Missing names a folder that could not be shown at another path.
const mounted = "mount"

// mounts adds Command.Mounts to the view, after all that hides something. Of a path that does not exist the first part that is missing
// is made for the time of the call, and has an empty folder mounted on it that the command cannot change.
func (p *plan) mounts() []*placeholder {
	var holds []*placeholder
	for _, m := range p.c.Mounts {
		h, why := p.mountOne(&m)
		if why != "" {
			p.missing = append(p.missing, mounted+": "+m.Path+" "+why)
		}
		if h != nil {
			holds = append(holds, h)
		}
	}
	return holds
}

// mountOne adds one folder. It returns why it could not.
func (p *plan) mountOne(m *runner.Mount) (*placeholder, string) {
	at := filepath.Clean(m.Path)
	dir, err := filepath.EvalSymlinks(m.Dir)
	if err != nil {
		return nil, "leads to nothing"
	}
	over, ok := p.view.above(at)
	if !ok || p.view.hides(over.path) && over.text != mounted {
		return nil, "is in no folder that the command sees"
	}
	if is, err := os.Stat(at); err == nil {
		if same, err := os.Stat(dir); err == nil && os.SameFile(is, same) {
			return nil, ""
		}
	}
	h, why := p.mountPoint(over, at)
	if why == "" {
		p.alias(m.Dir, dir, at)
	}
	return h, why
}

// mountPoint makes the first part of a path that is missing.
func (p *plan) mountPoint(over entry, at string) (*placeholder, string) {
	if over.text == mounted {
		return nil, "" // in a folder that another mount made
	}
	part := over.path
	for name := range strings.SplitSeq(strings.TrimPrefix(at, strings.TrimSuffix(over.path, "/")+"/"), "/") {
		part = filepath.Join(part, name)
		info, err := os.Lstat(part)
		switch {
		case err != nil:
			h := hold(part)
			if h == nil {
				return nil, "cannot be made"
			}
			if part != at {
				p.view.entries[part] = entry{path: part, kind: hiddenFolder, text: mounted}
			}
			return h, ""
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, "has a symbolic link on its way"
		case !info.IsDir():
			return nil, "is a file"
		}
	}
	return nil, ""
}

// alias shows the folder dir at a path, without what is hidden in it. name is another path of dir.
func (p *plan) alias(name, dir, at string) {
	for path, e := range p.view.entries {
		for _, root := range []string{filepath.Clean(name), dir} {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) && p.view.hides(path) {
				e.path = filepath.Join(at, rel)
				p.view.entries[e.path] = e
			}
		}
	}
	if !p.view.hides(at) {
		p.view.entries[at] = entry{path: at, kind: readable, from: dir}
	}
}
