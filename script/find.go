package script

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-base/agent-base/skill"
)

const maxName = 128 // bytes of a script's name

// Find returns the script of that name, in any case, with or without its extension (R45, C37). The
// error is an *Error with code InvalidName or NotFound; the latter has the reason ReasonAmbiguous where several
// scripts differ in their extensions alone. For a closed skill it wraps skill.ErrClosed.
func Find(s *skill.Skill, name string) (Script, error) {
	if !validName(name) {
		return Script{}, &Error{Code: InvalidName, Message: fmt.Sprintf("Invalid script name: '%s'", name)}
	}
	if err := checkOpen(s); err != nil {
		return Script{}, err
	}
	scripts, _ := List(s)
	sc, err := find(scripts, s.Canonical(), name)
	var missing *Error
	if errors.As(err, &missing) && missing.Reason == "" {
		if file := kindless(s.FS(), name); file != "" {
			missing.Message += fmt.Sprintf(": nothing tells what runs %s/%s, so give it %s", Dir, file, kinds())
		}
	}
	return sc, err
}

// checkOpen tells a skill that was closed from one that has lost its files.
func checkOpen(s *skill.Skill) error {
	if _, err := fs.Stat(s.FS(), "."); errors.Is(err, skill.ErrClosed) {
		return &Error{Code: ExecutionFailed, Err: skill.ErrClosed, Message: fmt.Sprintf("Skill '%s' is closed: load it again", s.Canonical())}
	}
	return nil
}

// kindless returns the executable of that name which nothing is known to run, "" when there is none.
func kindless(fsys fs.FS, name string) string {
	entries, _ := fs.ReadDir(fsys, Dir) // what cannot be read has no scripts either
	for _, d := range entries {
		if fold(d.Name()) != fold(name) && fold(stem(d.Name())) != fold(name) {
			continue
		}
		info, err := d.Info()
		if err == nil && validName(d.Name()) && info.Mode().IsRegular() && executable(info.Mode()) && !runnable(fsys, d) {
			return d.Name()
		}
	}
	return ""
}

// kinds says how a file tells what runs it.
func kinds() string { return "an extension of " + strings.Join(extensions(), " ") + ", or a #! line" }

func find(scripts []Script, skillName, name string) (Script, error) {
	var same []string // files of that name with another extension each
	want := fold(name)
	for _, sc := range scripts {
		if fold(sc.Name) == want {
			return sc, nil
		}
		if fold(stem(path.Base(sc.File))) == want {
			same = append(same, sc.Name)
		}
	}
	for _, sc := range scripts {
		if fold(path.Base(sc.File)) == want {
			return sc, nil
		}
	}
	msg := fmt.Sprintf("Script '%s' not found in skill '%s'", name, skillName)
	if len(same) > 0 {
		return Script{}, &Error{Code: NotFound, Reason: ReasonAmbiguous, Message: msg + ": say which, " + strings.Join(same, " or ")}
	}
	return Script{}, &Error{Code: NotFound, Message: msg}
}

// validName accepts letters, digits, '-', '_' and inner '.' of ASCII: no path, no blank, no dot file,
// no "__pycache__" (R44, R46).
func validName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return fold(name) != "__pycache__"
}
