// Package envstore keeps prepared environments in a folder. An environment of the key KEY is a folder KEY-…, with a record
// KEY.json next to it and a lock KEY.lock. The record is written last and names the folder; a folder without a record is the
// remains of a preparation that was killed. It also says how the stores of environments have a command run.
package envstore

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// Place is where the environment of one key is kept.
type Place struct {
	Root string // absolute folder of all environments
	Key  string
}

// Path returns the path of the key with a suffix, such as ".json".
func (p Place) Path(suffix string) string { return filepath.Join(p.Root, p.Key+suffix) }

// Folder returns the path of a folder that a record names. It returns "" if that is not a folder of the key.
func (p Place) Folder(name string) string {
	if !strings.HasPrefix(name, p.Key+"-") || filepath.Base(name) != name {
		return ""
	}
	return filepath.Join(p.Root, name)
}

// NewFolder makes an empty folder for the key, with kind in its name.
func (p Place) NewFolder(kind string) (string, error) {
	return os.MkdirTemp(p.Root, p.Key+"-"+kind)
}

// Read reads the record into a struct. It reports whether there is one.
func (p Place) Read(record any) bool {
	b, err := os.ReadFile(p.Path(".json"))
	return err == nil && json.Unmarshal(b, record) == nil
}

// Write replaces the record.
func (p Place) Write(record any) error {
	b, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return ondisk.WriteFile(p.Path(".json"), b)
}

// Lock makes the root and waits until no other process prepares the key. It returns the function that unlocks it. The error
// is lockfile.ErrLocked, that of ctx, or that of the file system.
func (p Place) Lock(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(p.Root, 0o700); err != nil {
		return nil, err
	}
	return lockfile.Lock(ctx, p.Path(".lock"), wait)
}

// Sweep removes the folders of the key except the one of that name: a script may still run in it. The caller holds the lock.
func (p Place) Sweep(keep string) {
	entries, _ := os.ReadDir(p.Root)
	for _, d := range entries {
		if strings.HasPrefix(d.Name(), p.Key+"-") && d.Name() != keep {
			ondisk.RemoveAll(filepath.Join(p.Root, d.Name()))
		}
	}
}

// marked is how long a sign of use counts: not every run writes one.
const marked = 24 * time.Hour

// MarkUsed records for Unused that a file or folder is in use. If it fails, it may be removed and made again.
func MarkUsed(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > marked {
		now := time.Now()
		_ = os.Chtimes(path, now, now)
	}
}

// Leftover is something in a cache that may be removed.
type Leftover struct {
	Path  string   // its name in reports
	Why   string   // why it is not needed
	Parts []string // absolute paths to remove, in this order: the record of an environment comes first
}

// Unused lists the environments below root that were not used since a time and the folders that no record names, in the
// order of their names. They may be removed while no script runs and none is prepared.
func Unused(root string, since time.Time) []Leftover {
	keep := map[string]bool{} // folders that a record names
	var out []Leftover
	entries, _ := os.ReadDir(root) // a missing folder has nothing to remove
	for _, d := range entries {
		key, isRecord := strings.CutSuffix(d.Name(), ".json")
		info, err := d.Info()
		if !isRecord || err != nil || !info.Mode().IsRegular() {
			continue
		}
		p := Place{root, key}
		var record struct{ Folder string }
		p.Read(&record)
		keep[record.Folder] = true
		if !info.ModTime().After(since) {
			parts := []string{p.Path(".json")}
			if folder := p.Folder(record.Folder); folder != "" {
				parts = append(parts, folder)
			}
			out = append(out, Leftover{p.Path(".json"), "not used since " + info.ModTime().Format(time.DateOnly), append(parts, p.Path(".lock"))})
		}
	}
	for _, d := range entries {
		if d.IsDir() && d.Type()&fs.ModeSymlink == 0 && !keep[d.Name()] {
			dir := filepath.Join(root, d.Name())
			out = append(out, Leftover{dir, "left by an earlier preparation", []string{dir}})
		}
	}
	return out
}

// Command is one process to run: no shell, empty standard input.
type Command struct {
	Path      string        // absolute path of the program
	Args      []string      // the whole argument list; Args[0] is the program's path
	Dir       string        // absolute working directory
	Env       []string      // the whole environment
	Timeout   time.Duration // of wall clock time
	MaxStdout int64         // bytes of stdout to keep
	FileSize  uint64        // most bytes of one file that it may write; 0 for no limit
	Write     []string      // folders that it writes to, with those that it makes
	Programs  []string      // absolute paths of other programs that it starts
	Hosts     []string      // HOST or HOST:PORT that it connects to; nil for no network
}

// Output is what a command did.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int
	TimedOut       bool // it was ended because of Timeout
	FileTooLarge   bool // it was ended because of FileSize

	// Refused has hosts that it wanted and that are not among Command.Hosts, as HOST or HOST:PORT.
	Refused []string
}

// AllHosts among Command.Hosts is the whole network.
const AllHosts = "all"

// HostError is the cause if packages could not be had because an index sends to hosts that may not be reached.
type HostError struct{ Hosts []string }

// Error names the hosts.
func (e *HostError) Error() string {
	return fmt.Sprintf("the index sends to %s, which is not a host of the settings: allow it only if you trust the index with that", strings.Join(e.Hosts, ", "))
}

// Watch calls look every so often, and ends the context that it returns when look returns an error. stop ends the watch
// and returns that error.
func Watch(ctx context.Context, every time.Duration, look func() error) (watched context.Context, stop func() error) {
	watched, cancel := context.WithCancel(ctx)
	var over error
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
				if over = look(); over != nil {
					cancel()
					return
				}
			}
		}
	}()
	return watched, func() error {
		cancel()
		<-done
		return over
	}
}

// Measure adds the size of a folder and the number of its files. Files that vanish meanwhile do not count.
func Measure(dir string, bytes *int64, files *int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		*files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			*bytes += info.Size()
		}
		return nil
	})
}
