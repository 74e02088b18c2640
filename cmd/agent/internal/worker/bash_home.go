package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/runner"
)

// storedFolders are the folders of a home that last: package managers keep there what they fetched and built. All conversations of
// a project share them. Everything else in a home goes with its conversation.
var storedFolders = []string{".cache/go-build", "go/pkg/mod", ".npm/_cacache", ".cache/pip", ".cache/uv", ".cargo/registry"}

// bashHome makes the home of a conversation's commands when the first of them runs. It is safe for concurrent use.
//
// The folder of a project has the folders stored, with storedFolders, and for each conversation one that begins with conversationPrefix,
// with home and tmp, and a folder for each skill that has a tmp of its own. A conversation holds the lock in its folder: what is not locked was left by one that was killed.
// Folders that begin with keptPrefix have what saved conversations keep.
type bashHome struct {
	cache   string
	project string        // the project's folder
	disk    int64         // bytes of a home
	files   int64         // files and folders of one
	id      func() string // of the conversation; "" if it is not saved
	git     *gitdir.User  // whose settings of git the commands have

	mu   sync.Mutex
	at   *place
	free func() // unlocks it
}

// place is where commands write. All paths are absolute and without links.
type place struct {
	root, home, temp string
	caches           []string // storedFolders, in the order of the table
	kept             bool     // temp and those of skills are what the last process of the conversation left
	git              *gitdir.Carried
}

const (
	conversationPrefix = "run-"
	discardedPrefix    = "gone-"
	bashFolder         = "bash" // in the cache
	storeFolder        = "stored"
	homeLock           = "lock"
	homeFolder         = "home"
	tempFolder         = "tmp"
	mostConversations  = 1000                // about one project at the same time
	homeWait           = 10 * time.Second    // for another conversation that begins
	homeUnused         = 30 * 24 * time.Hour // after which the folder of a project is removed
	tryOnce            = time.Nanosecond     // a wait for a lock that is over at once
)

// newBashHome returns the home of a conversation about a project.
func newBashHome(cache, project string, disk int64) *bashHome {
	digest := sha256.Sum256([]byte(paths.Real(project)))
	return &bashHome{cache: cache, project: filepath.Join(paths.Real(cache), bashFolder, fmt.Sprintf("%x", digest[:8])), disk: disk, git: &gitdir.User{}, id: func() string { return "" }} // short: a unix socket's name has 107 bytes
}

// open returns the home. The first call makes it, empty but for links to what is stored and the user's settings of git.
func (b *bashHome) open(ctx context.Context) (*place, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at != nil {
		touch(b.at.root)
		return b.at, errors.Join(os.Chmod(b.at.home, 0o700), os.Chmod(b.at.temp, 0o700)) // a command may have changed them
	}
	if err := os.MkdirAll(b.project, 0o700); err != nil {
		return nil, err
	}
	eachProject(ctx, b.cache, tryOnce, func(other *bashHome) {
		if other.project != b.project {
			other.forget(ctx)
		}
	})
	done, err := lockfile.Lock(ctx, filepath.Join(b.project, homeLock), homeWait)
	if err != nil {
		return nil, err
	}
	defer done()
	touch(b.project) // else forget may remove caches that are used
	alone := b.sweep(ctx)
	root, free, err := b.claim(ctx)
	if err != nil {
		return nil, err
	}
	at := &place{root: root, home: filepath.Join(root, homeFolder), temp: filepath.Join(root, tempFolder), kept: b.adopt(root)}
	for _, name := range storedFolders {
		at.caches = append(at.caches, filepath.Join(b.project, storeFolder, filepath.FromSlash(name)))
	}
	if alone {
		b.trim(at)
	}
	at.git = b.git.Carry(at.home)
	if err := at.make(); err != nil {
		free()
		return nil, err
	}
	b.at, b.free = at, free
	return at, nil
}

// claim makes the folder of the conversation and locks it. It is the first one that is free, so that most conversations about a project
// have the same: compilers count the paths of what they read in a cache as part of it.
func (b *bashHome) claim(ctx context.Context) (root string, free func(), err error) {
	for i := range mostConversations {
		root = filepath.Join(b.project, fmt.Sprintf("%s%d", conversationPrefix, i))
		if err = os.Mkdir(root, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", nil, err
	}
	free, err = lockfile.Lock(ctx, filepath.Join(root, homeLock), homeWait)
	return root, free, err
}

// touch notes that a folder is used.
func touch(dir string) { _ = os.Chtimes(filepath.Join(dir, homeLock), time.Time{}, time.Now()) }

// sweep removes the homes of conversations that were killed, and what is kept no longer. It reports whether there is no other conversation.
func (b *bashHome) sweep(ctx context.Context) (alone bool) {
	alone = true
	list, _ := os.ReadDir(b.project)
	for _, d := range list {
		dir := filepath.Join(b.project, d.Name())
		switch {
		case strings.HasPrefix(d.Name(), discardedPrefix):
			ondisk.RemoveAll(dir)
		case strings.HasPrefix(d.Name(), conversationPrefix) && !removeUnlocked(ctx, dir):
			alone = false
		}
	}
	b.prune()
	return alone
}

// forget removes the folder of a project that was not used for long, and of another one what is kept no longer.
func (b *bashHome) forget(ctx context.Context) {
	b.prune()
	info, err := os.Stat(filepath.Join(b.project, homeLock))
	if err == nil && time.Since(info.ModTime()) > homeUnused && b.sweep(ctx) {
		discard(b.project)
	}
}

// removeUnlocked leaves a folder unless the lock in it is held. It reports whether it did.
func removeUnlocked(ctx context.Context, dir string) bool {
	done, err := lockfile.Lock(ctx, filepath.Join(dir, homeLock), tryOnce)
	if err != nil {
		return false
	}
	defer done()
	leave(dir)
	return true
}

// discard removes a folder. It is moved first: its name is free at once, and nothing is removed of what then gets it.
func discard(dir string) {
	old, err := os.MkdirTemp(filepath.Dir(dir), discardedPrefix)
	if err != nil {
		return // the next conversation tries again
	}
	_ = os.Rename(dir, filepath.Join(old, "old"))
	ondisk.RemoveAll(old)
}

// trim removes what is stored if it leaves less than half of the room for the conversation.
func (b *bashHome) trim(at *place) {
	room := proc.Room{Stored: at.caches, Bytes: uint64(b.disk) / 2}
	if b.disk > 0 && room.Exceeded() {
		ondisk.RemoveAll(filepath.Join(b.project, storeFolder))
	}
}

// full reports whether the home holds more than it may.
func (p *place) full(l *runner.Limits) bool {
	ondisk.Unlock(p.temp)
	room := proc.Room{Folders: []string{p.home, p.temp}, Bytes: l.Disk, Files: l.Files}
	return room.Exceeded()
}

// empty makes the home of the conversation empty.
func (b *bashHome) empty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		return
	}
	ondisk.RemoveAll(b.at.home)
	ondisk.Empty(b.at.temp) // it is mounted as /tmp of what runs
	b.trim(b.at)
	_ = b.at.make() // the next command says what is missing
}

// close removes the home of the conversation, and keeps its temporary files if it is saved.
func (b *bashHome) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		return
	}
	touch(b.at.root)
	leave(b.at.root)
	b.free()
	b.at = nil
}

// make makes the folders, with links from the home to what is stored, and the user's settings of git.
func (p *place) make() error {
	for _, dir := range append([]string{p.home, p.temp}, p.caches...) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	var failed []error
	for i, name := range storedFolders {
		link := filepath.Join(p.home, filepath.FromSlash(name))
		failed = append(failed, os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(p.caches[i], link))
	}
	for name, text := range p.git.Files {
		failed = append(failed, ondisk.WriteFile(filepath.Join(p.home, filepath.FromSlash(name)), text))
	}
	return errors.Join(failed...)
}
