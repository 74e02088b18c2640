package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Paths are the places of the engine's files. An empty field means that there is no such place; what depends on it is
// empty too.
type Paths struct {
	Home    string // the user's home
	Agent   string // $AGENT_HOME, by default ~/.agent
	Project string // the project's root
	Cache   string // for what can be made again
	System  string // the operator's folder: /etc/agent
}

// UserConfig is the user's file of settings.
func (p Paths) UserConfig() string { return under(p.Agent, "config.yaml") }

// ProjectConfig is the project's file of settings.
func (p Paths) ProjectConfig() string { return under(p.Project, ".agent", "config.yaml") }

// Trust is the file of approvals and trusted folders.
func (p Paths) Trust() string { return under(p.Agent, "trust.json") }

// Skills is where the user keeps skills by default (R52).
func (p Paths) Skills() string { return under(p.Agent, "skills") }

// Plugins is where installed skills are by default (R74).
func (p Paths) Plugins() string { return under(p.Agent, "plugins") }

// Enterprise is where the operator puts skills for all users.
func (p Paths) Enterprise() string { return under(p.System, "skills") }

func under(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// ProjectRoot returns the nearest folder that has a .git, from dir upwards, else dir itself. A folder above dir that
// belongs to another user but root, or whose .git does, is nobody's project: it is dir then too.
func ProjectRoot(dir string) string {
	root, _ := projectRoot(dir, ours)
	return root
}

// projectRoot is ProjectRoot, with the folder that is not taken for its owner.
func projectRoot(dir string, ours func(fs.FileInfo) bool) (root, foreign string) {
	for at := dir; at != ""; {
		if git, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			folder, err := os.Stat(at)
			if at != dir && (err != nil || !ours(git) || !ours(folder)) {
				return dir, at
			}
			return at, ""
		}
		parent := filepath.Dir(at)
		if parent == at {
			break
		}
		at = parent
	}
	return dir, ""
}

// absolute makes a written path absolute: "~" is the home, anything relative lies below base. It is "" where the path
// depends on a place that there is not.
func absolute(path, base, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return under(home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return under(base, path)
}

// within reports whether dir is root or lies below it, also after the symbolic links in both were followed.
func within(root, dir string) bool {
	if !lies(root, dir) {
		return false
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return true // nothing there
	}
	for at := dir; lies(root, at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return lies(realRoot, real)
		} else if _, err := os.Lstat(at); err == nil {
			return false // there, but what it leads to is not
		}
	}
	return true
}

func lies(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}
