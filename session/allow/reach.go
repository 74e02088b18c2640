package allow

import (
	"path"
	"slices"
	"strings"
)

// Reach says what a rule allows beyond what it seems to. The zero Reach is that of a rule that allows what it says.
type Reach struct {
	Code bool   // any code can be run
	Why  string // such as "git runs programs that its options, its configuration and its aliases name"
}

// Reach returns what the rule really allows. Programs that are not known to run others count as plain.
func (r Rule) Reach() Reach {
	if r.Tool != toolBash {
		return Reach{}
	}
	if r.Bare() {
		return Reach{true, "a shell runs any command"}
	}
	w := r.pattern.words
	name := path.Base(strings.Join(w.list[0], "*"))
	p, ok := programNamed(name)
	if !ok || !w.rest && !w.open() || w.fixed(p) {
		return Reach{}
	}
	return Reach{true, name + " " + p.why}
}

// open reports whether the pattern has a star.
func (w words) open() bool {
	return slices.ContainsFunc(w.list, func(p word) bool { return len(p) > 1 })
}

// fixed reports whether the words after the program's name keep it from running other code than the rule names: a
// subcommand that runs none, or for an interpreter the file that it runs.
func (w words) fixed(p program) bool {
	if len(w.list) < 2 || len(w.list[1]) > 1 {
		return false
	}
	next := w.list[1][0]
	if p.files {
		return next != "" && next[0] != '-' && strings.ContainsAny(next, "./")
	}
	return w.among(p.plain)
}

// among reports whether the pattern names one of some subcommands, of one or two words each, separated by ", ".
func (w words) among(list string) bool {
	if len(w.list) < 2 || len(w.list[1]) > 1 {
		return false
	}
	next := w.list[1][0]
	both := next
	if len(w.list) > 2 && len(w.list[2]) == 1 {
		both += " " + w.list[2][0]
	}
	return slices.ContainsFunc(strings.Split(list, ", "), func(one string) bool { return one != "" && (one == next || one == both) })
}

// changesShell reports whether a command of the shell itself changes what commands after it mean, other than by moving to
// another folder.
func changesShell(c []string) bool {
	switch c[0] {
	case ".", "source", "eval", "exec", "builtin", "trap", "alias", "unalias", "hash", "enable", "set", "unset", "shopt",
		"read", "mapfile", "readarray", "getopts", "umask", "ulimit":
		return true
	case "command":
		return len(c) < 2 || c[1] != "-v" && c[1] != "-V"
	case "printf":
		return len(c) > 1 && strings.HasPrefix(c[1], "-v")
	case "wait", "test", "[":
		return true
	}
	return false
}

// join returns a command for a message.
func join(c []string) string { return strings.Join(c, " ") }
