package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// parse reads the file. One entry that cannot be used makes the whole file damaged: what happened to it may have happened to
// the others.
func (s *Store) parse(content []byte) (*file, error) {
	f, err := s.sound(content)
	if err != nil && !errors.Is(err, ErrNewer) {
		return nil, kinds().Damaged(s.Path, "change", err)
	}
	return f, err
}

// sound reads the file. Its errors say what is wrong in it.
func (s *Store) sound(content []byte) (*file, error) {
	f, err := s.read(content)
	if err != nil {
		return nil, err
	}
	for i := range f.Skills {
		f.Skills[i].complete()
		if s.Folder != nil {
			if err := s.folders(&f.Skills[i], func(dir *string, is string) error {
				if *dir != is && (s.Kept != nil || *dir == "" || !there(*dir)) {
					*dir = is
				}
				return nil
			}); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(f.Skills, func(a, b Entry) int { return strings.Compare(a.NameCanonical, b.NameCanonical) })
	return f, f.check()
}

// there reports whether a folder exists, or whether that is not known.
func there(dir string) bool {
	_, err := os.Lstat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// folders calls f for each folder of an entry, with the folder that its content has on this machine. It leaves out the folders of links and of
// entries without a digest, which only a file has.
func (s *Store) folders(e *Entry, f func(dir *string, is string) error) error {
	one := func(digest string, dir *string, linked bool) error {
		if s.Kept == nil && (linked || digest == "") {
			return nil
		}
		is, err := s.Folder(e.Name, digest)
		if err == nil {
			err = f(dir, is)
		}
		if err != nil {
			return fmt.Errorf("skill %q: %w", e.Name, err)
		}
		return nil
	}
	if err := one(e.Digest, &e.InstalledPath, e.Linked); err != nil {
		return err
	}
	for i := range e.Previous {
		if err := one(e.Previous[i].Digest, &e.Previous[i].InstalledPath, false); err != nil {
			return err
		}
	}
	return nil
}

// unplaced returns copies of entries without their folders. It returns an error if a folder is not that of its content.
func (s *Store) unplaced(list []Entry) ([]Entry, error) {
	list = slices.Clone(list)
	for i := range list {
		e := &list[i]
		e.Previous = slices.Clone(e.Previous)
		err := s.folders(e, func(dir *string, is string) error {
			if e.Linked || *dir != is {
				return fmt.Errorf("the folder %q is one of this machine alone", *dir)
			}
			*dir = ""
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (f *file) check() error {
	for i := range f.Skills {
		e := &f.Skills[i]
		if err := e.check(); err != nil {
			return err
		}
		if i > 0 && f.Skills[i-1].NameCanonical == e.NameCanonical {
			return fmt.Errorf("two entries have the name %q", e.NameCanonical)
		}
	}
	return nil
}

// read reads the present form or an older one: a list of entries, or an object of entries by name, which may be the value of
// "skills" in another object.
func (s *Store) read(content []byte) (*file, error) {
	if first := bytes.TrimLeft(content, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		var list []json.RawMessage
		err := json.Unmarshal(content, &list)
		return s.older(nil, list, err)
	}
	var head struct {
		Version int
		Skills  json.RawMessage
	}
	if err := json.Unmarshal(content, &head); err != nil {
		var of *json.UnmarshalTypeError
		if !errors.As(err, &of) { // otherwise a skill may be called "version"
			return nil, err
		}
	}
	if head.Version > version {
		return nil, kinds().TooNew(s.Path, head.Version, version)
	}
	if head.Version == version && isList(head.Skills) {
		f := &file{}
		if err := json.Unmarshal(content, f); err != nil {
			return nil, err
		}
		return f, f.rest.Split(content, file{})
	}
	byName := content
	if head.Skills != nil && !isEntry(head.Skills) {
		byName = head.Skills
	}
	if isList(byName) {
		var list []json.RawMessage
		err := json.Unmarshal(byName, &list)
		return s.older(nil, list, err)
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(byName, &named); err != nil {
		return nil, err
	}
	delete(named, "version")
	keys := slices.Sorted(maps.Keys(named))
	var list []json.RawMessage
	for _, key := range keys {
		list = append(list, named[key])
	}
	return s.older(keys, list, nil)
}

func isList(text json.RawMessage) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '['
}

// isEntry reports whether a text is an entry and not an object of entries.
func isEntry(text json.RawMessage) bool {
	var e struct {
		Path string `json:"installed_path"`
	}
	return json.Unmarshal(text, &e) == nil && e.Path != ""
}

// older reads the entries of an older program. keys are their names, if they are not in the entries.
func (s *Store) older(keys []string, list []json.RawMessage, err error) (*file, error) {
	if err != nil {
		return nil, err
	}
	f := &file{Version: version, rebuilt: false}
	for i, text := range list {
		e, err := s.olderEntry(text)
		if err != nil {
			return nil, err
		}
		if e.Name == "" && keys != nil {
			e.Name = keys[i]
		}
		e.tidy()
		f.Skills = append(f.Skills, *e)
	}
	return f, nil
}

// olderEntry reads an entry of an older program: its time may have no zone, and its path may be relative.
func (s *Store) olderEntry(text json.RawMessage) (*Entry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	installed := olderTime(fields["installed_at"])
	delete(fields, "installed_at")
	delete(fields, "updated_at")
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	e := &Entry{}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, err
	}
	e.InstalledAt = installed
	e.InstalledPath = s.olderPath(e.InstalledPath)
	return e, nil
}

// olderPath returns the absolute path for a path of an older program.
func (s *Store) olderPath(path string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok && s.Home != "" {
		return filepath.Join(s.Home, filepath.FromSlash(rest))
	}
	if path != "" && !filepath.IsAbs(path) {
		return filepath.Join(filepath.Dir(s.Path), path)
	}
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}

// olderTime reads a time, which is UTC if it has no zone. It returns the zero time for anything else.
func olderTime(text json.RawMessage) time.Time {
	var s string
	_ = json.Unmarshal(text, &s) // not a text: no time
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
