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

var (
	scriptDirs = []string{"scripts", "bin", "tools"}
	scriptExts = []string{".sh", ".py", ".rb", ".js", ".ts", ".pl"}
)

// maxScripts is how many files below one of a skill's three folders are looked at.
const maxScripts = 10_000

// secrecy is C50 for one call: everything in a skill's scripts/ is kept from a model, and what has a script's extension
// in bin/ and tools/ (R125). Files and folders are compared by identity, so that neither a link nor another spelling
// gets around it (security 2.4 #46).
type secrecy struct {
	mounts []Mount
	dirs   []os.FileInfo        // of mounts, nil for one that is not there
	above  map[string]int       // the skill that a folder of the place lies in, -1 for none
	lists  map[int][]scriptFile // the scripts of a skill, read when they are needed
}

func newSecrecy(mounts []Mount) *secrecy {
	s := &secrecy{mounts: mounts, dirs: make([]os.FileInfo, len(mounts)), above: map[string]int{}, lists: map[int][]scriptFile{}}
	for i := range mounts {
		s.dirs[i], _ = os.Stat(mounts[i].Dir) // in a folder that is not there is nothing to keep
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

// list returns the scripts of a skill. A folder with too much in it is an error: nobody knows what the rest is.
func (s *secrecy) list(i int) ([]scriptFile, error) {
	if list, ok := s.lists[i]; ok || s.dirs[i] == nil {
		return list, nil
	}
	root, err := os.OpenRoot(s.mounts[i].Dir)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing can be read there
	}
	defer root.Close()
	var list []scriptFile
	for _, dir := range scriptDirs {
		found, err := scriptsBelow(root, &s.mounts[i], dir)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	s.lists[i] = list
	return list, nil
}

func scriptsBelow(root *os.Root, m *Mount, dir string) (out []scriptFile, err error) {
	seen := 0
	walkErr := fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a folder that is not there has no scripts
		}
		if seen++; seen > maxScripts {
			return failed("", "Skill '%s' has more than %d files in %s/: its scripts cannot be told from other files", m.Name, maxScripts, dir)
		}
		if dir != "scripts" && !hasScriptExt(p) {
			return nil
		}
		if info, err := root.Stat(filepath.FromSlash(p)); err == nil && info.Mode().IsRegular() {
			out = append(out, scriptFile{info, m, p})
		}
		return nil
	})
	return out, walkErr
}

func hasScriptExt(p string) bool { return slices.Contains(scriptExts, strings.ToLower(path.Ext(p))) }

// refuseScript traces and returns the refusal to read a script (C50, R125); it names the tools that are meant for it.
func (h *host) refuseScript(ctx context.Context, s *scriptFile) error {
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ToolDenied, Level: slog.LevelWarn, Skill: s.mount.Name, Script: s.rel,
		Message: "Blocked reading script '" + s.rel + "'"})
	base := path.Base(s.rel)
	if path.Ext(s.rel) != "" && !hasScriptExt(s.rel) {
		return denied("script_read", "File '%s' of skill '%s' lies among its scripts: use skill_read with skill_name '%s' and path '%s'",
			s.rel, s.mount.Name, s.mount.Name, s.rel)
	}
	return denied("script_read", "Script '%s' of skill '%s' must be EXECUTED via Bash tool or script_run, not read: "+
		"use script_run with skill_name '%s' and script_name '%s', and script_help for its options",
		s.rel, s.mount.Name, s.mount.Name, strings.TrimSuffix(base, path.Ext(base)))
}
