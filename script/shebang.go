package script

import (
	"fmt"
	"path"
	"strings"
)

// shebang is what a #! line asks for.
type shebang struct {
	path string   // as written: "/bin/bash", or "bash" where env looks it up
	args []string // that follow it
}

// name is the interpreter's own name.
func (s shebang) name() string { return path.Base(s.path) }

// parseShebang reads the first line of a file. A file without one gives a zero shebang. The kernel's
// meaning is kept, so what follows the interpreter is one argument; `env` and `env -S` are looked into.
func parseShebang(head []byte) (shebang, error) {
	line, found := strings.CutPrefix(string(head), "#!")
	if !found {
		return shebang{}, nil
	}
	line, rest, ended := strings.Cut(line, "\n")
	if strings.HasSuffix(line, "\r") {
		return shebang{}, fmt.Errorf("the #! line ends in CR LF, as Windows writes it: convert the file to LF")
	}
	if !ended && rest == "" && len(head) >= headBytes {
		return shebang{}, fmt.Errorf("the #! line is longer than %d bytes", headBytes)
	}
	line = strings.TrimSpace(line)
	if strings.ContainsRune(line, 0) {
		return shebang{}, fmt.Errorf("the #! line holds a NUL character")
	}
	first, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	if !strings.HasPrefix(first, "/") {
		return shebang{}, fmt.Errorf("the #! line names no absolute path: %q", line)
	}
	if path.Base(first) == "env" {
		return envShebang(line, argument)
	}
	s := shebang{path: first}
	if argument != "" {
		s.args = []string{argument}
	}
	return s, nil
}

// envShebang follows `env NAME` and `env -S NAME ARGUMENTS`.
func envShebang(line, argument string) (shebang, error) {
	words := []string{argument}
	if split, ok := strings.CutPrefix(argument, "-S"); ok {
		words = strings.Fields(split)
	}
	if len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") || strings.ContainsAny(words[0], " \t") {
		return shebang{}, fmt.Errorf("the #! line cannot be followed: %q", line)
	}
	return shebang{path: words[0], args: words[1:]}, nil
}
