package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems is the maximum number of problems in a Report, not counting the first fatal one.
const maxProblems = 100

// Report collects the problems of one skill under a profile. The zero value is useful. It is not safe for concurrent use.
type Report struct {
	File    string   // name of the file in problems; default "SKILL.md"
	Profile *Profile // nil means DefaultProfile

	problems  []Problem
	unlisted  int
	unusable  bool   // there is a fatal problem
	name, dir string // names of the skill and its directory in messages
}

// Add adds a problem with the given code and message. The profile's rule for the code sets the severity, whether the
// problem is fatal and, if the problem has none, the cure. If the problem has no File, Add sets that of the report. Add
// drops a problem that the profile does not check and a duplicate. It keeps only the first 100 problems and the first
// fatal one.
func (r *Report) Add(p Problem) { r.add(findRule(p.Code), p) }

// add is Add for a problem whose rule is known.
func (r *Report) add(rule *rule, p Problem) {
	p.Severity = rule.severity(r.Profile.column())
	if p.Severity == SeverityOff {
		return
	}
	p.File = cmp.Or(p.File, r.File, "SKILL.md")
	p.Fatal = rule.fatal || p.Severity == SeverityError && r.Profile.Strict()
	p.Cure = cmp.Or(p.Cure, rule.cure)
	if p.Line > 0 && p.Col == 0 {
		p.Col = 1
	}
	if w := r.Profile.words(&p, r.name, r.dir); w != "" {
		p.Message = w
	}
	p.Message = printable(p.Message)
	same := func(q Problem) bool {
		return q.File == p.File && q.Line == p.Line && q.Col == p.Col && q.Message == p.Message
	}
	if slices.ContainsFunc(r.problems, same) {
		return
	}
	if len(r.problems) >= maxProblems && (r.unusable || !p.Fatal) {
		r.unlisted++
		return
	}
	r.unusable = r.unusable || p.Fatal
	r.problems = append(r.problems, p)
}

// checks returns the rule with that code if the profile checks it, else nil. Add drops problems of other rules.
func (r *Report) checks(code string) *rule {
	if rule := findRule(code); rule.severity(r.Profile.column()) != SeverityOff {
		return rule
	}
	return nil
}

// Problems returns the problems by place: line, column, file. The last one reports how many were dropped, if any.
func (r *Report) Problems() []Problem {
	sortByPlace(r.problems)
	if r.unlisted == 0 {
		return r.problems
	}
	return append(slices.Clip(r.problems), Problem{Code: "problems-many", Severity: SeverityWarning, File: cmp.Or(r.File, "SKILL.md"),
		Message: fmt.Sprintf("%d more problems are not listed", r.unlisted), Cure: findRule("problems-many").cure})
}

func sortByPlace(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.File, b.File))
	})
}

// printable removes NUL from messages that quote the file, and replaces broken characters.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}
