package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	var sum atomic.Int64
	if err := parallel(t.Context(), 100, 4, func(i int) error { sum.Add(int64(i)); return nil }); err != nil || sum.Load() != 4950 {
		t.Errorf("got %d, %v", sum.Load(), err)
	}
	var ran atomic.Int64
	err := parallel(t.Context(), 1000, 1, func(i int) error {
		ran.Add(1)
		if i >= 10 {
			return fmt.Errorf("%d", i)
		}
		return nil
	})
	if err == nil || err.Error() != "10" || ran.Load() != 11 {
		t.Errorf("after an error: %v, %d calls", err, ran.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := parallel(ctx, 5, 2, func(int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := parallel(t.Context(), 0, 2, nil); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
