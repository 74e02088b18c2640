package consent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// scanned is what a scan found in the content that a proposal is about.
type scanned struct {
	findings []scan.Finding
	unread   int // files
}

// look scans a skill, and returns the facts and what of the findings a person should see.
func (c *Consent) look(ctx context.Context, s *skill.Skill) (r *scan.Report, found scanned, err error) {
	judge, err := c.Scanner.Judge()
	if err == nil && c.project {
		err = judge.HeedProject()
	}
	if err != nil {
		return nil, found, err
	}
	err = c.Out.While("scanning "+s.Name(), func() error {
		r, err = judge.Within(ctx, s)
		return err
	})
	if err != nil {
		return nil, found, err
	}
	for _, line := range judge.Accept(r) {
		c.Out.Warn(line)
	}
	for _, f := range r.Findings {
		switch {
		case f.Rule == rule.Unread && f.Accepted == "":
			found.unread++
		case f.Accepted == "" && f.Severity.AtLeast(scan.Medium):
			found.findings = append(found.findings, f)
		}
	}
	return r, found, nil
}

// mostFindings is how many findings a question names.
const mostFindings = 4

// scanLines say what a scan found, the worst first.
func (p *Proposal) scanLines() []string {
	var out []string
	for i := range p.scanned.findings {
		f := &p.scanned.findings[i]
		if i == mostFindings {
			out = append(out, fmt.Sprintf("  and %d more findings", len(p.scanned.findings)-i))
			break
		}
		where := f.Place.File
		if f.Place.Line > 0 {
			where += fmt.Sprintf(":%d", f.Place.Line)
		}
		out = append(out, fmt.Sprintf("  %s[%s] %s, in %s", f.Severity, f.Rule, f.Message, where))
	}
	if p.scanned.unread > 0 {
		out = append(out, "  the scan could not read all of "+output.Count(p.scanned.unread, "file"))
	}
	return out
}

// Findings returns what a scan found in the content, the worst first: of medium severity or worse, and not accepted.
func (p *Proposal) Findings() []scan.Finding { return p.scanned.findings }

// ForProject returns the same consent, which also heeds what the project accepts.
func (c *Consent) ForProject() *Consent {
	other := *c
	other.project = true
	return &other
}

// Clear returns nil if what a scan found does not keep skills from being installed or trusted. It refuses what is critical. It asks again about what is high, and refuses that where nobody is to be asked. source is how the skills are named for a
// scan.
func (c *Consent) Clear(ctx context.Context, source string, ask bool, list ...*Proposal) error {
	var high []string
	for _, p := range list {
		worst := scanner.Worst(p.scanned.findings)
		if worst == scan.Critical {
			return p.refuseFound(c.Sys.Now(), source, "it has a finding of severity critical")
		}
		if worst == scan.High {
			if !ask || !c.Approver.There() {
				return p.refuseFound(c.Sys.Now(), source, "it has a finding of severity high, and there is nobody to ask about it")
			}
			high = append(high, fmt.Sprintf("  %s [%s]", p.approval.Name, output.Short(p.approval.Digest)))
			high = append(high, p.scanLines()...)
		}
	}
	if len(high) == 0 {
		return nil
	}
	answer, err := c.Approver.Answer(ctx, &ui.Question{Text: "This is what attacks look like. Go on all the same?", Details: high})
	if err == nil && answer != "y" {
		err = failure.Denied(errors.New("not approved because of what the scan found; nothing was changed"), "")
	}
	return err
}

// refuseFound returns the error for findings that keep a skill away, with the command that accepts them.
func (p *Proposal) refuseFound(now time.Time, source, why string) error {
	worst := p.scanned.findings[0]
	hint := fmt.Sprintf("look at it; to take the risk: agent skill scan %s --accept %s --reason TEXT --until %s", source, worst.Rule, now.AddDate(0, 3, 0).Format(time.DateOnly))
	return failure.Denied(fmt.Errorf("skill %q is refused: %s: [%s] %s, in %s", p.approval.Name, why, worst.Rule, worst.Message, worst.Place.File), hint)
}
