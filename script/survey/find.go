package survey

import (
	"io/fs"
	"path"
	"strings"
)

const maxName = 128 // bytes of a script's name

// ValidName reports whether a script can be called by a name: letters, digits, '-', '_' and inner '.' of ASCII. A path,
// a dot file and "__pycache__" are not names.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return Fold(name) != "__pycache__"
}

// Find returns the script of that name, in any case, with or without its extension. If there is none, or several that differ
// only in their extensions, it returns false and the names of the candidates.
func Find(scripts []Script, name string) (found Script, same []string, ok bool) {
	want := Fold(name)
	for _, sc := range scripts {
		if Fold(sc.Name) == want {
			return sc, nil, true
		}
		if Fold(stem(path.Base(sc.File))) == want {
			same = append(same, sc.Name)
		}
	}
	for _, sc := range scripts {
		if Fold(path.Base(sc.File)) == want {
			return sc, nil, true
		}
	}
	return Script{}, same, false
}

// Unknown returns the executable file of scripts/ with that name that this engine cannot run, "" without one.
func Unknown(fsys fs.FS, name string) string {
	entries, _ := fs.ReadDir(fsys, Dir) // an unreadable folder has no scripts
	for _, d := range entries {
		if Fold(d.Name()) != Fold(name) && Fold(stem(d.Name())) != Fold(name) {
			continue
		}
		info, err := d.Info()
		if err == nil && ValidName(d.Name()) && info.Mode().IsRegular() && Executable(info.Mode()) && !isScript(fsys, Dir, d) {
			return d.Name()
		}
	}
	return ""
}
