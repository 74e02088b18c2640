package proc

import (
	"errors"
	"io/fs"
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

// Exceeded reports whether the folders hold more than they may. A path that is too long to be read is too much: there could be
// anything below it.
func (r *Room) Exceeded() bool {
	var bytes, files uint64
	for i, dir := range slices.Concat(r.Folders, r.Stored) {
		stored, over := i >= len(r.Folders), false
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			size := sizeOf(d)
			if stored {
				size = max(size, leastStored)
			} else {
				files++
			}
			bytes += size
			over = errors.Is(err, syscall.ENAMETOOLONG) || r.Bytes > 0 && bytes > r.Bytes || r.Files > 0 && files > r.Files
			switch {
			case over:
				return fs.SkipAll
			case err != nil && d != nil && d.IsDir():
				return fs.SkipDir // it cannot be read, or has gone
			}
			return nil
		})
		if over {
			return true
		}
	}
	return false
}

// Measure counts the files below a path, and their bytes. What cannot be read counts as empty.
func Measure(path string) (files int, bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
			bytes += int64(sizeOf(d))
		}
		return nil
	})
	return files, bytes
}

// sizeOf returns the bytes of a regular file, 0 for anything else.
func sizeOf(d fs.DirEntry) uint64 {
	if d == nil || !d.Type().IsRegular() {
		return 0
	}
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}
