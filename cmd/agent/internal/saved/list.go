package saved

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Summary is a conversation in a list.
type Summary struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`   // of the first prompt; foreign text
	Project string    `json:"project"` // absolute path
	Updated time.Time `json:"updated"`
	Turns   int       `json:"turns"`
	From    string    `json:"from,omitempty"` // the ID of the conversation that this is a copy of

	path string
}

// Label returns the title. It marks a copy, which has the title of the first.
func (s *Summary) Label() string {
	if s.From != "" {
		return s.Title + " (a copy)"
	}
	return s.Title
}

// List returns the conversations of the project, or of all projects, the one that changed last being first, without those of
// sub-agents: at most most, 0 meaning
// all, and how many more there are. Files that are refused are left out. The error is that of ctx, or says that the folder
// cannot be read.
func List(ctx context.Context, o *Options, all bool, most int) (list []Summary, more int, err error) {
	places, err := o.places(all)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range places {
		list = append(list, slices.DeleteFunc(p.all(), func(s Summary) bool { return Parent(s.ID) != "" })...)
	}
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	if most > 0 && len(list) > most {
		list, more = list[:most], len(list)-most
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		list[i].read()
	}
	return list, more, nil
}

// place is the folder of a project.
type place struct {
	dir     string
	project projectFile
}

// projectFile is what a folder says of its project.
type projectFile struct {
	Path     string `json:"path"`
	Identity string `json:"identity,omitempty"`
}

const projectName = "project.json"

// places returns the folder of the project and those of the same project in other places, or all folders.
func (o *Options) places(all bool) ([]place, error) {
	entries, err := os.ReadDir(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	own, out := filepath.Base(o.folder()), []place(nil)
	for _, e := range entries[:min(len(entries), maxProjects)] {
		dir := filepath.Join(o.Dir, e.Name())
		if !e.IsDir() || checkFolders(dir) != nil {
			continue
		}
		p := place{dir, readProject(dir)}
		if all || e.Name() == own || o.Identity != "" && p.project.Identity == o.Identity {
			out = append(out, p)
		}
	}
	return out, nil
}

// find returns the folder that has a conversation: one of the project or, if it has none of that name, of any. here says which.
func (o *Options) find(id string) (dir string, here bool, err error) {
	if !isID(id) {
		return "", false, ErrUnknown
	}
	for _, all := range []bool{false, true} {
		places, err := o.places(all)
		if err != nil {
			return "", false, err
		}
		for _, p := range places {
			if _, err := os.Lstat(filepath.Join(p.dir, id+suffix)); err == nil {
				return p.dir, !all, nil
			}
		}
	}
	return "", false, ErrUnknown
}

func readProject(dir string) (p projectFile) {
	src, err := lockfile.Read(filepath.Join(dir, projectName), 64<<10)
	if err != nil || json.Unmarshal(src, &p) != nil {
		return projectFile{}
	}
	return p
}

// name writes what the folder says of its project, if that is not there.
func (o *Options) name(ctx context.Context) error {
	want := projectFile{o.Project, o.Identity}
	if readProject(o.folder()) == want {
		return nil
	}
	src, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return (&lockfile.File{Path: filepath.Join(o.folder(), projectName)}).Edit(ctx, func([]byte) ([]byte, error) { return append(src, '\n'), nil })
}

// all returns the conversations in the folder, with those of sub-agents, without what their files say.
func (p *place) all() (out []Summary) {
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		if info, err := e.Info(); ok && isID(id) && err == nil && fit(e.Name(), info) == nil {
			out = append(out, Summary{ID: id, Project: p.project.Path, Updated: info.ModTime(), path: filepath.Join(p.dir, e.Name())})
		}
	}
	return out
}

// maxHead bounds the first line of a file.
const maxHead = 16 << 10

// read reads the first line of the file, and as much of its end as a list needs.
func (s *Summary) read() {
	f, info, err := openFile(s.path, os.O_RDONLY)
	if err != nil {
		return // it has gone
	}
	defer f.Close()
	first := make([]byte, min(info.Size(), maxHead))
	n, _ := f.ReadAt(first, 0)
	first, _, _ = bytes.Cut(first[:n], []byte("\n"))
	if h, err := parseLine(first); err == nil && h.Kind == kindHead && isID(h.From) {
		s.From = h.From
	}
	for _, room := range []int64{4 << 10, 64 << 10, MaxFile} {
		from := max(info.Size()-room, 0)
		src := make([]byte, info.Size()-from)
		n, err := f.ReadAt(src, from)
		if err != nil && err != io.EOF || s.find(src[:n]) || from == 0 {
			return
		}
	}
}

// find looks for the last line that says how many turns there are.
func (s *Summary) find(src []byte) bool {
	for len(src) > 0 {
		at := bytes.LastIndexByte(src[:len(src)-1], '\n') + 1
		one := src[at:]
		src = src[:at]
		for _, k := range []kind{kindEnd, kindBegin, kindBack} {
			if !bytes.HasPrefix(one, []byte(`{"kind":"`+k+`"`)) {
				continue
			}
			if l, err := parseLine(one); err == nil && at > 0 { // the first may be the end of a longer one
				s.Title, s.Turns = string(l.Title), l.Count
				return true
			}
		}
	}
	return false
}

// Remove removes a conversation, with those of its sub-agents. The error is ErrUnknown, or ErrInUse if a process continues it.
func Remove(ctx context.Context, o *Options, id string) error {
	dir, _, err := o.find(id)
	if err != nil {
		return err
	}
	return remove(ctx, dir, id, false)
}

// remove removes a conversation, or a lock that one has left. With dry it only says whether it could.
func remove(ctx context.Context, dir, id string, dry bool) error {
	lock := filepath.Join(dir, id+lockSuffix)
	unlock, err := lockfile.Lock(ctx, lock, tryOnce)
	if errors.Is(err, lockfile.ErrLocked) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	defer unlock()
	if dry {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, id+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removeSubs(dir, id)
	return os.Remove(lock)
}

// Tidy prunes once a day.
func Tidy(ctx context.Context, o *Options, unused time.Duration) {
	stamp := filepath.Join(o.Dir, "pruned")
	info, err := os.Lstat(stamp)
	if err == nil && o.Now().Sub(info.ModTime()) < 24*time.Hour {
		return
	}
	if os.MkdirAll(o.Dir, 0o700) != nil || os.WriteFile(stamp, nil, 0o600) != nil {
		return // the next conversation tries again
	}
	_ = os.Chtimes(stamp, time.Time{}, o.Now())
	Prune(ctx, o, unused, false)
}

// Pruned is a file that Prune removed.
type Pruned struct {
	Path  string // absolute
	Why   string
	Bytes int64
}

// Prune removes the conversations of all projects that did not change for the given time, and locks that killed processes left. With dry
// it only says what it would remove. What is in use or cannot be removed stays.
func Prune(ctx context.Context, o *Options, unused time.Duration, dry bool) (out []Pruned) {
	places, _ := o.places(true)
	for _, p := range places {
		entries, _ := os.ReadDir(p.dir)
		for _, e := range entries {
			id, gone := p.unneeded(e, o.Now().Add(-unused))
			if gone.Why != "" && remove(ctx, p.dir, id, dry) == nil {
				out = append(out, gone)
			}
		}
		entries, err := os.ReadDir(p.dir)
		left := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), suffix) })
		if err == nil && !left && !dry && p.dir != o.folder() {
			_ = os.Remove(filepath.Join(p.dir, projectName))
			_ = os.Remove(filepath.Join(p.dir, projectName+lockSuffix))
			_ = os.Remove(p.dir) // it stays if something is in it
		}
	}
	return out
}

// unneeded returns the conversation that a file in the folder belongs to, and the file with the reason why it can be removed. Without a
// reason it stays.
func (p *place) unneeded(e fs.DirEntry, oldest time.Time) (id string, gone Pruned) {
	info, err := e.Info()
	id, kind, _ := strings.Cut(e.Name(), ".")
	if err != nil || !isID(id) {
		return "", gone
	}
	gone = Pruned{Path: filepath.Join(p.dir, e.Name()), Bytes: info.Size()}
	switch "." + kind {
	case suffix:
		if info.ModTime().Before(oldest) {
			gone.Why = "not continued since " + info.ModTime().Format(time.DateOnly)
		}
	case lockSuffix:
		if _, err := os.Lstat(filepath.Join(p.dir, id+suffix)); errors.Is(err, fs.ErrNotExist) {
			gone.Why = "left by a conversation that is gone"
		}
	}
	return id, gone
}
