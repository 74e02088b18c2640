// Package projectrules keeps what the user allowed for one project: rules about calls and hosts that were answered "always", and the
// servers that the project proposes and the user approved. They lie in the user's own state and never in the project, so nothing that
// comes with a project can write them.
//
// The work trees of one git repository share their rules: what git keeps for all of them stands for the project, if it is believed
// (package gitdir). Rules belong to a folder, and not to its path alone: another folder that takes its place, and the same one at another
// path, have none.
//
// A Store is safe for concurrent use, also by several processes.
package projectrules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/want"
)

// Limits of the rules of one project.
const (
	maxRules = 500
	maxRule  = 1000    // bytes
	maxFile  = 1 << 20 // bytes
)

// version is that of the files that this program writes.
const version = 1

// Store has the rules of one project.
type Store struct {
	Dir     string // absolute folder with the files of all projects; "" if there is none
	Project string // absolute
}

// file is the content of a file.
type file struct {
	Version  int      `json:"version"`
	Project  string   `json:"project"`            // for people: what the rules belong to
	Identity string   `json:"identity,omitempty"` // of that folder
	Allow    []string `json:"allow"`

	Servers map[string]Server `json:"servers,omitempty"` // by label
}

// Server is the approval of a server that the project proposes.
type Server struct {
	Digest string   `json:"digest"`          // of the entry that was approved
	Given  want.Set `json:"given,omitempty"` // what its program gets in addition to what the entry says
}

// ErrNoPlace is returned where there is no folder for the rules.
var ErrNoPlace = errors.New("there is no home directory for rules")

// OtherError says that the rules at a path are those of another folder, which was there before. They are not used.
type OtherError struct{ File, Project string }

// Error says whose rules they are.
func (e *OtherError) Error() string {
	return fmt.Sprintf("%s has the rules of another folder that was %s: they are not used", e.File, e.Project)
}

// subject returns the folder that the rules belong to, and what tells it from another one at its path.
func (s *Store) subject() (dir, identity string) {
	dir, identity = gitdir.Standing(s.Project), gitdir.Identity(s.Project)
	if info, err := os.Stat(dir); err == nil && identity == "" {
		identity = fmt.Sprint(paths.Inode(info))
	}
	return dir, identity
}

// File returns the path of the project's file, "" without a place for it.
func (s *Store) File() string {
	if s.Dir == "" || s.Project == "" {
		return ""
	}
	dir, _ := s.subject()
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8])+".json")
}

// Rules returns the rules in the order in which they were added. It returns none and a *OtherError if the file is that of another folder.
func (s *Store) Rules() ([]string, error) {
	f, err := s.load()
	return f.Allow, err
}

// Servers returns the approvals of servers by their labels. Its errors are those of Rules.
func (s *Store) Servers() (map[string]Server, error) {
	f, err := s.load()
	return f.Servers, err
}

func (s *Store) load() (file, error) {
	name := s.File()
	if name == "" {
		return file{}, nil
	}
	text, err := kept(name).Read()
	if text == nil || err != nil {
		return file{}, err
	}
	return s.parse(name, text)
}

func kept(name string) *lockfile.File {
	return &lockfile.File{Path: name, Max: maxFile, Private: true}
}

// parse reads the content of the project's file.
func (s *Store) parse(name string, text []byte) (file, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return file{}, fmt.Errorf("%s cannot be read: %w; move it away", name, err)
	}
	if f.Version > version {
		return file{}, fmt.Errorf("%s was written by a newer program (version %d): its rules are not used", name, f.Version)
	}
	if _, identity := s.subject(); f.Identity != identity {
		return file{}, &OtherError{name, f.Project}
	}
	f.Allow = slices.DeleteFunc(f.Allow, func(rule string) bool { return check(rule) != nil })
	f.Allow = f.Allow[:min(len(f.Allow), maxRules)]
	return f, nil
}

// check returns an error for a text that is no rule.
func check(rule string) error {
	if strings.TrimSpace(rule) == "" || len(rule) > maxRule || strings.ContainsFunc(rule, unicode.IsControl) {
		return fmt.Errorf("invalid rule %q", rule)
	}
	return nil
}

// Add adds rules. Those of another folder at the project's path go.
func (s *Store) Add(ctx context.Context, rules ...string) error {
	for _, rule := range rules {
		if err := check(rule); err != nil {
			return err
		}
	}
	_, err := s.edit(ctx, func(f *file) error {
		for _, rule := range rules {
			if rule = strings.TrimSpace(rule); !slices.Contains(f.Allow, rule) {
				f.Allow = append(f.Allow, rule)
			}
		}
		if len(f.Allow) > maxRules {
			return fmt.Errorf("a project has at most %d rules: remove some", maxRules)
		}
		return nil
	})
	return err
}

// maxServers is how many servers of one project are approved.
const maxServers = 100

// TrustServer approves a server, in place of what was approved under its label.
func (s *Store) TrustServer(ctx context.Context, label string, approval Server) error {
	_, err := s.edit(ctx, func(f *file) error {
		if f.Servers == nil {
			f.Servers = map[string]Server{}
		}
		if f.Servers[label] = approval; len(f.Servers) > maxServers {
			return fmt.Errorf("at most %d servers of a project are approved: take some back", maxServers)
		}
		return nil
	})
	return err
}

// UntrustServer takes the approval of a server back, and reports whether there was one.
func (s *Store) UntrustServer(ctx context.Context, label string) (bool, error) {
	if !s.exists() {
		return false, nil
	}
	return s.edit(ctx, func(f *file) error {
		delete(f.Servers, label)
		return nil
	})
}

// exists reports whether something is kept for the project.
func (s *Store) exists() bool {
	name := s.File()
	if name == "" {
		return false
	}
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// Remove removes a rule, and reports whether there was one.
func (s *Store) Remove(ctx context.Context, rule string) (bool, error) {
	if !s.exists() {
		return false, nil
	}
	return s.edit(ctx, func(f *file) error {
		f.Allow = slices.DeleteFunc(f.Allow, func(r string) bool { return r == strings.TrimSpace(rule) })
		return nil
	})
}

// edit changes what is kept, and reports whether that made a difference.
func (s *Store) edit(ctx context.Context, change func(*file) error) (changed bool, err error) {
	name := s.File()
	if name == "" {
		return false, ErrNoPlace
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return false, err
	}
	err = kept(name).Edit(ctx, func(old []byte) ([]byte, error) {
		f := file{}
		if old != nil {
			var err error
			if f, err = s.parse(name, old); err != nil && !errors.As(err, new(*OtherError)) {
				return nil, err
			}
		}
		was := file{Allow: slices.Clone(f.Allow), Servers: maps.Clone(f.Servers)}
		if err := change(&f); err != nil {
			return nil, err
		}
		same := func(a, b Server) bool { return reflect.DeepEqual(a, b) }
		if changed = !slices.Equal(was.Allow, f.Allow) || !maps.EqualFunc(was.Servers, f.Servers, same); !changed {
			return nil, nil
		}
		f.Version, f.Allow = version, append([]string{}, f.Allow...)
		f.Project, f.Identity = s.subject()
		text, err := json.MarshalIndent(f, "", "  ")
		return append(text, '\n'), err
	})
	return changed && err == nil, err
}
