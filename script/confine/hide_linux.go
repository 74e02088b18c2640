package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/confine/internal/stage"
)

// hide adds the paths of Command.Hide to the view. A file becomes one that cannot be read: an empty one would look like what is there. A
// folder becomes one in which no path can be followed, but which can be listed, with nothing in it: programs that go through all folders,
// such as go test ./..., would fail otherwise.
func (p *plan) hide() {
	for _, path := range p.c.Hide {
		path = filepath.Clean(path)
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || !p.view.sees(path) {
			continue // what a link leads to is seen only if it was granted
		}
		kind := hiddenFile
		if info.IsDir() {
			kind = hiddenFolder
		}
		p.fix(path)
		p.view.entries[path] = entry{path: path, kind: kind}
	}
}

// fix mounts the folders on the way to a path on themselves, as far as they may be written: they cannot be moved to where the path has
// another name.
func (p *plan) fix(path string) {
	over, ok := p.view.above(path)
	if !ok || over.kind != writable {
		return
	}
	for dir := filepath.Dir(path); len(dir) > len(over.path); dir = filepath.Dir(dir) {
		p.view.add(entry{path: dir, kind: writable})
	}
}

// hiding returns the operation that puts something unreadable over a path.
func (e entry) hiding() stage.Op {
	if e.kind == hiddenFile {
		op := stage.Op{Code: stage.Cover, A: e.path, N: attrReadable | unix.MOUNT_ATTR_NOEXEC}
		if e.optional {
			op.M = stage.BindOver
		}
		return op
	}
	mode := "444"
	switch {
	case e.text == mounted:
		mode = "755" // nothing is hidden there
	case e.holds: // what was granted in it is mounted in it, before it becomes read-only
		mode = "300"
	}
	return stage.Op{Code: stage.Tmpfs, A: e.path, B: "mode=" + mode + ",size=64k"}
}

// mostOpened is how many paths one folder is granted by if something in it is hidden.
const mostOpened = 4096

// closed says which folders get no new files, because something in them is hidden without a private view.
func (p *plan) closed() []string {
	var out []string
	for _, path := range p.c.Hide {
		over, ok := p.view.above(path)
		if _, err := os.Lstat(path); err == nil && ok && over.kind == writable {
			out = append(out, "write: there can be no new files in "+filepath.Dir(path)+", because something in it is hidden")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// opened returns the paths by which rules of the kernel grant a folder without what is hidden in it: the folder itself if nothing
// is, else what lies in it. New files cannot be made directly in such a folder.
func (p *plan) opened(path string) []string {
	below := func(hidden string) bool { return strings.HasPrefix(hidden, strings.TrimSuffix(path, "/")+"/") }
	if slices.Contains(p.c.Hide, path) {
		return nil
	}
	if !slices.ContainsFunc(p.c.Hide, below) {
		return []string{path}
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range list {
		if d.Type()&fs.ModeSymlink == 0 && len(out) < mostOpened {
			out = append(out, p.opened(filepath.Join(path, d.Name()))...)
		}
	}
	return out
}
