package program

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// PathOptions says which folders of a PATH are dropped.
type PathOptions struct {
	Project string   // absolute; its folders are dropped, unless it is or holds the home or a system folder. "" means none
	Home    string   // absolute, or ""
	Skills  []string // absolute folders of skills; what lies below them is dropped
}

// Dropped is a folder of a PATH that is not used.
type Dropped struct {
	Dir    string `json:"dir"`    // as written
	Reason string `json:"reason"` // "is not an absolute path"
}

// CleanPath returns the folders of a PATH, in its order, in which nobody but the user and the administrator chooses the
// programs. It drops a folder that is relative, missing, in a skill, in the project or writable by others.
func CleanPath(path string, o *PathOptions) (dirs []string, dropped []Dropped) {
	for _, dir := range filepath.SplitList(path) {
		switch reason := o.unfit(dir); {
		case reason != "":
			dropped = append(dropped, Dropped{dir, reason})
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs, dropped
}

// unfit returns why a folder is dropped, "" if it is not.
func (o *PathOptions) unfit(dir string) string {
	if !filepath.IsAbs(dir) {
		return "is not an absolute path"
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "does not exist"
	}
	info, err := os.Stat(real)
	switch {
	case err != nil || !info.IsDir():
		return "is not a folder"
	case slices.ContainsFunc(o.Skills, func(root string) bool { return holds(root, dir, real) }):
		return "is in a folder of skills"
	case o.hasProject() && holds(o.Project, dir, real):
		return "is in the project"
	}
	return writableByOthers(info)
}

// hasProject reports whether the project is a folder of its own. The home, a folder above it, and a folder that holds the
// system's programs are not: without them there would be no PATH.
func (o *PathOptions) hasProject() bool {
	if o.Project == "" || o.Home != "" && holds(o.Project, o.Home) {
		return false
	}
	return !slices.ContainsFunc(filepath.SplitList(FixedPath), func(dir string) bool { return holds(o.Project, dir) })
}

// holds reports whether one of the paths is root or lies below it, with and without the symbolic links in root.
func holds(root string, paths ...string) bool {
	roots := []string{root}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		roots = append(roots, real)
	}
	for _, r := range roots {
		for _, p := range paths {
			if rel, err := filepath.Rel(r, p); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// Find returns the path of a program in one of the folders, as the folders are ordered. The error wraps os.ErrNotExist.
func Find(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		if name != filepath.Base(name) {
			break // a path is not a name
		}
		for _, ext := range extensions() {
			file := filepath.Join(dir, name+ext)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return file, nil
			}
		}
	}
	return "", &os.PathError{Op: "find", Path: name, Err: os.ErrNotExist}
}

// extensions are what a program's file may have after its name.
func extensions() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd", ".bat", ".com", ""}
	}
	return []string{""}
}
