package confine

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// asidePrefix begins the name of a folder for what was moved aside.
const asidePrefix = "agent-refused-"

// aside moves what lies in a folder to another one that is made in it: a person may have made it at the same time.
type aside struct {
	root  *os.Root
	dir   string // name of the folder for it; "" as long as there is none
	moved int
}

// move moves what lies at a path.
func (a *aside) move(name string) error {
	if a.dir == "" {
		dir := fmt.Sprintf("%s%d", asidePrefix, time.Now().UnixNano())
		if err := a.root.Mkdir(dir, 0o700); err != nil {
			return err
		}
		a.dir = dir
	}
	a.moved++
	to := fmt.Sprintf("%s/%d-%s", a.dir, a.moved, path.Base(name))
	if a.root.Rename(name, to) == nil {
		return nil
	}
	_ = a.root.Chmod(name, 0o700) // a folder that cannot be written cannot be moved
	return a.root.Rename(name, to)
}

// lookout undoes what commands make that other programs obey. What one of them made, and another one found when it began, is not taken for
// what was there before.
type lookout struct {
	mu      sync.Mutex
	running []*runner.Seen
}

// begin notes that a command runs that has seen these folders.
func (l *lookout) begin(seen []*runner.Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = append(l.running, seen...)
}

// end moves aside what came to be in the folders, and says what that was. The command is gone.
func (l *lookout) end(seen []*runner.Seen) []runner.Undone {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []runner.Undone
	for _, s := range seen {
		i := slices.Index(l.running, s)
		if i < 0 {
			continue // it has ended
		}
		l.running = slices.Delete(l.running, i, i+1)
		out = append(out, l.undo(s)...)
	}
	return out
}

func (l *lookout) undo(s *runner.Seen) []runner.Undone {
	made, err := s.New()
	if err != nil {
		made = append(made, runner.Undone{Path: s.Dir, Err: err})
	}
	if len(made) == 0 {
		return nil
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return append(made, runner.Undone{Path: s.Dir, Err: err})
	}
	defer root.Close()
	a := aside{root: root}
	for i := range made {
		u := &made[i]
		name, err := filepath.Rel(s.Dir, u.Path)
		if u.Err != nil || err != nil {
			continue
		}
		if u.Err = a.move(filepath.ToSlash(name)); u.Err != nil {
			continue
		}
		u.Moved = filepath.Join(s.Dir, a.dir)
		for _, other := range l.running {
			other.Forget(u.Path)
		}
	}
	return made
}
