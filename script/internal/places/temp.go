package places

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
)

// TempFolder is the folder for temporary files that a script has as its TMPDIR, and as /tmp where the sandbox has a view of its own.
type TempFolder struct {
	Dir   string
	room  proc.Room // what may be there
	Other string    // the folder of other commands of the conversation; "" if this is it, or there is no conversation
	free  func()    // lets it be removed

	told *runner.Told
}

// Tell returns the hidden paths that the result of a command names.
func (t *TempFolder) Tell(cmd *runner.Command, out *runner.Output) []string {
	if t == nil {
		return cmd.Denied
	}
	return t.told.Tell(cmd.Denied, out)
}

// tempShare is the part of its limits that may stay in a folder for temporary files after a run: the next one has room.
const tempShare = 2

// tempName returns the name of the folder for temporary files of a skill, by the name of its home. It is short: the name of a unix socket
// has 107 bytes.
func tempName(home string) string {
	sum := sha256.Sum256([]byte(home))
	return fmt.Sprintf("%x", sum[:digits/2])
}

// temp returns the folder for temporary files of a skill's scripts, or nil if each run has its own. name is that of the skill's home.
func (st *Store) temp(ctx context.Context, name string, g *plan.Grant) (*TempFolder, error) {
	t := &TempFolder{room: proc.Room{Bytes: st.o.Disk, Files: st.o.Files}, free: func() {}}
	switch {
	case st.o.Conversation != nil:
		c, err := st.o.Conversation(ctx)
		if err != nil {
			return nil, err
		}
		if t.told = c.Told; plan.Writes(g) {
			t.Dir, t.room = c.Temp, proc.Room{Bytes: c.Disk, Files: c.Files}
		} else {
			t.Dir, t.Other = filepath.Join(c.Other, tempName(name)), c.Temp
		}
	case st.o.KeepTemp > 0:
		var err error
		if t.Dir, t.free, err = st.keptTemp(ctx, name); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	t.room = proc.Room{Folders: []string{t.Dir}, Bytes: t.room.Bytes / tempShare, Files: t.room.Files / tempShare}
	err := os.MkdirAll(t.Dir, 0o700)
	if err == nil {
		err = checkFolder(t.Dir)
	}
	if err == nil {
		err = os.Chmod(t.Dir, 0o700) // a script may have changed it
	}
	if err != nil {
		t.free()
	}
	return t, err
}

// Settle empties the folder after a run if more is there than may stay, or if it is why the run was ended. It says so.
func (t *TempFolder) Settle(cmd *runner.Command, out *runner.Output) string {
	if t == nil || cmd == nil || out == nil {
		return ""
	}
	ondisk.Unlock(t.Dir) // what nobody can read counts
	over := t.room.Exceeded()
	if out.Filled && !over {
		others := proc.Room{Folders: paths.Without(slices.Clone(cmd.Own), []string{cmd.Temp}), Bytes: cmd.Limits.Disk, Files: cmd.Limits.Files}
		over = !others.Exceeded()
	}
	if !over {
		return ""
	}
	ondisk.Empty(t.Dir)
	return fmt.Sprintf("its folder for temporary files, which may keep %d bytes and %d files, was too full and is empty again", t.room.Bytes, t.room.Files)
}

// workInside is the name of the work directory in the folder of a run.
const workInside = "work"

// unmade removes the empty folders that a sandbox made here to mount those of a run, whose paths may be below /tmp. Otherwise each run would leave
// some, and the next ones would take longer. Those for folders that stay are left: another run may be using them.
func (t *TempFolder) unmade(run string) {
	run, err := filepath.EvalSymlinks(run)
	if err != nil {
		return
	}
	below, err := filepath.Rel(runner.SystemTemp, run)
	if err != nil || !filepath.IsLocal(below) {
		return
	}
	root, err := os.OpenRoot(t.Dir) // a script may have put links there
	if err != nil {
		return
	}
	defer root.Close()
	_ = root.Remove(filepath.Join(below, workInside)) // a folder only if it is empty
	_ = root.Remove(below)
}

// The folder tempsFolder in the cache has one for each skill, with the folder of its scripts and a lock that they hold. The time of the lock
// is that of the last run. Who looks for a folder, or removes it, holds the lock beside them.
const (
	tempsFolder = "tmp"
	tempInside  = "tmp"
	tempLock    = "lock"
	tempWait    = 10 * time.Second
	tryOnce     = time.Nanosecond // a wait for a lock that is over at once
)

func (st *Store) temps() string { return filepath.Join(st.o.Cache, tempsFolder) }

// tempOf returns the folder that has the kept temporary files of a skill, by the name of its home.
func (st *Store) tempOf(name string) string { return filepath.Join(st.temps(), tempName(name)) }

// keptTemp returns the folder of a skill that is kept between runs, and what lets it be removed.
func (st *Store) keptTemp(ctx context.Context, name string) (dir string, free func(), err error) {
	at := st.tempOf(name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", nil, err
	}
	done, err := st.lockTemps(ctx)
	if err != nil {
		return "", nil, err
	}
	defer done()
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", nil, err
	}
	lock := filepath.Join(at, tempLock)
	free, err = lockfile.Share(ctx, lock, tempWait)
	if err != nil {
		free = func() {}
	}
	_ = os.Chtimes(lock, time.Time{}, time.Now())
	return filepath.Join(at, tempInside), free, ctx.Err()
}

// lockTemps locks the list of the folders. A file system without locks has none: nothing is removed there.
func (st *Store) lockTemps(ctx context.Context) (done func(), err error) {
	done, err = lockfile.Lock(ctx, filepath.Join(st.temps(), tempLock), tempWait)
	if errors.Is(err, lockfile.ErrLocked) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		done = func() {}
	}
	return done, nil
}

// oldTemps returns the folders that no script has used for as long as they are kept.
func (st *Store) oldTemps(now time.Time) []string {
	var out []string
	for _, d := range inFolder(st.temps()) {
		at := filepath.Join(st.temps(), d.Name())
		info, err := os.Stat(filepath.Join(at, tempLock))
		if err == nil && d.IsDir() && now.Sub(info.ModTime()) > st.o.KeepTemp {
			out = append(out, at)
		}
	}
	return out
}

// sweepTemps removes old folders that nobody uses.
func (st *Store) sweepTemps(ctx context.Context) {
	if len(st.oldTemps(time.Now())) == 0 {
		return
	}
	done, err := st.lockTemps(ctx)
	if err != nil {
		return
	}
	gone, err := os.MkdirTemp(st.o.Runs, runPrefix)
	if err == nil {
		for _, at := range st.oldTemps(time.Now()) { // again: one may have been used since
			if free, err := lockfile.Lock(ctx, filepath.Join(at, tempLock), tryOnce); err == nil {
				if os.Rename(at, filepath.Join(gone, filepath.Base(at))) != nil {
					ondisk.RemoveAll(at)
				}
				free()
			}
		}
	}
	done()
	ondisk.RemoveAll(gone)
}
