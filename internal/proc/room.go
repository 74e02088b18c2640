package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Room is how much a process may keep on disk. The zero value allows everything.
type Room struct {
	Folders []string
	Stored  []string // further folders, of which the files are not counted
	Bytes   uint64   // of all files together; 0 means no limit
	Files   uint64   // files and folders; 0 means no limit
}

// How often a room is measured: each interval, and less often where that takes long, so that it needs a tenth of one processor
// at most.
const (
	roomInterval = 50 * time.Millisecond
	roomShare    = 10
)

// watch returns a channel that is closed when the room is exceeded, and a function that ends the watch and waits for that.
// The channel is nil if there is nothing to watch.
func (r *Room) watch() (full <-chan struct{}, end func()) {
	if len(r.Folders)+len(r.Stored) == 0 || r.Bytes == 0 && r.Files == 0 {
		return nil, func() {}
	}
	exceeded, stop, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		wait := roomInterval
		for {
			select {
			case <-stop:
				return
			case <-time.After(wait):
			}
			begun := time.Now()
			if r.Exceeded() {
				close(exceeded)
				return
			}
			wait = max(roomInterval, roomShare*time.Since(begun))
		}
	}()
	return exceeded, func() { close(stop); <-done }
}

// leastStored is what a file of Room.Stored counts at least, in bytes: so the number of empty ones has a limit, too.
const leastStored = 4096

// Exceeded reports whether the folders hold more than they may. A folder that its mode hides is opened for its owner. What stays hidden is
// too much, since there could be anything in it: a path that is too long to be read, and a folder that is closed again meanwhile.
func (r *Room) Exceeded() bool {
	m := &measure{room: r}
	for i, dir := range slices.Concat(r.Folders, r.Stored) {
		m.stored, m.above = i >= len(r.Folders), filepath.Dir(dir)
		_ = filepath.WalkDir(dir, m.visit)
		if m.over {
			return true
		}
	}
	return false
}

// Measure counts the files below a path, and their bytes. What cannot be read counts as empty.
func Measure(path string) (files int, bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		files++
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}

// measure is one measurement of a room.
type measure struct {
	room         *Room
	stored       bool   // the folder is one of Stored
	above        string // where the folder is
	bytes, files uint64
	over         bool
}

// visit counts one file or folder.
func (m *measure) visit(path string, d fs.DirEntry, err error) error {
	var size uint64
	if err == nil {
		size, err = m.look(path, d)
	}
	if m.stored {
		size = max(size, leastStored)
	} else {
		m.files++
	}
	m.bytes += size
	m.over = errors.Is(err, syscall.ENAMETOOLONG) || m.room.Bytes > 0 && m.bytes > m.room.Bytes || m.room.Files > 0 && m.files > m.room.Files ||
		errors.Is(err, fs.ErrPermission) && d != nil && m.open(path, d) == nil
	switch {
	case m.over:
		return fs.SkipAll
	case err != nil && d != nil && d.IsDir():
		return fs.SkipDir // it cannot be read, or has gone
	}
	return nil
}

// look returns the bytes of a regular file, 0 for anything else, and opens a folder for its owner if its mode hides what is in it.
func (m *measure) look(path string, d fs.DirEntry) (uint64, error) {
	info, err := d.Info()
	switch {
	case err != nil:
		return 0, err
	case d.Type().IsRegular():
		return uint64(info.Size()), nil
	case d.IsDir() && info.Mode()&readable != readable:
		return 0, m.open(path, d)
	}
	return 0, nil
}

// readable is what the mode of a folder needs so that its owner sees what is in it.
const readable = 0o500

// open lets the owner of a folder, or of the folder of a file, see what is in it. It changes nothing outside of the room, whatever the path
// leads to meanwhile.
func (m *measure) open(path string, d fs.DirEntry) error {
	if !d.IsDir() {
		path = filepath.Dir(path)
	}
	root, err := os.OpenRoot(m.above)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := filepath.Rel(m.above, path)
	if err != nil {
		return err
	}
	return root.Chmod(name, 0o700)
}
