package script

import (
	"testing"

	"go.uber.org/goleak"
)

// Each function waits for the goroutines that it starts.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
