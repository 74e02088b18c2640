package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/want"
)

// mostLacking is how many variables the message of a failure names.
const mostLacking = 5

// lacking returns the variables that a failed script reads and did not get: withheld those that the operator has, unset the
// others. Only what the output mentions counts: a script that reads a key fails mostly for another reason.
func (r *Run) lacking() (withheld, unset []string) {
	said := slices.Concat(r.Out.Stdout, []byte("\n"), r.Out.Stderr)
	var mentioned []string
	seen := r.Seen()
	for _, name := range seen.Wants().Add(r.Skill.Manifest().Permissions.Asked...).Named(want.Variable) {
		if !isSet(r.Cmd.Env, name) && mentions(said, name) {
			mentioned = append(mentioned, name)
		}
	}
	slices.Sort(mentioned)
	for _, name := range mentioned[:min(len(mentioned), mostLacking)] {
		if isSet(r.Env, name) {
			withheld = append(withheld, name)
		} else {
			unset = append(unset, name)
		}
	}
	return withheld, unset
}

// isSet reports whether an environment has a variable.
func isSet(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// mentions reports whether a text has a name as a word of its own.
func mentions(text []byte, name string) bool {
	for from := 0; ; {
		at := bytes.Index(text[from:], []byte(name))
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		if (at == 0 || !nameByte(text[at-1])) && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		from = end
	}
}

func nameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// lackingText says, as a clause, which variables a failed script lacked: "" if none.
func lackingText(withheld, unset []string) string {
	var parts []string
	if len(withheld) > 0 {
		parts = append(parts, fmt.Sprintf("it reads %s, which %s set but not granted to it", strings.Join(withheld, ", "), isAre(withheld)))
	}
	if len(unset) > 0 {
		parts = append(parts, fmt.Sprintf("it reads %s, which %s not set", strings.Join(unset, ", "), isAre(unset)))
	}
	return strings.Join(parts, "; ")
}

func isAre(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}
