package worker

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script"
)

// The temporary files of a saved conversation outlive its process: they move from its folder to one with its name, for the process that
// continues it. What has another name, such as a copy, begins with an empty folder.
const (
	keptPrefix = "kept-" // the ID of the conversation follows
	ofPrefix   = "of-"   // begins the name of a file in the folder of a conversation that is saved; the ID follows
	keysPrefix = "keys-" // begins the name of a folder that is not kept
	keptTime   = 24 * time.Hour
	mostKept   = 100 // of a project
)

// adopt gives a conversation the temporary files of its last process. It reports whether they were kept.
func (b *bashHome) adopt(root string) bool {
	id := b.id()
	if id == "" || ondisk.WriteFile(filepath.Join(root, ofPrefix+id), nil) != nil {
		return false
	}
	kept := filepath.Join(b.project, keptPrefix+id)
	moveTemps(kept, root)
	return os.Remove(kept) == nil
}

// lasts reports whether commands find the temporary files of the last process of the conversation.
func (b *bashHome) lasts(ctx context.Context) bool {
	b.mu.Lock()
	same := b.at != nil
	b.mu.Unlock()
	at, err := b.open(ctx)
	return err == nil && (same || at.kept)
}

// leave removes a folder. The temporary files of a conversation that is saved stay, with the time at which they were last used.
func leave(root string) {
	list, _ := os.ReadDir(root)
	for _, d := range list {
		id, ok := strings.CutPrefix(d.Name(), ofPrefix)
		info, err := os.Stat(filepath.Join(root, homeLock))
		if !ok || err != nil {
			continue
		}
		kept := filepath.Join(filepath.Dir(root), keptPrefix+id)
		_ = os.Mkdir(kept, 0o700) // it is there if a process was killed while it took them
		moveTemps(root, kept)
		ondisk.Unlock(kept) // so that prune counts what nobody can read
		_ = os.Chtimes(kept, time.Time{}, info.ModTime())
	}
	discard(root)
}

// moveTemps moves the folders for temporary files.
func moveTemps(from, to string) {
	list, _ := os.ReadDir(from)
	for _, d := range list {
		name, dir := d.Name(), filepath.Join(from, d.Name())
		if d.IsDir() && name != homeFolder && !strings.HasPrefix(name, keysPrefix) && os.Chmod(dir, 0o700) == nil { // a command may have changed it
			_ = os.Rename(dir, filepath.Join(to, name)) // else it goes with the rest
		}
	}
}

// keptIn returns what is kept in the folder of a project, what was not used for longest being first.
func keptIn(project string) (out []fs.FileInfo) {
	list, _ := os.ReadDir(project)
	for _, d := range list {
		if info, err := d.Info(); err == nil && d.IsDir() && strings.HasPrefix(d.Name(), keptPrefix) {
			out = append(out, info)
		}
	}
	slices.SortFunc(out, func(x, y fs.FileInfo) int { return x.ModTime().Compare(y.ModTime()) })
	return out
}

// old reports whether something is kept no longer.
func old(kept fs.FileInfo) bool { return time.Since(kept.ModTime()) > keptTime }

// prune removes what is old. All that stays is at most what one conversation may have: what was not used for longest goes first.
func (b *bashHome) prune() {
	room := proc.Room{Bytes: uint64(b.disk), Files: uint64(b.files)}
	kept := keptIn(b.project)
	for _, k := range kept {
		room.Folders = append(room.Folders, filepath.Join(b.project, k.Name()))
	}
	for _, k := range kept {
		if !old(k) && len(room.Folders) <= mostKept && !room.Exceeded() {
			return
		}
		discard(room.Folders[0])
		room.Folders = room.Folders[1:]
	}
}

// OldTemps returns what the commands of conversations left in the cache and nobody needs: temporary files that are kept no longer, and homes
// of killed processes. With remove it removes them, all but what those homes have for the next process of their conversation.
func OldTemps(ctx context.Context, cache string, remove bool) (out []script.Swept) {
	eachProject(ctx, cache, homeWait, func(b *bashHome) {
		add := func(name, why string) {
			_, bytes := proc.Measure(filepath.Join(b.project, name))
			out = append(out, script.Swept{Path: path.Join(bashFolder, filepath.Base(b.project), name), Why: why, Bytes: bytes})
		}
		list, _ := os.ReadDir(b.project)
		for _, d := range list {
			info, err := d.Info()
			switch name := d.Name(); {
			case err != nil || !d.IsDir():
			case strings.HasPrefix(name, keptPrefix) && old(info):
				add(name, "temporary files of a conversation, not used since "+info.ModTime().Format(time.DateOnly))
			case strings.HasPrefix(name, conversationPrefix):
				if free, err := lockfile.Lock(ctx, filepath.Join(b.project, name, homeLock), tryOnce); err == nil {
					add(name, "left by a conversation that was killed")
					free()
				}
			}
		}
		if remove {
			b.sweep(ctx)
		}
	})
	return out
}

// forgetTemps removes the temporary files that are kept for a conversation.
func forgetTemps(ctx context.Context, cache, id string) {
	eachProject(ctx, cache, homeWait, func(b *bashHome) {
		b.sweep(ctx) // a killed process may have had them
		discard(filepath.Join(b.project, keptPrefix+id))
	})
}

// eachProject calls do for the folder of each project in the cache whose lock it gets in time: no conversation begins there meanwhile. It
// removes what was left of folders that are gone.
func eachProject(ctx context.Context, cache string, wait time.Duration, do func(*bashHome)) {
	all := filepath.Join(paths.Real(cache), bashFolder)
	list, _ := os.ReadDir(all)
	for _, d := range list {
		b := &bashHome{project: filepath.Join(all, d.Name())}
		lock := filepath.Join(b.project, homeLock)
		if strings.HasPrefix(d.Name(), discardedPrefix) {
			ondisk.RemoveAll(b.project)
		}
		if _, err := os.Lstat(lock); err != nil || !d.IsDir() {
			continue
		}
		if done, err := lockfile.Lock(ctx, lock, wait); err == nil {
			do(b)
			done()
		}
	}
}
