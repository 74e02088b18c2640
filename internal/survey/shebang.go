package survey

import (
	"fmt"
	"path"
	"strings"
)

// Shebang is what a #! line asks for.
type Shebang struct {
	Path string   // as written: "/bin/bash", or "bash" where env looks it up; "" for a file without the line
	Args []string // that follow it
}

// Name returns the interpreter's own name.
func (s Shebang) Name() string { return path.Base(s.Path) }

// ParseShebang reads the first line of a file that begins with head. Without a #! line it returns a zero Shebang. The text
// after the interpreter is one argument, as for the kernel; `env` and `env -S` are followed. It returns an error if the line
// cannot be followed.
func ParseShebang(head []byte) (Shebang, error) {
	line, found := strings.CutPrefix(string(head), "#!")
	if !found {
		return Shebang{}, nil
	}
	line, rest, ended := strings.Cut(line, "\n")
	if strings.HasSuffix(line, "\r") {
		return Shebang{}, fmt.Errorf("the #! line ends in CR LF, as Windows writes it: convert the file to LF")
	}
	if !ended && rest == "" && len(head) >= headBytes {
		return Shebang{}, fmt.Errorf("the #! line is longer than %d bytes", headBytes)
	}
	line = strings.TrimSpace(line)
	if strings.ContainsRune(line, 0) {
		return Shebang{}, fmt.Errorf("the #! line has a NUL character")
	}
	first, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	if !strings.HasPrefix(first, "/") {
		return Shebang{}, fmt.Errorf("the #! line does not name an absolute path: %q", line)
	}
	if path.Base(first) == "env" {
		return envShebang(line, argument)
	}
	s := Shebang{Path: first}
	if argument != "" {
		s.Args = []string{argument}
	}
	return s, nil
}

// envShebang follows `env NAME` and `env -S NAME ARGUMENTS`.
func envShebang(line, argument string) (Shebang, error) {
	words := []string{argument}
	if split, ok := strings.CutPrefix(argument, "-S"); ok {
		words = strings.Fields(split)
	}
	if len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") || strings.ContainsAny(words[0], " \t") {
		return Shebang{}, fmt.Errorf("the #! line cannot be followed: %q", line)
	}
	return Shebang{Path: words[0], Args: words[1:]}, nil
}
