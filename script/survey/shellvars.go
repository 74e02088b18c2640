package survey

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/variable"
)

// shellGiven are variables that every script has, beside those that a shell sets itself.
var shellGiven = strings.Fields("COLUMNS HOME HOSTNAME LANG LC_ALL LINES LOGNAME PATH SHELL TERM TMPDIR USER")

// The commands whose words are names of variables that they set, and those whose words may be assignments.
const (
	shellFills   = "read mapfile readarray getopts printf unset for select declare local typeset readonly"
	shellAssigns = "declare local typeset readonly export"
)

var (
	assignedName  = lazyregexp.New(`^([A-Z_][A-Z0-9_]*)(?:\[[^\]]*\])?\+?=`)
	upperVariable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)
)

// shellVariables finds the variables that a shell script reads before it sets them. Only upper case names count: the others
// are the script's own by habit.
type shellVariables struct {
	set, found map[string]bool
}

// script reads the tokens of a script, one command after the other.
func (v *shellVariables) script(tokens []token) {
	for from := 0; from < len(tokens); {
		to := from
		for to < len(tokens) && tokens[to].kind != markToken {
			to++
		}
		v.command(tokens[from:to])
		from = to + 1
	}
}

// command notes what one command fills, then what it reads, then what it assigns: A=${A:-x} reads A.
func (v *shellVariables) command(words []token) {
	start, assigns := 0, true
	for start < len(words) && (listed("then do else if while until ! { time", words[start].s) || assignedName().MatchString(words[start].s)) {
		start++
	}
	if start < len(words) {
		assigns = listed(shellAssigns, words[start].s)
		if listed(shellFills, words[start].s) {
			for _, w := range words[start+1:] {
				if len(w.expanded) == 0 && upperVariable().MatchString(w.s) {
					v.set[w.s] = true
				}
			}
		}
	}
	for _, w := range words {
		v.reads(w.expanded)
	}
	for _, w := range words {
		if m := assignedName().FindStringSubmatch(w.s); assigns && m != nil {
			v.set[m[1]] = true
		}
	}
}

// reads notes the variables in expansions.
func (v *shellVariables) reads(expanded []expansion) {
	for _, x := range expanded {
		if x.name == "" {
			v.script(x.tokens)
			continue
		}
		if upperVariable().MatchString(x.name) && !v.set[x.name] && !slices.Contains(shellGiven, x.name) && !variable.SetByShell(x.name) && len(strings.Trim(x.name, "_")) > 1 {
			v.found[x.name] = true
		}
		for _, t := range x.tokens {
			v.reads(t.expanded)
		}
	}
}
