package places

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/skill"
)

// Home is the private folder that is HOME for the scripts of a skill. It stays from run to run.
type Home struct {
	Skill string // the skill's canonical name
	Dir   string // absolute
	Bytes int64
	Files int
}

// HomeOf returns the private home of a skill. A skill whose scripts never ran has an empty one that does not exist.
func (st *Store) HomeOf(ctx context.Context, s *skill.Skill) (Home, error) {
	name, err := st.name(ctx, s)
	if err != nil {
		return Home{}, err
	}
	return st.measured(s.Canonical(), name), nil
}

// Homes returns all private homes, by the names of their folders.
func (st *Store) Homes() []Home {
	var out []Home
	for _, d := range inFolder(st.o.Homes) {
		if name, ok := homeOwner(d.Name()); ok && d.IsDir() {
			out = append(out, st.measured(name, d.Name()))
		}
	}
	return out
}

func (st *Store) measured(skillName, folder string) Home {
	home := Home{Skill: skillName, Dir: st.home(folder)}
	home.Files, home.Bytes = proc.Measure(home.Dir)
	return home
}

// homeOwner returns the skill in the name of a home.
func homeOwner(folder string) (string, bool) {
	at := len(folder) - digits - 1
	if at < 1 || folder[at] != '-' || strings.Trim(folder[at+1:], "0123456789abcdef") != "" {
		return "", false
	}
	return folder[:at], true
}

// ClearCaches removes what scripts keep in the cache (AGENT_SKILL_CACHE_DIR), for all skills with this canonical name, with their temporary
// files. It returns how many files the caches had.
func (st *Store) ClearCaches(name string) (files int, err error) {
	root := filepath.Join(st.o.Cache, cachesFolder)
	for _, d := range inFolder(root) {
		if owner, ok := homeOwner(d.Name()); !ok || owner != name {
			continue
		}
		ondisk.RemoveAll(st.tempOf(d.Name()))
		dir := filepath.Join(root, d.Name())
		n, _ := proc.Measure(dir)
		ondisk.RemoveAll(dir)
		if _, err := os.Lstat(dir); err == nil {
			return files, fmt.Errorf("%q cannot be removed", dir)
		}
		files += n
	}
	return files, nil
}

// ClearHome removes a private home with everything in it, the files that scripts wrote in the skill's folder, and temporary ones. It returns an
// error for a folder that is no home, and if something is left.
func (st *Store) ClearHome(home Home) error {
	if _, ok := homeOwner(filepath.Base(home.Dir)); !ok || filepath.Dir(home.Dir) != st.o.Homes {
		return fmt.Errorf("%q is not the home of a skill", home.Dir)
	}
	ondisk.RemoveAll(home.Dir)
	ondisk.RemoveAll(st.keptFiles(filepath.Base(home.Dir)))
	ondisk.RemoveAll(st.tempOf(filepath.Base(home.Dir)))
	if _, err := os.Lstat(home.Dir); err == nil {
		return fmt.Errorf("%q cannot be removed", home.Dir)
	}
	return nil
}
