package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/script/runner"
)

// clearTemp makes room in Command.Temp for what the command sees below /tmp: the folder is that of former commands, too, and they may have
// left something else there, which is moved aside. What one of them leaves later is never followed, see package stage.
func (p *plan) clearTemp() error {
	if p.view.entries[runner.SystemTemp].from == "" {
		return nil
	}
	var below []entry
	for _, e := range p.view.sorted() {
		if over, ok := p.view.above(e.path); ok && over.path == runner.SystemTemp {
			below = append(below, e)
		}
	}
	if len(below) == 0 {
		return nil
	}
	root, err := os.OpenRoot(p.c.Temp)
	if err != nil {
		return err
	}
	defer root.Close()
	a := aside{root: root}
	for _, e := range below {
		before := a.moved
		at, err := e.clear(&a, strings.TrimPrefix(e.path, runner.SystemTemp+"/"))
		if err != nil {
			return fmt.Errorf("%s is in the way of %s, which the command sees: remove it: %w", filepath.Join(p.c.Temp, at), e.path, err)
		}
		if a.moved > before {
			p.missing = append(p.missing, mounted+": "+path.Join(runner.SystemTemp, at)+" was in the way of "+e.path+" and is in "+path.Join(runner.SystemTemp, a.dir))
		}
	}
	return nil
}

// clear moves aside what is in the way of an entry at a path. It returns the part of the path that was.
func (e entry) clear(a *aside, name string) (string, error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := a.root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		last := i == len(parts)-1
		if err == nil && last && e.fits(a.root, at, info) {
			return "", nil
		}
		if err != nil || last || !info.IsDir() {
			return at, errors.Join(err, a.move(at))
		}
		const searched = 0o300 // by who makes something in it
		if info.Mode()&searched != searched {
			if err := a.root.Chmod(at, 0o700); err != nil {
				return at, err
			}
		}
	}
	return "", nil
}

// fits reports whether an entry can be mounted on what there is, or is it.
func (e entry) fits(root *os.Root, at string, info fs.FileInfo) bool {
	switch e.kind {
	case link:
		text, err := root.Readlink(at)
		return err == nil && text == e.text
	case folder, hiddenFolder, layered, private:
		return info.IsDir()
	case hiddenFile:
		return info.Mode().IsRegular()
	}
	source, err := os.Stat(e.source())
	return err != nil || source.IsDir() == info.IsDir() && (info.IsDir() || info.Mode().IsRegular())
}

// source is the path of what is mounted for an entry.
func (e entry) source() string {
	if e.from != "" {
		return e.from
	}
	return e.path
}
