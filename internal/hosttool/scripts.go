package hosttool

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/trace"
)

// Script is a file of a skill whose text is kept from a model.
type Script struct {
	File string // slash path below the skill's folder
	Name string // the script_name that runs it
}

// scriptFile is one file that is not read.
type scriptFile struct {
	Script
	info  os.FileInfo
	mount *Mount
}

// secrecy is the rule that the text of skills' scripts is kept from a model, for one call. Files and folders are compared
// by identity, so neither a link nor another spelling gets around it.
type secrecy struct {
	rule   func(context.Context, *Mount, fs.FS) []Script // Options.Scripts
	mounts []Mount
	dirs   []os.FileInfo        // of mounts, nil for a missing one
	above  map[string]int       // the skill that a folder of the place lies in, -1 for none
	lists  map[int][]scriptFile // the scripts of a skill, read when they are needed
	links  *linked              // read when it is needed
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
func (s *secrecy) script(ctx context.Context, p *place, info os.FileInfo) *scriptFile {
	first, last := 0, len(s.mounts)
	if names(info) == 1 {
		first = s.mountOf(p, path.Dir(p.rel))
		if last = first + 1; first < 0 {
			return nil
		}
	}
	for i := first; i < last; i++ {
		list := s.list(ctx, i)
		for k := range list {
			if os.SameFile(info, list[k].info) {
				return &list[k]
			}
		}
	}
	return nil
}

// list returns the scripts of a skill.
func (s *secrecy) list(ctx context.Context, i int) []scriptFile {
	if list, ok := s.lists[i]; ok || s.dirs[i] == nil {
		return list
	}
	root, err := os.OpenRoot(s.mounts[i].Dir)
	if err != nil {
		return nil // nothing can be read there
	}
	defer root.Close()
	var list []scriptFile
	for _, sc := range s.rule(ctx, &s.mounts[i], root.FS()) {
		if info, err := root.Lstat(filepath.FromSlash(sc.File)); err == nil {
			list = append(list, scriptFile{sc, info, &s.mounts[i]})
		}
	}
	s.lists[i] = list
	return list
}

// refuseScript traces and returns the refusal to read a script; it names the tools that are meant for it.
func (h *host) refuseScript(ctx context.Context, s *scriptFile) error {
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ScriptReadAttempted, Level: slog.LevelWarn, Skill: s.mount.Name, Script: s.File,
		Message: "Blocked reading script '" + s.File + "'", Attrs: []slog.Attr{slog.Bool(trace.AttrBlocked, true)}})
	return denied("script_read", "Script '%s' of skill '%s' must be EXECUTED via Bash tool or script_run, not read: "+
		"use script_run with skill_name '%s' and script_name '%s', and script_help for its options",
		s.File, s.mount.Name, s.mount.Name, s.Name)
}
