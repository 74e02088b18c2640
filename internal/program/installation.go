package program

import (
	"io"
	"io/fs"
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
var partsOfPrefix = []string{"bin", "include", "lib", "lib64", "libexec", "share", "ssl"}

// partsOfLanguage are what those of isLanguage read in addition.
var partsOfLanguage = []string{"conf", "jmods", "pkg", "release", "src", "go.env", "VERSION"}

// binFolders are the names of folders of programs, in the prefix of an installation.
var binFolders = []string{"bin", "sbin", "Scripts"}

const (
	mostLinks = 16 // that lead from a program's path to its file
	mostLoads = 4  // programs that start each other by a #! line
)

// Installation returns what a program needs of its own installation, outside the system's folders: the folder that it lies in, its
// libraries and data, and the same of the links that lead to it, as far as these lie in an installation, and of the program that its
// #! line names. home is the user's home, or "": its own data folder, ~/.local/share, is never part of an installation.
func Installation(path, home string) []string {
	var out []string
	for range mostLoads {
		hops := links(path)
		for i, at := range hops {
			if OfSystem(at) {
				continue
			}
			for _, part := range ofPrefix(at, home) {
				if part != at || i == len(hops)-1 { // a link by itself, as in /etc/alternatives, is seen as a link
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

// links returns a path, the paths of the links that it leads through, and that of the file itself. The folders in them have no links.
func links(path string) []string {
	inReal := func(path string) string { return filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path)) }
	path = inReal(path)
	out := []string{path}
	for range mostLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = inReal(to)
		out = append(out, path)
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
		return []string{around(file, home)}
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
	if isLanguage(prefix) {
		parts = append(parts[:len(parts):len(parts)], partsOfLanguage...)
	}
	if prefix == filepath.Join(home, ".local") {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "share" })
	}
	return existing(prefix, parts...)
}

// mostAbove is how many folders above that of a program are looked at for the root of its package.
const mostAbove = 3

// around returns what a program needs that lies in no folder of programs: its package, or its folder. It is the file alone if the folder has
// other things, as the home and the folders in it.
func around(file, home string) string {
	dir := filepath.Dir(file)
	for at, above := dir, 0; above < mostAbove && filepath.Dir(at) != at && at != home; at, above = filepath.Dir(at), above+1 {
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			return at
		}
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || len(dir) <= len(home) || filepath.Dir(dir) == home || filepath.Dir(filepath.Dir(dir)) == filepath.Dir(dir) {
		return file
	}
	return dir
}

// isLanguage reports whether Go or Java was installed into a folder, which read more of it than other programs.
func isLanguage(prefix string) bool {
	for _, sign := range []string{"pkg/tool", "release"} {
		if _, err := os.Stat(filepath.Join(prefix, sign)); err == nil {
			return true
		}
	}
	return false
}

// mostLinked is how many links in a folder of programs are followed.
const mostLinked = 500

// Linked returns what the programs need, outside of the system's folders and some that the command has, that links in a folder of programs
// lead to. dir has no links in its path.
func Linked(dir, home string, have []string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(-1) // what could be read
	have = append([]string{dir}, have...)
	followed := 0
	var out []string
	for _, d := range list {
		if d.Type()&fs.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(dir, d.Name())
		text, err := os.Readlink(path)
		if err != nil || within(dir, text, have) {
			continue
		}
		if followed++; followed > mostLinked {
			break
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			more := Installation(path, home)
			out, have = append(out, more...), append(have, more...)
		}
	}
	return out
}

// within reports whether a link in a folder leads to what every command has, or to what some folders hold.
func within(dir, text string, have []string) bool {
	if !filepath.IsAbs(text) {
		text = filepath.Join(dir, text)
	}
	return paths.Within(have, text) || OfSystem(text)
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

// Libraries returns the folders of libraries and data that belong to a bin folder, which has no links in its path.
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
