package consent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/source"
)

// Brought returns a proposal that describes a package by the place that it is from.
func (c *Consent) Brought(ctx context.Context, k *install.Package, checked *packages.Checked) (*Proposal, error) {
	p, err := c.Propose(ctx, k.Skill)
	if err != nil {
		return nil, err
	}
	p.from = "from " + packages.From(k.Entry())
	p.signature = k.Signature
	p.notes = append(p.notes, "  "+packages.SignatureText(k.Signature))
	if k.Renamed() && k.Signature != nil && k.Signature.State != oms.Unsigned {
		p.notes = append(p.notes, "  what is signed is called "+k.Candidate.Manifest.Name+": the name in its SKILL.md will be another one")
	}
	for _, part := range k.Parts {
		if part.Missing { // left out
			continue
		}
		p.notes = append(p.notes, "  submodule "+part.String())
	}
	p.notes = append(p.notes, leftOutLines(k)...)
	p.notes = append(p.notes, checked.Lines()...)
	return p, nil
}

// leftOutLines names what the copy of a skill has not, and says what to do about links.
func leftOutLines(k *install.Package) []string {
	var out []string
	for _, line := range packages.Some(k.LeftOut) {
		out = append(out, "  left out: "+line)
	}
	if !slices.ContainsFunc(k.LeftOut, func(line string) bool { return strings.Contains(line, " is a symbolic link") }) {
		return out
	}
	next := "  links are copied only if they lead to a file of the same source: put the file itself in the place of another link"
	if k.Entry().Kind == source.Folder.String() {
		next += ", or add a folder above that has both, with --skill " + k.Entry().Name
	}
	return append(out, next)
}

// Moved gives a proposal the Layer that the skill.ID of the skill will have after the question.
func (p *Proposal) Moved(layer string) { p.approval.Layer, p.approval.Dir = layer, "" }

// Permissions are the lines of what the skill asks for, as the registry records them.
func (p *Proposal) Permissions() []string { return LinesOf(p.approval.Wants) }

// AskAll asks one question about several proposals and reports whether the answer was yes. Each has a line; a key shows all.
func (c *Consent) AskAll(ctx context.Context, list []*Proposal, text string) (bool, error) {
	q := &ui.Question{Text: text}
	for _, p := range list {
		q.Details = append(q.Details, p.oneLine())
		q.Whole = append(q.Whole, p.Lines()...)
	}
	answer, err := c.Approver.Answer(ctx, q)
	return answer == "y", err
}

// oneLine describes a proposal among others. Where there is no room for what it asks for, it names the kinds.
func (p *Proposal) oneLine() string {
	var parts, asks, kinds []string
	if p.Forged() {
		parts = append(parts, "its SIGNATURE DOES NOT HOLD")
	}
	for _, g := range groupsOf(p.approval.Wants) {
		asks, kinds = append(asks, g.String()), append(kinds, g.title)
	}
	content := strings.TrimSpace(strings.TrimSuffix(p.contentLine(), ":"))
	name := fmt.Sprintf("  %s [%s] ", p.approval.Name, output.Short(p.Digest()))
	line := ui.Line(name + strings.Join(slices.Concat(parts, []string{content}, asks), "; "))
	if ui.Width(line) <= shortColumns {
		return line
	}
	parts = append(parts, strings.TrimSuffix(content, neverApproved))
	if len(kinds) > 0 {
		parts = append(parts, "asks for "+strings.Join(kinds, ", "))
	}
	return cutMiddle(name+strings.Join(parts, "; "), shortColumns)
}
