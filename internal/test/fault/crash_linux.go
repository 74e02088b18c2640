package fault

import (
	"path/filepath"
	"slices"
	"strings"
)

// A power failure leaves some of what was written. The model: the changes of names are a journal, of which the disk has a
// beginning; a flush of a folder writes the journal up to the last change in it. The content of a file is on the disk when it was
// flushed; of later writes the disk has any beginning, whatever the journal says. So a name can be there before its content.

// Disk is what the disk has after a power failure: the content of each file, by absolute path, and nil for a folder.
type Disk map[string][]byte

// Crashes calls visit with each disk that a power failure during or after the calls can leave. old is the disk before them. all
// reports whether the failure comes after the last call.
func Crashes(old Disk, calls []Call, visit func(d Disk, all bool)) {
	for cut := range len(calls) + 1 {
		newModel(old).play(calls[:cut]).disks(func(d Disk) { visit(d, cut == len(calls)) })
	}
}

// file is one file or folder, whatever its names are.
type file struct {
	folder bool
	old    []byte   // that is on the disk
	writes [][]byte // since the last flush; nil makes the file empty
}

// change is a change of names.
type change struct {
	apply   func(map[string]*file)
	folders []string // in which it is
}

type model struct {
	disk    map[string]*file // names on the disk
	now     map[string]*file // names as programs see them
	journal []change         // from disk to now
}

func newModel(old Disk) *model {
	m := &model{disk: map[string]*file{}, now: map[string]*file{}}
	for name, content := range old {
		f := &file{old: content, folder: content == nil}
		m.disk[name], m.now[name] = f, f
	}
	return m
}

func (m *model) play(calls []Call) *model {
	for _, c := range calls {
		m.call(c)
	}
	return m
}

func (m *model) call(c Call) {
	f := m.now[c.Path]
	switch c.Name {
	case "openat":
		if f == nil && c.Create {
			m.add(c.Path, &file{})
		} else if f != nil && c.Empty {
			f.writes = append(f.writes, nil)
		}
	case "mkdirat":
		if f == nil {
			m.add(c.Path, &file{folder: true})
		}
	case "write":
		if f != nil {
			f.writes = append(f.writes, c.Data)
		}
	case "fsync":
		if f == nil {
			return
		}
		f.old, f.writes = f.content(len(f.writes)), nil
		if f.folder {
			m.flush(c.Path)
		}
	case "rename":
		if f != nil {
			m.do(change{func(names map[string]*file) { move(names, c.Path, c.To) }, []string{filepath.Dir(c.Path), filepath.Dir(c.To)}})
		}
	case "unlinkat":
		if f != nil {
			m.do(change{func(names map[string]*file) { delete(names, c.Path) }, []string{filepath.Dir(c.Path)}})
		}
	}
}

func (m *model) add(name string, f *file) {
	m.do(change{func(names map[string]*file) { names[name] = f }, []string{filepath.Dir(name)}})
}

func (m *model) do(c change) {
	c.apply(m.now)
	m.journal = append(m.journal, c)
}

// move renames a file, or a folder with what is in it.
func move(names map[string]*file, from, to string) {
	for name, f := range names {
		if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
			delete(names, name)
			defer func() { names[to+rest] = f }()
		}
	}
}

// flush writes the journal up to the last change in a folder.
func (m *model) flush(dir string) {
	last := -1
	for i, c := range m.journal {
		if slices.Contains(c.folders, dir) {
			last = i
		}
	}
	for _, c := range m.journal[:last+1] {
		c.apply(m.disk)
	}
	m.journal = m.journal[last+1:]
}

// content returns what a file has with the first n of its writes.
func (f *file) content(n int) []byte {
	out := slices.Clone(f.old)
	for _, w := range f.writes[:n] {
		if w == nil {
			out = nil
		}
		out = append(out, w...)
	}
	return out
}

// disks visits all beginnings of the journal with all beginnings of the writes.
func (m *model) disks(visit func(Disk)) {
	names := map[string]*file{}
	for name, f := range m.disk {
		names[name] = f
	}
	for k := 0; ; k++ {
		var open []*file // with writes that may be lost
		for _, f := range names {
			if len(f.writes) > 0 && !slices.Contains(open, f) {
				open = append(open, f)
			}
		}
		choose(open, map[*file]int{}, func(kept map[*file]int) {
			d := Disk{}
			for name, f := range names {
				if d[name] = f.content(kept[f]); !f.folder && d[name] == nil {
					d[name] = []byte{}
				}
			}
			visit(d)
		})
		if k == len(m.journal) {
			return
		}
		m.journal[k].apply(names)
	}
}

// choose visits every number of kept writes of every file.
func choose(files []*file, kept map[*file]int, visit func(map[*file]int)) {
	if len(files) == 0 {
		visit(kept)
		return
	}
	for n := range len(files[0].writes) + 1 {
		kept[files[0]] = n
		choose(files[1:], kept, visit)
	}
}
