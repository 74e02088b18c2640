package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/paths"
)

// PathOptions says which folders of a PATH are dropped.
type PathOptions struct {
	Project string   // absolute; what lies in it is dropped. "" means none
	Skills  []string // absolute folders of skills; what lies in them is dropped
	Own     string   // absolute folder of the agent, or ""; what lies in it is dropped
	Home    string   // absolute, or ""; it is dropped itself, with its keys. A project or folder of skills that is, or holds, the home or a system folder does not count.
}

// Dropped is a folder of a PATH that is not used.
type Dropped struct {
	Dir    string `json:"dir"`    // as written
	Reason string `json:"reason"` // "is not an absolute path"
}

// CleanPath returns the folders of a PATH, in its order, in which nobody but the user and the administrator chooses the
// programs. It drops a folder that is relative, missing, in a skill, in the project or writable by others, and one that commands do not see.
func CleanPath(path string, o *PathOptions) (dirs []string, dropped []Dropped) {
	home := paths.WayTo(o.Home)
	refused := o.refused(home)
	for _, dir := range filepath.SplitList(path) {
		switch reason := unfit(dir, home, refused); {
		case reason != "":
			dropped = append(dropped, Dropped{dir, reason})
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs, dropped
}

// refusal is a folder, with and without the symbolic links in its path, whose programs are not used.
type refusal struct {
	roots  []string
	reason string
}

// refused returns the folders of skills and the project. home is the way to the home.
func (o *PathOptions) refused(home *paths.Way) []refusal {
	var out []refusal
	add := func(root, reason string) {
		roots := []string{root}
		if _, err := os.Lstat(root); err == nil {
			roots = paths.Unique(append(roots, paths.Real(root)))
		}
		if root != "" && !o.holdsSystem(roots) && !home.In(roots[len(roots)-1]) {
			out = append(out, refusal{roots, reason})
		}
	}
	for _, root := range o.Skills {
		add(root, "is in a folder of skills")
	}
	add(o.Project, "is in the project")
	add(o.Own, "is the agent's own")
	if o.Home != "" {
		for _, name := range content.Keys() {
			add(filepath.Join(o.Home, name), "has keys")
		}
	}
	return out
}

// holdsSystem reports whether a folder is or holds the home or a folder of the system's programs. Without what lies in it
// there would be no PATH.
func (o *PathOptions) holdsSystem(roots []string) bool {
	needed := append(filepath.SplitList(FixedPath), o.Home)
	return slices.ContainsFunc(needed, func(dir string) bool { return dir != "" && paths.Within(roots, dir) })
}

// unfit returns why a folder is dropped, "" if it is not.
func unfit(dir string, home *paths.Way, refused []refusal) string {
	if !filepath.IsAbs(dir) {
		return "is not an absolute path"
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "does not exist"
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return "is not a folder"
	}
	if home.In(real) {
		return "holds the whole home"
	}
	for _, r := range refused {
		if paths.Within(r.roots, dir) || paths.Within(r.roots, real) {
			return r.reason
		}
	}
	return writableByOthers(info)
}

// FindClean is Find in the folders that CleanPath returned. The error of a program that lies only in a folder which CleanPath
// dropped is a DroppedError.
func FindClean(name string, dirs []string, dropped []Dropped) (string, error) {
	path, err := Find(name, dirs)
	if err == nil {
		return path, nil
	}
	for _, d := range dropped {
		if !filepath.IsAbs(d.Dir) {
			continue
		}
		if path, lies := Find(name, []string{d.Dir}); lies == nil {
			return "", &DroppedError{Path: path, Reason: d.Reason}
		}
	}
	return "", err
}

// DroppedError is the error about a program that is in no folder of a PATH but those which CleanPath dropped.
type DroppedError struct {
	Path   string // of the program
	Reason string // why its folder was dropped: "is in the project"
}

// Error says where the program is, and why it is not used.
func (e *DroppedError) Error() string {
	return fmt.Sprintf("%s is not used, because its folder %s", e.Path, e.Reason)
}

// Unwrap returns os.ErrNotExist, which is also the error about a program that is nowhere.
func (e *DroppedError) Unwrap() error { return os.ErrNotExist }

// Lack returns the end of a message that something needs a program, after a comma: why there is none, by the error of LookPath, and what to do.
// cure is what helps against a program that is not installed.
func Lack(err error, cure string) string {
	if dropped, ok := errors.AsType[*DroppedError](err); ok {
		return "but " + dropped.Error() + ": install it in another folder of PATH"
	}
	return "which is not installed: " + cure
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
