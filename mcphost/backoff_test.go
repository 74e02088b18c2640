package mcphost

import (
	"errors"
	"testing"
	"time"
)

// After a second failure in a row a start waits, at least as long as the failed one took, and a minute at most.
func TestWaitAfterFailures(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct{ took, second, third time.Duration }{
		{0, firstWait, 2 * firstWait}, {30 * time.Second, 30 * time.Second, 30 * time.Second}, {time.Hour, mostWait, mostWait},
	} {
		var b Backoff
		for i, want := range []time.Duration{0, tt.second, tt.third} {
			b.Failed(errors.New("no"), now, tt.took)
			if got, _, _ := b.Wait(now); got != want {
				t.Errorf("failure %d that took %s: wait %s, want %s", i+1, tt.took, got, want)
			}
		}
		if b.Worked(); b.fails > 0 {
			t.Error("failures are not forgotten")
		}
	}
}
