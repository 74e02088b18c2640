package lock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrMerge means that the file has the marks of a merge that git could not finish. Nothing is written.
var ErrMerge = errors.New("in the middle of a merge")

// The marks that git puts into a file. What is between a base and a middle is on no side.
const (
	markOurs   = "<<<<<<<"
	markBase   = "|||||||"
	markMiddle = "======="
	markTheirs = ">>>>>>>"
)

// sides returns what a file with marks has on each side. ok reports whether it has marks, each in its place.
func sides(content []byte) (ours, theirs []byte, ok bool) {
	at := ""
	for line := range bytes.Lines(content) {
		mark, next := markOf(line), ""
		switch {
		case mark == "":
			if at != markBase && at != markMiddle {
				ours = append(ours, line...)
			}
			if at == "" || at == markMiddle {
				theirs = append(theirs, line...)
			}
			continue
		case mark == markOurs && at == "", mark == markBase && at == markOurs, mark == markMiddle && (at == markOurs || at == markBase):
			next = mark
		case mark != markTheirs || at != markMiddle:
			return nil, nil, false
		}
		at, ok = next, true
	}
	return ours, theirs, ok && at == ""
}

// markOf returns the mark that a line is, "" if it is none. No line of JSON begins with one.
func markOf(line []byte) string {
	for _, mark := range []string{markOurs, markBase, markMiddle, markTheirs} {
		rest, ok := strings.CutPrefix(strings.TrimRight(string(line), "\r\n"), mark)
		if ok && (rest == "" || rest[0] == ' ') {
			return mark
		}
	}
	return ""
}

// Merged says what Merge did.
type Merged struct {
	Needed  bool     // the file had the marks of a merge
	Skills  int      // that the file names, or would name
	Differ  []string // names of the skills of which the sides say different things, sorted
	Written bool
}

// Merge puts the two sides of a merge that git could not finish together: the file then has the skills of both. Where they say
// different things of a skill, it takes that of the branch that was merged if theirs is set, and else that of the current one. A
// file without marks stays as it is. The error is ErrCorrupt if a side is not a lock file, ErrNewer, that of ctx, or that of the
// file system; nothing was written then. With check nothing is written.
func (p *Project) Merge(ctx context.Context, theirs, check bool) (*Merged, error) {
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	m := &Merged{}
	merge := func(old []byte) ([]byte, error) {
		mine, other, ok := sides(old)
		if !ok {
			s, err := p.parse(old)
			if err == nil {
				m.Skills = len(s.entries)
			}
			return nil, err
		}
		if theirs {
			mine, other = other, mine
		}
		to, err := p.parse(mine)
		from, err2 := p.parse(other)
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("a side of the merge: %w", err)
		}
		m.Needed, m.Differ = true, to.join(from)
		m.Skills = len(to.entries)
		return to.bytes()
	}
	if check {
		content, err := p.kept().Load(ctx)
		if content != nil {
			_, err = merge(content)
		}
		return m, err
	}
	err := p.kept().Edit(ctx, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, nil
		}
		return merge(old)
	})
	m.Written = err == nil && m.Needed
	return m, err
}

// join adds what another set has and s has not. It returns the names of the entries that differ.
func (s *Set) join(other *Set) (differ []string) {
	for _, name := range slices.Sorted(maps.Keys(other.entries)) {
		e, there := s.entries[name]
		switch {
		case !there:
			s.Put(name, other.entries[name])
		case !sameText(e.text, other.entries[name].text):
			differ = append(differ, name)
		}
	}
	for name, text := range other.rest {
		if _, there := s.rest[name]; !there {
			s.rest[name] = text
		}
	}
	return differ
}

// sameText reports whether two JSON texts differ in spaces alone.
func sameText(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return errors.Join(json.Compact(&x, a), json.Compact(&y, b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
