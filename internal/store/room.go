package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// lowSpace is the free space, in bytes, below which Low is set.
const lowSpace = 100 << 20

// Space is the free space of a store's file system.
type Space struct {
	Free int64 // bytes that this user can write; -1 if that is not known
	Low  bool  // less than 100 MiB is free, or will be
}

// SpaceError says that a content does not fit on the disk.
type SpaceError struct {
	Dir        string
	Need, Free int64 // bytes
}

// Error names both sizes.
func (e *SpaceError) Error() string {
	return fmt.Sprintf("%d bytes are needed at %q and %d are free: make room and try again", e.Need, e.Dir, e.Free)
}

// Space checks that need bytes fit into the store. It returns a *SpaceError if they do not.
func (d *Dir) Space(need int64) (Space, error) {
	dir := d.base()
	for filepath.Dir(dir) != dir { // the nearest folder that is there
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	ask := d.Free
	if ask == nil {
		ask = freeAt
	}
	free := ask(dir)
	if free < 0 {
		return Space{Free: -1}, nil
	}
	s := Space{Free: free, Low: free-need < lowSpace}
	if need > free {
		return s, &SpaceError{Dir: dir, Need: need, Free: free}
	}
	return s, nil
}
