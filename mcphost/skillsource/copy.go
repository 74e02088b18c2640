package skillsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/skilluri"
)

// ErrUnknown is the error for a skill that a server does not publish.
var ErrUnknown = errors.New("the server publishes no such skill")

// Copy writes the files of one skill, as the server publishes it now, to an empty folder. name is its name, or its path on the server. It
// returns the digest of the content; if that is known, it writes nothing. The server has to answer: nothing comes from an old list.
func (s *Source) Copy(ctx context.Context, name, known string, to *os.Root) (digest string, err error) {
	s.Changed()
	l, err := s.current(ctx)
	if err != nil {
		return "", fmt.Errorf("the skills of %s cannot be listed: %w", s.o.Label, err)
	}
	e, err := s.named(l, name)
	if err != nil {
		return "", err
	}
	t := s.open(ctx, e)
	defer t.Close()
	if _, err := t.ReadManifest(skilluri.Manifest); err != nil {
		return "", err
	}
	sum, err := t.Sum(ctx)
	if err != nil || sum.Digest == known {
		return sum.Digest, err
	}
	for _, f := range sum.Files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		data, err := t.content(t.held(), f.Path)
		if err != nil {
			return "", err
		}
		if err := to.MkdirAll(path.Dir(f.Path), 0o700); err != nil {
			return "", err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		if err := to.WriteFile(f.Path, data, mode); err != nil {
			return "", err
		}
	}
	return sum.Digest, nil
}

// named returns the entry with a path, or the only one with a name.
func (s *Source) named(l *list, name string) (*skilluri.Entry, error) {
	if e := l.entries[name]; e != nil {
		return e, nil
	}
	var found []string
	for at := range l.entries {
		if path.Base(at) == name {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q at %s", ErrUnknown, name, s.o.Label)
	case 1:
		return l.entries[found[0]], nil
	}
	return nil, fmt.Errorf("%w: %q at %s is one of several: %s", ErrUnknown, name, s.o.Label, strings.Join(found, ", "))
}
