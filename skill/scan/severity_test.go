package scan_test

import (
	"testing"

	"github.com/agent-base/agent-base/skill/scan"
)

func TestSeverity(t *testing.T) {
	if !scan.High.AtLeast(scan.Medium) || scan.Low.AtLeast(scan.Medium) || scan.Severity("").AtLeast(scan.Low) {
		t.Error("AtLeast does not order the severities")
	}
	if got := scan.Critical.Worse(scan.Medium); got != 2 {
		t.Errorf("critical is %d steps worse than medium, want 2", got)
	}
	if scan.Critical.Milder() != scan.High || scan.Low.Milder() != scan.Low {
		t.Error("Milder does not go down one step")
	}
}
