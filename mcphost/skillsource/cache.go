package skillsource

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill"
)

// listFile is the last list of a server, in its folder.
const listFile = "list.json"

// folderOf returns the name of the folder of a server. It begins with a dot, as what no search for skills looks into.
func folderOf(label, scope string) string {
	return fmt.Sprintf(".%s-%x", label, sha256.Sum256([]byte(label+"\x00"+scope)))[:len(label)+2+8] // file systems that know no case, too
}

func (s *Source) folder() string { return folderOf(s.o.Label, s.o.Scope) }

// place returns the slash path of the folder of a skill in the cache. No other skill of any server has it.
func (s *Source) place(at string) string {
	return s.folder() + "/" + fmt.Sprintf("%s-%x", path.Base(at), sha256.Sum256([]byte(at)))[:len(path.Base(at))+1+16]
}

// Remove deletes what is kept of a server.
func Remove(cache, label, scope string) error {
	root, err := os.OpenRoot(cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(folderOf(label, scope))
}

// Old returns the names of the folders in a cache for servers whose skills were not listed since a time.
func Old(cache string, since time.Time) (out []string) {
	lists, _ := filepath.Glob(filepath.Join(cache, ".*", listFile))
	for _, name := range lists {
		if info, err := os.Lstat(name); err == nil && info.ModTime().Before(since) {
			out = append(out, filepath.Base(filepath.Dir(name)))
		}
	}
	return out
}

// cached returns a file of a skill from the cache, if it is there and has the content that it should.
func (s *Source) cached(e *skilluri.Entry, r *skilluri.Resource) ([]byte, bool) {
	root, err := os.OpenRoot(filepath.Join(s.o.Cache, filepath.FromSlash(s.place(e.Path()))))
	if err != nil {
		return nil, false
	}
	defer root.Close()
	data, err := lockfile.ReadIn(root, r.Hash(), r.Size)
	return data, err == nil && is(r, data) == nil
}

// keep puts a file of a skill into the cache.
func (s *Source) keep(e *skilluri.Entry, r *skilluri.Resource, data []byte) error {
	return s.write(filepath.FromSlash(s.place(e.Path())), r.Hash(), data)
}

// write replaces a file in a folder of the cache.
func (s *Source) write(dir, name string, data []byte) error {
	if err := os.MkdirAll(s.o.Cache, 0o700); err != nil {
		return err
	}
	cache, err := os.OpenRoot(s.o.Cache)
	if err != nil {
		return err
	}
	defer cache.Close()
	if err := cache.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := cache.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return lockfile.Write(root, name, data, 0o600)
}

// saved is a list on the disk.
type saved struct {
	Label  string            `json:"label"`
	At     time.Time         `json:"at"`
	Until  time.Time         `json:"until"`
	Skills []json.RawMessage `json:"skills"`
}

// save keeps a list for when the server is not there.
func (s *Source) save(l *list) error {
	out := saved{Label: s.o.Label, At: l.at, Until: l.until, Skills: []json.RawMessage{}}
	for _, e := range l.entries {
		text, err := encode(e)
		if err != nil {
			return err
		}
		out.Skills = append(out.Skills, text)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return s.write(s.folder(), listFile, text)
}

// encode returns an entry as the server sent it.
func encode(e *skilluri.Entry) (json.RawMessage, error) {
	if e.Dynamic() {
		return json.Marshal(map[string]any{"uri": e.URI, "frontmatter": e.FrontMatter, "resources": "dynamic"})
	}
	return json.Marshal(e)
}

// load returns the list that was saved, or an empty one. What is not in order in it is not there.
func (s *Source) load() *list {
	l := &list{entries: map[string]*skilluri.Entry{}}
	text, err := lockfile.ReadPrivate(filepath.Join(s.o.Cache, s.folder(), listFile), 2*maxList)
	var in saved
	if err != nil || json.Unmarshal(text, &in) != nil || in.Label != s.o.Label {
		return l
	}
	for _, text := range in.Skills {
		s.add(l, text)
	}
	l.problems, l.at = nil, in.At
	if now := s.o.Now(); !in.At.After(now) && !in.Until.After(now.Add(mostFresh)) {
		l.until = in.Until
	}
	return l
}

var (
	_ skill.Source = (*Source)(nil)
	_ skill.Rooted = (*Source)(nil)
	_ skill.Hashed = (*tree)(nil)
)
