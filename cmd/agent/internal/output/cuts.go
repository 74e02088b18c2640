package output

import (
	"fmt"

	"github.com/agent-base/agent-base/disclose"
)

// WarnCuts prints the warnings of a list of skills, and what a limit has cut of it: nothing is lost silently.
func (p *Printer) WarnCuts(t disclose.Text) {
	for _, w := range t.Warnings {
		p.Warn(w)
	}
	what := map[string]int{}
	for _, c := range t.Cut {
		what[c.What]++
	}
	for _, kind := range []string{disclose.Shortened, disclose.NameOnly, disclose.LeftOut} {
		if n := what[kind]; n > 0 {
			p.Warn(fmt.Sprintf("%s: %s, to keep the budget", Count(n, "skill"), kind))
		}
	}
}
