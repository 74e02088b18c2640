package packages

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/toolset"
)

// Checked are the problems of a package, and what it needs that is not here.
type Checked struct {
	Problems []manifest.Problem
	Fresh    []manifest.Problem // those that the installed content has not; see CheckRenewed
	Missing  string             // why it could not be used here; "" if it could
	Lost     []string           // files of its place that its scripts use and that are outside of its folder, with the first script
}

// Check checks a package as "agent skill validate" does.
func (p *Packages) Check(k *install.Package) Checked {
	c := Checked{Problems: p.problems(k.Skill), Lost: script.UsesAbove(k.Skill, k.HasBeside)}
	if e := k.Skill.Entry(); e.State() == skill.StateUnavailable {
		c.Missing = e.Reason()
	}
	return c
}

// CheckRenewed is Check for a package that replaces an installed content. Where that is not known, no problem is Fresh.
func (p *Packages) CheckRenewed(k *install.Package, former *install.Former) Checked {
	c := p.Check(k)
	if former.Skill == nil {
		return c
	}
	before := map[manifest.Problem]int{}
	for _, found := range p.problems(former.Skill) {
		before[kindOf(found)]++
	}
	for _, found := range c.Problems {
		kind := kindOf(found)
		if before[kind]--; before[kind] < 0 {
			c.Fresh = append(c.Fresh, found)
		}
	}
	return c
}

// kindOf returns a problem without its place in the file and without numbers: a text that was too long is no new problem when it
// is longer.
func kindOf(p manifest.Problem) manifest.Problem {
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}
	return manifest.Problem{Code: p.Code, File: p.File, Field: p.Field, Message: strings.Map(digits, p.Message)}
}

// problems checks a skill as "agent skill validate" does.
func (p *Packages) problems(s *skill.Skill) []manifest.Problem {
	profile, _ := manifest.ProfileNamed(p.Settings.Config().Profile) // the catalogue has it already
	m, problems := check.Folder(s.FS(), s.Name(), &check.Options{Profile: profile, ScriptRule: p.Settings.Survey().Rule})
	for _, found := range toolset.Check(s.FS(), m) {
		if found.Code == "toolset-entry" {
			problems = append(problems, found)
		}
	}
	return problems
}

// NewlyFound are the Fresh problems, a line each.
func (c *Checked) NewlyFound() []string {
	out := []string{}
	for i := range c.Fresh {
		p := &c.Fresh[i]
		text := p.Message
		switch {
		case p.Line > 0:
			text += fmt.Sprintf(", in %s:%d", p.File, p.Line)
		case p.File != "":
			text += ", in " + p.File
		}
		out = append(out, text)
	}
	return out
}

// mostOutside is how many files outside a skill are named.
const mostOutside = 3

// Outside returns what the check says of the first files that the instructions name and that are not in the skill's folder, and
// counts the others.
func (c *Checked) Outside() []string {
	var out []string
	for i := range c.Problems {
		if c.Problems[i].Code == "reference-outside" {
			out = append(out, c.Problems[i].Message)
		}
	}
	if more := len(out) - mostOutside; more > 0 {
		out = append(out[:mostOutside:mostOutside], output.Count(more, "more file"))
	}
	return out
}

// CheckFound begins the line about what the check found.
const CheckFound = "  the check found "

// LostFiles begins the line about files that are not installed.
const LostFiles = "  its scripts use files that are not part of it and will be missing: "

// LostText names the first files that are not installed, and counts the others; "" if there are none.
func (c *Checked) LostText() string {
	if more := len(c.Lost) - mostOutside; more > 0 {
		return strings.Join(c.Lost[:mostOutside], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(c.Lost, ", ")
}

// Lines describe what was found, for a question.
func (c *Checked) Lines() []string {
	counts := map[manifest.Severity]int{}
	messages := map[manifest.Severity]string{} // the first ones
	for i := range c.Problems {
		severity := c.Problems[i].Severity
		counts[severity]++
		if messages[severity] == "" {
			messages[severity] = ": " + c.Problems[i].Message
		}
	}
	var found []string
	if n := counts[manifest.SeverityError]; n > 0 {
		found = append(found, output.Count(n, "error"))
	}
	if n := counts[manifest.SeverityWarning]; n > 0 {
		found = append(found, output.Count(n, "warning"))
	}
	lines := []string{CheckFound + "the form right"}
	switch {
	case len(c.Fresh) > 0: // these are named
		lines = []string{CheckFound + strings.Join(found, " and ")}
	case len(found) > 0:
		lines = []string{CheckFound + strings.Join(found, " and ") + cmp.Or(messages[manifest.SeverityError], messages[manifest.SeverityWarning])}
	}
	if len(c.Lost) > 0 {
		lines = append(lines, LostFiles+c.LostText())
	}
	if c.Missing != "" {
		lines = append(lines, "  cannot be used here yet: "+c.Missing)
	}
	return lines
}
