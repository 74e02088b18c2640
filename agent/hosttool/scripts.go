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

// scripts lists what C50 keeps from a model: everything in scripts/, and what has a script's extension in bin/ and
// tools/ (R125). Files are compared by identity, so that neither a link nor another spelling gets around it (security
// 2.4 #46). A folder with too much in it is an error: nobody knows what the rest is.
func (h *host) scripts(mounts []Mount) ([]scriptFile, error) {
	if h.o.ReadScripts {
		return nil, nil
	}
	var out []scriptFile
	for i := range mounts {
		root, err := os.OpenRoot(mounts[i].Dir)
		if err != nil {
			continue // nothing can be read there
		}
		for _, dir := range scriptDirs {
			found, err := scriptsBelow(root, &mounts[i], dir)
			if err != nil {
				root.Close()
				return nil, err
			}
			out = append(out, found...)
		}
		root.Close()
	}
	return out, nil
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

// isScript finds the script that a file is.
func isScript(info os.FileInfo, scripts []scriptFile) *scriptFile {
	for i := range scripts {
		if os.SameFile(info, scripts[i].info) {
			return &scripts[i]
		}
	}
	return nil
}

// refuseScript is C50's block in the words of R125.
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
