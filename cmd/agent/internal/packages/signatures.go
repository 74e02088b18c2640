package packages

import (
	"context"
	"crypto/x509"
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
	files := p.Settings.Config().SignatureRoots
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
			at = p.Sys.Now()
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
