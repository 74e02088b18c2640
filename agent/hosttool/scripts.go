package hosttool

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/trace"
)

// scriptFile is one file that is not read.
type scriptFile struct {
	info  os.FileInfo
	mount *Mount
	rel   string // slash path below the skill's folder
}

// secrecy is the rule that the text of skills' scripts is kept from a model, for one call. Files and folders are compared
// by identity, so neither a link nor another spelling gets around it.
type secrecy struct {
	rule   func(fs.FS) ([]string, error) // Options.Scripts
	mounts []Mount
	dirs   []os.FileInfo        // of mounts, nil for a missing one
	above  map[string]int       // the skill that a folder of the place lies in, -1 for none
	lists  map[int][]scriptFile // the scripts of a skill, read when they are needed
}

func (h *host) newSecrecy(mounts []Mount) *secrecy {
	s := &secrecy{rule: h.o.Scripts, mounts: mounts, dirs: make([]os.FileInfo, len(mounts)), above: map[string]int{}, lists: map[int][]scriptFile{}}
	for i := range mounts {
		s.dirs[i], _ = os.Stat(mounts[i].Dir) // a missing folder has no scripts to protect
	}
	return s
}

// mountOf returns the index of the skill in whose folder a folder of p lies, -1 for none.
func (s *secrecy) mountOf(p *place, dir string) int {
	if i, ok := s.above[dir]; ok {
		return i
	}
	found := -1
	if info, err := p.root.Stat(filepath.FromSlash(dir)); err == nil {
		found = s.index(info)
	}
	switch {
	case found >= 0:
	case dir != ".":
		found = s.mountOf(p, path.Dir(dir))
	default: // the workspace may itself lie in a skill's folder
		for at, err := filepath.EvalSymlinks(p.dir); err == nil && found < 0 && filepath.Dir(at) != at; {
			var info os.FileInfo
			at = filepath.Dir(at)
			if info, err = os.Stat(at); err == nil {
				found = s.index(info)
			}
		}
	}
	s.above[dir] = found
	return found
}

// index returns the skill whose folder this is, -1 for none.
func (s *secrecy) index(dir os.FileInfo) int {
	return slices.IndexFunc(s.dirs, func(m os.FileInfo) bool { return m != nil && os.SameFile(m, dir) })
}

// script returns the script that the open file at p is, nil for none. A file with one name can only be one of the skill
// that it lies in; one with several is compared with those of all skills.
func (s *secrecy) script(p *place, info os.FileInfo) (*scriptFile, error) {
	first, last := 0, len(s.mounts)
	if names(info) == 1 {
		first = s.mountOf(p, path.Dir(p.rel))
		if last = first + 1; first < 0 {
			return nil, nil
		}
	}
	for i := first; i < last; i++ {
		list, err := s.list(i)
		if err != nil {
			return nil, err
		}
		for k := range list {
			if os.SameFile(info, list[k].info) {
				return &list[k], nil
			}
		}
	}
	return nil, nil
}

// list returns the scripts of a skill. If the rule fails, nothing of the skill is read.
func (s *secrecy) list(i int) ([]scriptFile, error) {
	if list, ok := s.lists[i]; ok || s.dirs[i] == nil {
		return list, nil
	}
	root, err := os.OpenRoot(s.mounts[i].Dir)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing can be read there
	}
	defer root.Close()
	paths, err := s.rule(root.FS())
	if err != nil {
		return nil, failed("", "Skill '%s': %v", s.mounts[i].Name, err)
	}
	var list []scriptFile
	for _, p := range paths {
		if info, err := root.Lstat(filepath.FromSlash(p)); err == nil {
			list = append(list, scriptFile{info, &s.mounts[i], p})
		}
	}
	s.lists[i] = list
	return list, nil
}

// refuseScript traces and returns the refusal to read a script; it names the tools that are meant for it.
func (h *host) refuseScript(ctx context.Context, s *scriptFile) error {
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ToolDenied, Level: slog.LevelWarn, Skill: s.mount.Name, Script: s.rel,
		Message: "Blocked reading script '" + s.rel + "'"})
	base := path.Base(s.rel)
	return denied("script_read", "Script '%s' of skill '%s' must be EXECUTED via Bash tool or script_run, not read: "+
		"use script_run with skill_name '%s' and script_name '%s', and script_help for its options",
		s.rel, s.mount.Name, s.mount.Name, strings.TrimSuffix(base, path.Ext(base)))
}
