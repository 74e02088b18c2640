package main

import (
	"fmt"
	"strings"
)

const requirementsIntro = `<!-- Made by go generate from docs/requirements.txt: do not edit. -->
# Requirements

What this project was asked to do, in five documents that it merges, and how far each point is. Tests refer to these
numbers: ` + "`grep -rn R103 --include=*_test.go --include=*.txtar .`" + ` finds the proof of one.

* **built**: it works, and the tests named with it fail without it. The proof is a line of one of them.
* **partly**: so far as the note says.
* **planned**: not there yet.

The profiles (` + "`agent-base`, `wink`, `harness`, `harness-mvp`, `omniforge`" + `) reproduce one document each; ` + "`default`" + ` and
` + "`spec`" + ` are our own. Decisions settle points on which the documents disagreed.

`

// shown is the maximum number of tests that are named for one row.
const shown = 4

func requirementsPage(sections []section, ps proofs) string {
	var b strings.Builder
	b.WriteString(requirementsIntro)
	b.WriteString(counts(sections))
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		for i := range s.rows {
			b.WriteString(entry(&s.rows[i], ps))
		}
	}
	return b.String()
}

// counts returns a sentence with the numbers of rows.
func counts(sections []section) string {
	n := map[string]int{}
	for _, s := range sections {
		for _, r := range s.rows {
			n[r.status]++
		}
	}
	return fmt.Sprintf("%d rows are built, %d partly, %d planned; %d decisions.\n", n["built"], n["partly"], n["planned"], n[""])
}

func entry(r *row, ps proofs) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s**", r.id)
	if r.status != "" {
		fmt.Fprintf(&b, " (%s)", r.status)
	}
	fmt.Fprintf(&b, " %s", r.text)
	if r.note != "" {
		fmt.Fprintf(&b, " *Note: %s*", r.note)
	}
	b.WriteString("\n")
	if r.proof.text != "" {
		fmt.Fprintf(&b, "Proof: `%s`: %s\n", r.proof.where, code(r.proof.text))
	}
	b.WriteString(testsOf(r, ps))
	return b.String()
}

// code returns a text as code in Markdown.
func code(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + text + " ``"
}

// testsOf returns the line that names the tests of a row, "" if there are none.
func testsOf(r *row, ps proofs) string {
	tests := ps[r.id]
	if len(tests) == 0 {
		return ""
	}
	line := "Tests: `" + strings.Join(tests[:min(len(tests), shown)], "`, `") + "`"
	if more := len(tests) - shown; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line + "\n"
}
