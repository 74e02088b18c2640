package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// system is a registry under test: the real one, or a writer with one defect that the tests of faults must find.
type system interface {
	put(name, digest string) error
	remove(name string) error
	state() (map[string]string, error) // digests by name
	folder() string
}

// systems returns the real registry and the defective ones in the same folder, by name.
func systems(dir string) map[string]system {
	return map[string]system{
		"":                &real{&registry.Store{Path: filepath.Join(dir, "registry.json"), Wait: time.Minute}},
		"in place":        &defective{dir: dir, inPlace: true},
		"in place, slow":  &defective{dir: dir, inPlace: true, slow: true},
		"no lock":         &defective{dir: dir, noLock: true},
		"no flush":        &defective{dir: dir, noFlush: true},
		"no folder flush": &defective{dir: dir, noFolderFlush: true},
		"ignores errors":  &defective{dir: dir, ignores: true},
	}
}

type real struct{ s *registry.Store }

func (r *real) put(name, d string) error {
	return r.s.Edit(context.Background(), func(draft *registry.Draft) error {
		if _, ok := draft.Set().Get(name); ok {
			return draft.Update(name, func(e *registry.Entry) error { e.Digest = d; return nil })
		}
		return draft.Register(registry.Entry{Name: name, InstalledPath: "/srv/" + name, Digest: d, Source: strings.Repeat("padding", 500)})
	})
}

func (r *real) remove(name string) error {
	_, err := r.s.Unregister(context.Background(), name)
	if errors.Is(err, registry.ErrNotInstalled) {
		return nil
	}
	return err
}

func (r *real) state() (map[string]string, error) {
	set, err := r.s.Load(context.Background())
	out := map[string]string{}
	for _, e := range set.All() {
		out[e.NameCanonical] = e.Digest
	}
	return out, err
}

func (r *real) folder() string { return filepath.Dir(r.s.Path) }

// defective is a simple registry.
type defective struct {
	dir                                              string
	inPlace, noLock, noFlush, noFolderFlush, ignores bool
	slow                                             bool // a write takes some milliseconds, so a kill at any time hits one
}

func (b *defective) folder() string { return b.dir }

func (b *defective) put(name, d string) error {
	return b.change(func(m map[string]string) { m[name] = d })
}

func (b *defective) remove(name string) error {
	return b.change(func(m map[string]string) { delete(m, name) })
}

func (b *defective) state() (map[string]string, error) {
	m := map[string]string{}
	text, err := os.ReadFile(filepath.Join(b.dir, "registry.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	delete(m, "padding")
	return m, err
}

func (b *defective) change(edit func(map[string]string)) error {
	if !b.noLock {
		unlock, err := lockfile.Lock(context.Background(), filepath.Join(b.dir, "registry.json.lock"), 0)
		if err != nil {
			return err
		}
		defer unlock()
	}
	m, err := b.state()
	if err != nil && !b.ignores {
		return err
	}
	edit(m)
	m["padding"] = strings.Repeat("x", 100_000)
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := b.write(text); err != nil && !b.ignores {
		return err
	}
	return nil
}

func (b *defective) write(text []byte) (err error) {
	path := filepath.Join(b.dir, "registry.json")
	temp := path + ".tmp"
	if b.inPlace {
		temp = path
	}
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	for chunk := range chunks(text) {
		if _, e := f.Write(chunk); e != nil {
			err = e
		}
		if b.slow {
			time.Sleep(time.Millisecond)
		}
	}
	if !b.noFlush {
		err = errors.Join(err, f.Sync())
	}
	err = errors.Join(err, f.Close())
	if b.inPlace || err != nil && !b.ignores {
		return err
	}
	if err := os.Rename(temp, path); err != nil || b.noFolderFlush {
		return err
	}
	d, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// chunks is the text in eight parts.
func chunks(text []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		size := len(text)/8 + 1
		for r := bytes.NewBuffer(text); r.Len() > 0; {
			if !yield(r.Next(size)) {
				return
			}
		}
	}
}
