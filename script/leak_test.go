package script

import (
	"testing"

	"go.uber.org/goleak"
)

// Whoever starts a goroutine here waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
