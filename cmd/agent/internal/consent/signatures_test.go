package consent

import (
	"testing"

	"github.com/agent-base/agent-base/install/oms"
)

// attacks-two L2: the same name under another root, or by another issuer, is another signer.
func TestSignatureGrowth(t *testing.T) {
	signed := func(subject, issuer, root string) *oms.Report {
		return &oms.Report{State: oms.Valid, Signer: oms.Signer{Name: subject, Subject: subject, Issuer: issuer, Root: root}}
	}
	before := signed("CN=Ada", "CN=CA", "First")
	for _, tt := range []struct {
		name string
		now  *oms.Report
		asks bool
	}{
		{"the same", signed("CN=Ada", "CN=CA", "First"), false},
		{"another subject", signed("CN=Eve", "CN=CA", "First"), true},
		{"another issuer", signed("CN=Ada", "CN=Other", "First"), true},
		{"another root", signed("CN=Ada", "CN=CA", "Second"), true},
		{"none", nil, true},
	} {
		if got := signatureGrowth(before, tt.now); len(got) > 0 != tt.asks {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}
