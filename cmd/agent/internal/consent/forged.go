package consent

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install/oms"
)

// Forged reports whether the skill has a signature that does not hold. It then takes more than a flag for all to install it.
func (p *Proposal) Forged() bool { return p.signature != nil && p.signature.Broken() }

// RefuseForged returns the error for a skill whose signature does not hold and that nobody was asked about.
func (p *Proposal) RefuseForged() error {
	return &failure.Error{Exit: failure.ExitIntegrity, Code: "signature", Hint: "tell its author; --trust " + p.Digest() + " installs this content nevertheless",
		Err: fmt.Errorf("skill %q was not installed: %w", p.approval.Name, errors.New(packages.SignatureText(p.signature)))}
}

// signatureGrowth says what an update loses of the signature of the installed content, nil if it loses nothing.
func signatureGrowth(before, now *oms.Report) []string {
	switch {
	case now != nil && now.Broken():
		return []string{packages.SignatureText(now)}
	case before == nil || before.State != oms.Valid:
		return nil
	case now == nil || now.State != oms.Valid:
		return []string{"the installed version is " + packages.SignatureText(before) + ", this one is " + packages.SignatureText(now)}
	case now.Signer.Subject != before.Signer.Subject || now.Signer.Issuer != before.Signer.Issuer || now.Signer.Root != before.Signer.Root:
		return []string{"another signer: " + packages.SignatureText(now) + "; before " + packages.SignatureText(before)}
	}
	return nil
}
