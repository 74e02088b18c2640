package lock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// version is the version of the format of a project's lock file.
const version = 1

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

// parse reads the file.
func (p *Project) parse(content []byte) (*Set, error) {
	s, err := p.read(content)
	if err != nil && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrMerge) {
		return nil, fmt.Errorf("%q is %w (%w): repair it, or remove it and install the skills again", p.file(), ErrCorrupt, err)
	}
	return s, err
}

// read reads the file. Its errors say what is wrong in it.
func (p *Project) read(content []byte) (*Set, error) {
	if _, _, ok := sides(content); ok {
		return nil, fmt.Errorf("%q is %w: both branches changed it, and it has the marks of git", p.file(), ErrMerge)
	}
	content = bytes.TrimPrefix(content, []byte(byteOrderMark))
	var head struct {
		Version *float64                   `json:"version"`
		Skills  map[string]json.RawMessage `json:"skills"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Version == nil || *head.Version < version:
		return nil, errors.New("no version, or an unknown one")
	case *head.Version > version:
		return nil, fmt.Errorf("%q is %w (version %v, this program reads %d): update this program", p.file(), ErrNewer, *head.Version, version)
	}
	s := &Set{dir: p.Dir, entries: map[string]Entry{}}
	for name, text := range head.Skills {
		e := Entry{text: text}
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("skill %q: %w", name, err)
		}
		s.entries[name] = e
	}
	if err := json.Unmarshal(content, &s.rest); err != nil {
		return nil, err
	}
	delete(s.rest, "version")
	delete(s.rest, "skills")
	return s, nil
}

// bytes returns the file as JSON.stringify(file, null, 2) writes it, with a line feed at the end.
func (s *Set) bytes() ([]byte, error) {
	var skills object
	for _, name := range slices.SortedFunc(maps.Keys(s.entries), compareKeys) {
		text, err := s.entry(s.entries[name])
		if err != nil {
			return nil, err
		}
		skills.add(name, text)
	}
	var all object
	all.add("version", json.RawMessage(strconv.Itoa(version)))
	all.add("skills", skills.text())
	for _, name := range slices.Sorted(maps.Keys(s.rest)) {
		all.add(name, s.rest[name])
	}
	var out bytes.Buffer
	err := json.Indent(&out, all.text(), "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// entry returns the text of an entry. One that was read and not changed keeps its text; one that was changed keeps its
// unknown fields.
func (s *Set) entry(e Entry) (json.RawMessage, error) {
	var was Entry
	if e.text != nil && json.Unmarshal(e.text, &was) == nil {
		if was.text = e.text; same(was, e) {
			return e.text, nil
		}
	}
	if e.isPath() {
		e.Source = s.portable(e.Source)
	}
	own, err := marshal(e)
	if err != nil || e.text == nil {
		return own, err
	}
	return merge(e.text, own)
}

// merge returns the object old with the fields of now, and without the fields of Entry that now does not have.
func merge(old, now json.RawMessage) (json.RawMessage, error) {
	var have, want map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(old, &have), json.Unmarshal(now, &want)); err != nil {
		return nil, err
	}
	var o object
	for _, name := range fields {
		if text, ok := want[name]; ok {
			o.add(name, text)
		}
		delete(have, name)
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		o.add(name, have[name])
	}
	return o.text(), nil
}

// fields are the names of the fields of Entry, in the order of the file.
var fields = []string{"source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash"}

// portable returns a local source relative to the project, as the file has it.
func (s *Set) portable(source string) string {
	rel, err := filepath.Rel(s.dir, s.absolute(source))
	if err != nil {
		return filepath.ToSlash(source)
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}

// object is a JSON object that is written field by field.
type object struct{ b bytes.Buffer }

func (o *object) add(name string, text json.RawMessage) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	key, _ := marshal(name) // a text can always be marshalled
	o.b.Write(key)
	o.b.WriteByte(':')
	o.b.Write(text)
}

func (o *object) text() json.RawMessage {
	return slices.Concat([]byte("{"), o.b.Bytes(), []byte("}"))
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// compareKeys orders names as the keys of a JavaScript object: whole numbers come first, in the order of their values, and
// then the others in the order of their UTF-16 code units.
func compareKeys(a, b string) int {
	x, isX := index(a)
	y, isY := index(b)
	switch {
	case isX && isY:
		return cmp.Compare(x, y)
	case isX:
		return -1
	case isY:
		return 1
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// index returns the value of a key that JavaScript treats as an index of an array.
func index(key string) (uint64, bool) {
	n, err := strconv.ParseUint(key, 10, 32)
	return n, err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == key
}
