package program

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
)

// systemFolders hold what every program of a system may read. They are part of every sandbox.
var systemFolders = map[string][]string{
	"darwin": {"/usr", "/bin", "/sbin", "/System", "/Library"},
	"linux":  {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"},
}

// OfSystem reports whether a path lies in a folder of the system's programs and libraries.
func OfSystem(path string) bool { return paths.Within(systemFolders[runtime.GOOS], path) }

// partsOfPrefix are the folders below the prefix of an installation that its programs read.
var partsOfPrefix = []string{"bin", "lib", "lib64", "libexec", "share", "ssl"}

// binFolders are the names of folders of programs, in the prefix of an installation.
var binFolders = []string{"bin", "sbin", "Scripts"}

const (
	mostLinks = 16 // that lead from a program's path to its file
	mostLoads = 4  // programs that start each other by a #! line
)

// Installation returns what a program needs of its own installation, outside the system's folders: its file, the links that
// lead to it, its libraries and data, and the same of the program that its #! line names. home is the user's home, or "": its
// own data folder, ~/.local/share, is never part of an installation.
func Installation(path, home string) []string {
	var out []string
	for range mostLoads {
		hops := links(path)
		for _, at := range hops {
			if OfSystem(at) {
				continue
			}
			for _, part := range ofPrefix(at, home) {
				if _, err := os.Readlink(part); part != at || err != nil { // a link by itself, as in /etc/alternatives: a sandbox makes it, and mounts none
					out = append(out, part)
				}
			}
		}
		next := starts(hops[len(hops)-1])
		if next == "" || OfSystem(next) {
			break
		}
		path = next
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// links returns a path, the paths of the links that it leads through, and that of the file itself.
func links(path string) []string {
	out := []string{path}
	for range mostLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
		out = append(out, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		out = append(out, real)
	}
	return out
}

// ofPrefix returns the parts of the installation that a program's file belongs to.
func ofPrefix(file, home string) []string {
	if at := strings.Index(file, "/Cellar/"); at > 0 { // Homebrew: programs share libraries
		return existing(file[:at], "Cellar", "bin", "etc", "lib", "opt", "share")
	}
	if strings.HasPrefix(file, "/nix/store/") {
		return []string{"/nix/store"}
	}
	dir := filepath.Dir(file)
	prefix := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) == "shims": // of a version manager, which finds the program below its folder
		return []string{prefix}
	case !slices.Contains(binFolders, filepath.Base(dir)):
		if _, err := os.Stat(filepath.Join(dir, "..", "package.json")); err == nil { // a program of an npm package
			return []string{prefix}
		}
		return []string{file}
	case prefix == filepath.Dir(prefix) || prefix == home:
		return []string{dir}
	}
	if _, err := os.Stat(filepath.Join(prefix, "package.json")); err == nil {
		return []string{prefix}
	}
	if _, err := os.Stat(filepath.Join(prefix, "pyvenv.cfg")); err == nil {
		out := []string{prefix}
		if base := baseOf(prefix); base != "" && !OfSystem(base) && base != dir {
			for _, part := range links(filepath.Join(base, "python3")) {
				if !OfSystem(part) {
					out = append(out, ofBase(part, home)...)
				}
			}
		}
		return out
	}
	parts := partsOfPrefix
	if prefix == filepath.Join(home, ".local") {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "share" })
	}
	return existing(prefix, parts...)
}

// ofBase is ofPrefix for the Python of a virtual environment, which is none of its own.
func ofBase(file, home string) []string {
	prefix := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(filepath.Join(prefix, "pyvenv.cfg")); err == nil || !slices.Contains(binFolders, filepath.Base(filepath.Dir(file))) {
		return nil
	}
	return ofPrefix(file, home)
}

// baseOf returns the folder of the Python for which a virtual environment was made, "" if that is not known.
func baseOf(venv string) string {
	f, err := os.Open(filepath.Join(venv, "pyvenv.cfg"))
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, b) // most are shorter
	for line := range strings.Lines(string(b[:n])) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "home" {
			if value = strings.TrimSpace(value); filepath.IsAbs(value) {
				return filepath.Clean(value)
			}
		}
	}
	return ""
}

// Libraries returns the folders of libraries and data that belong to a bin folder.
func Libraries(dir, home string) []string {
	if !slices.Contains(binFolders, filepath.Base(dir)) {
		return nil
	}
	return ofPrefix(filepath.Join(dir, "program"), home)
}

func existing(prefix string, parts ...string) (out []string) {
	for _, part := range parts {
		dir := filepath.Join(prefix, part)
		if _, err := os.Stat(dir); err == nil {
			out = append(out, dir)
		}
	}
	return out
}

// starts returns the absolute path of the program that a file's #! line names, "" without one.
func starts(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 256)
	n, _ := f.Read(b)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}

// Settled returns the path by which a program is started where the links that lead to it may not exist: that of its file. It
// returns the path itself where they do exist: for a program of the system, and for one in a bin folder that Installation
// has. The programs of a Python environment are found by that path.
func Settled(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || OfSystem(path) {
		return path
	}
	dir := filepath.Dir(path)
	if at, err := filepath.EvalSymlinks(dir); err == nil && at == dir && slices.Contains(binFolders, filepath.Base(dir)) {
		return path
	}
	return real
}
