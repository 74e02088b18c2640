package main

import (
	"fmt"
	"strings"
)

const attacksIntro = `<!-- Made by go generate from docs/attacks.txt: do not edit. -->
# Attacks

What a hostile skill, model, package or file may try, what happens, and the tests that show it. A case marked *tiers A and B* has a
test that runs in both sandboxes of [security](security.md). Tests refer to these numbers:
` + "`grep -rn 'security 2.5 #65' --include=*_test.go .`" + ` finds one. The build fails if a case has no test; the few that cannot have one here say why.

`

func attacksPage(sections []section, ps proofs) string {
	var b strings.Builder
	b.WriteString(attacksIntro)
	all, untested := 0, 0
	for _, s := range sections {
		for _, r := range s.rows {
			if all++; r.status == "untested" {
				untested++
			}
		}
	}
	fmt.Fprintf(&b, "%d cases, %d of them without a test.\n", all, untested)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		for i := range s.rows {
			b.WriteString(attack(&s.rows[i], ps))
		}
	}
	return b.String()
}

// labels says what the status of a case means.
var labels = map[string]string{"": "", "tiers": " (tiers A and B)", "untested": " (no test)"}

func attack(r *row, ps proofs) string {
	line := fmt.Sprintf("\n**%s**%s %s", r.id, labels[r.status], r.text)
	if r.note != "" {
		line += fmt.Sprintf(" *Note: %s*", r.note)
	}
	return line + "\n" + testsOf(r, ps)
}
