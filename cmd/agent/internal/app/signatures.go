package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install/oms"
)

// signatures returns what checks the signatures of skills, against the roots of the settings. These are read once, when the
// first skill is checked.
func (p *Packages) signatures() func(context.Context, fs.FS, time.Time) (*oms.Report, error) {
	files := p.settings.Config().SignatureRoots
	roots := sync.OnceValues(func() (all []*x509.Certificate, err error) {
		for _, file := range files {
			some, err := oms.ReadRoots(file)
			if err != nil {
				return nil, &failure.Error{Exit: failure.ExitUsage, Code: "usage", Hint: "set signatureRoots to PEM files with certificates", Err: fmt.Errorf("setting signatureRoots: %w", err)}
			}
			all = append(all, some...)
		}
		return all, nil
	})
	return func(ctx context.Context, skill fs.FS, at time.Time) (*oms.Report, error) {
		list, err := roots()
		if err != nil {
			return nil, err
		}
		if at.IsZero() {
			at = p.sys.Now()
		}
		return oms.Verify(ctx, skill, &oms.Options{Roots: list, Time: at})
	}
}

// SignatureText says in one line what the signature of a skill is worth.
func SignatureText(r *oms.Report) string {
	if r == nil || r.State == oms.Unsigned {
		return "not signed"
	}
	by := "signed by " + r.Signer.Name
	switch {
	case r.Broken():
		return ui.Line("its signature does not hold: " + r.Reason)
	case r.State != oms.Valid:
		return ui.Line(by + ", whom no configured root vouches for")
	}
	by += " (root " + r.Signer.Root + ")"
	if len(r.Ignored) > 0 {
		by += ", without " + strings.Join(r.Ignored[:min(len(r.Ignored), mostIgnored)], ", ")
	}
	return ui.Line(by)
}

// mostIgnored is how many of the files that a signature leaves out are named.
const mostIgnored = 5

// Forged reports whether the skill has a signature that does not hold. It then takes more than a flag for all to install it.
func (p *Proposal) Forged() bool { return p.signature != nil && p.signature.Broken() }

// RefuseForged returns the error for a skill whose signature does not hold and that nobody was asked about.
func (p *Proposal) RefuseForged() error {
	return &failure.Error{Exit: failure.ExitIntegrity, Code: "signature", Hint: "tell its author; --trust " + p.Digest() + " installs this content nevertheless",
		Err: fmt.Errorf("skill %q was not installed: %w", p.approval.Name, errors.New(SignatureText(p.signature)))}
}

// signatureGrowth says what an update loses of the signature of the installed content, nil if it loses nothing.
func signatureGrowth(before, now *oms.Report) []string {
	switch {
	case now != nil && now.Broken():
		return []string{SignatureText(now)}
	case before == nil || before.State != oms.Valid:
		return nil
	case now == nil || now.State != oms.Valid:
		return []string{"the installed version is " + SignatureText(before) + ", this one is " + SignatureText(now)}
	case now.Signer.Subject != before.Signer.Subject || now.Signer.Issuer != before.Signer.Issuer || now.Signer.Root != before.Signer.Root:
		return []string{"another signer: " + SignatureText(now) + "; before " + SignatureText(before)}
	}
	return nil
}
