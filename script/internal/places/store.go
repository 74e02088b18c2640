// Package places has the folders of scripts: what one run may write to, what a skill keeps from run to run, and what the cache holds
// and need not keep.
package places

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// Options configures a Store. The paths are absolute.
type Options struct {
	Cache, Homes, Runs string // Runs has the folders that go with a run
	UserHome           string // the operator's home; "" for none

	FormerHome   func(place string) string // as in script.Options
	Conversation func(context.Context) (*Conversation, error)
	KeepTemp     time.Duration

	Disk, Files uint64 // most bytes, and files and folders, in what one script may write to; 0 means no limit
}

// Store has the folders.
type Store struct {
	o    Options
	once sync.Once // sweeps the work directories of killed runs
}

// New returns a Store. It copies o.
func New(o *Options) *Store { return &Store{o: *o} }

// Folders of the cache.
const (
	sealedFolder = "sealed"      // copies of approved content
	cachesFolder = "skill-cache" // what the scripts of skills keep there ($AGENT_SKILL_CACHE_DIR)
)

// runPrefix begins the name of the folder of one run.
const runPrefix = "run-"

// Sealed returns the folder for copies of approved content.
func (st *Store) Sealed() string { return filepath.Join(st.o.Cache, sealedFolder) }

// digits is the length of the hash in the name of a skill's home.
const digits = 16

// name returns the name of the folders that a skill keeps: its home and its cache. Skills of one name in different places
// have different ones: a user's skill does not find the files of a project's. The content does not matter: the versions of an installed
// skill share them, on this machine and on a worker of a fleet.
func (st *Store) name(ctx context.Context, s *skill.Skill) (string, error) {
	at, err := s.Entry().Place(ctx)
	if err != nil {
		return "", err
	}
	name := nameOf(s, place.Home(at))
	st.adopt(name, st.formerName(ctx, s, at))
	return name, nil
}

func nameOf(s *skill.Skill, of string) string {
	name := strings.ReplaceAll(s.Canonical(), ":", "-") // lists of paths have colons between them
	return fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(of)))[:len(name)+1+digits]
}

// formerName returns the name of the folders of a skill in former versions of this program, which made it of the path of the skill's root; ""
// for none.
func (st *Store) formerName(ctx context.Context, s *skill.Skill, at string) string {
	e := s.Entry()
	switch {
	case st.o.FormerHome != nil && st.o.FormerHome(at) != "":
		if place.IsServer(at) {
			return nameOf(s, st.o.FormerHome(at))
		}
		return nameOf(s, e.Layer()+"\x00"+st.o.FormerHome(at))
	case place.IsFolder(at):
		if file, err := e.Location(ctx); err == nil {
			return nameOf(s, e.Layer()+"\x00"+strings.TrimSuffix(filepath.Dir(file), filepath.FromSlash(e.Path())))
		}
	}
	return ""
}

// adopt renames the folders of a former name. A folder stays if one with the present name exists.
func (st *Store) adopt(name, former string) {
	if former == "" {
		return
	}
	for _, of := range []func(string) string{st.home, st.cache, st.keptFiles} {
		if _, err := os.Lstat(of(name)); errors.Is(err, fs.ErrNotExist) {
			_ = os.Rename(of(former), of(name)) // mostly there is none
		}
	}
}

func (st *Store) home(name string) string  { return filepath.Join(st.o.Homes, name) }
func (st *Store) cache(name string) string { return filepath.Join(st.o.Cache, cachesFolder, name) }

// keptFiles returns the folder that keeps what the scripts of a skill write in its folder, by the name of its home.
func (st *Store) keptFiles(name string) string { return filepath.Join(st.o.Homes, ".kept", name) }

// inFolder returns the entries of a folder, by name; none if it cannot be read.
func inFolder(dir string) []fs.DirEntry {
	entries, _ := os.ReadDir(dir)
	return slices.DeleteFunc(entries, func(d fs.DirEntry) bool { return d.Type()&fs.ModeSymlink != 0 })
}

// checkFolder returns an error for what is not a folder, such as a link.
func checkFolder(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%q is not a folder: remove it", dir))
	}
	return nil
}

// Conversation says where the commands of one conversation keep temporary files, and what its model knows. Who holds it makes the folders
// and removes them.
type Conversation struct {
	Temp  string // absolute folder of all its commands, and of the scripts of skills that may write in folders of the user
	Other string // absolute folder that has one for each other skill

	Disk, Files uint64 // most bytes, and files and folders, in Temp; 0 means no limit

	Told *runner.Told // which hidden paths the model knows of; nil means that each result names all
}
