package script

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/skill"
)

// digits is the length of the hash in the name of a skill's home.
const digits = 16

// placeName returns the name of the folders that a skill keeps: its home and its cache. Skills of one name in different roots
// have different ones: a user's skill does not find the files of a project's. The content does not matter.
func (h *Host) placeName(ctx context.Context, s *skill.Skill) (string, error) {
	e := s.Entry()
	root := e.Layer()
	if e.Server() != "" {
		place, err := e.Place(ctx)
		if err != nil {
			return "", err
		}
		root = place
	} else if root != "bundled" {
		file, err := e.Location(ctx)
		if err != nil && !errors.Is(err, skill.ErrNoFolder) {
			return "", err
		}
		dir := strings.TrimSuffix(filepath.Dir(file), filepath.FromSlash(e.Path()))
		if h.o.Place != nil {
			dir = h.o.Place(dir)
		}
		root += "\x00" + dir
	}
	name := strings.ReplaceAll(s.Canonical(), ":", "-") // lists of paths have colons between them
	return fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(root)))[:len(name)+1+digits], nil
}

// operatorHome returns the HOME of the operator's environment, "" if it names no folder.
func (h *Host) operatorHome() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home := ""
	for _, kv := range h.o.Env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && filepath.IsAbs(value) {
			home = value
		}
	}
	return home
}

// Home is the private folder that is HOME for the scripts of a skill. It stays from run to run.
type Home struct {
	Skill string // the skill's canonical name
	Dir   string // absolute
	Bytes int64
	Files int
}

// HomeOf returns the private home of a skill. A skill whose scripts never ran has an empty one that does not exist.
func (h *Host) HomeOf(ctx context.Context, s *skill.Skill) (Home, error) {
	name, err := h.placeName(ctx, s)
	if err != nil {
		return Home{}, err
	}
	return h.measured(s.Canonical(), name), nil
}

// Homes returns all private homes, by the names of their folders.
func (h *Host) Homes() []Home {
	var out []Home
	for _, d := range inFolder(h.o.Homes) {
		if name, ok := homeOwner(d.Name()); ok && d.IsDir() {
			out = append(out, h.measured(name, d.Name()))
		}
	}
	return out
}

func (h *Host) measured(skillName, folder string) Home {
	home := Home{Skill: skillName, Dir: filepath.Join(h.o.Homes, folder)}
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

// cachesFolder is the folder in the cache for what the scripts of skills keep there ($AGENT_SKILL_CACHE_DIR).
const cachesFolder = "skill-cache"

// ClearCaches removes what scripts keep in the cache (AGENT_SKILL_CACHE_DIR), for all skills with this canonical name, with their temporary
// files. It returns how many files the caches had.
func (h *Host) ClearCaches(name string) (files int, err error) {
	root := filepath.Join(h.o.Cache, cachesFolder)
	for _, d := range inFolder(root) {
		if owner, ok := homeOwner(d.Name()); !ok || owner != name {
			continue
		}
		program.RemoveAll(h.tempOf(d.Name()))
		dir := filepath.Join(root, d.Name())
		n, _ := proc.Measure(dir)
		program.RemoveAll(dir)
		if _, err := os.Lstat(dir); err == nil {
			return files, fmt.Errorf("%q cannot be removed", dir)
		}
		files += n
	}
	return files, nil
}

// keptFiles returns where stays what the scripts of a skill write in its folder, by the name of its home.
func (h *Host) keptFiles(name string) string { return filepath.Join(h.o.Homes, ".kept", name) }

// ClearHome removes a private home with everything in it, the files that scripts wrote in the skill's folder, and temporary ones. It returns an
// error for a folder that is no home, and if something is left.
func (h *Host) ClearHome(home Home) error {
	if _, ok := homeOwner(filepath.Base(home.Dir)); !ok || filepath.Dir(home.Dir) != h.o.Homes {
		return fmt.Errorf("%q is not the home of a skill", home.Dir)
	}
	program.RemoveAll(home.Dir)
	program.RemoveAll(h.keptFiles(filepath.Base(home.Dir)))
	program.RemoveAll(h.tempOf(filepath.Base(home.Dir)))
	if _, err := os.Lstat(home.Dir); err == nil {
		return fmt.Errorf("%q cannot be removed", home.Dir)
	}
	return nil
}
