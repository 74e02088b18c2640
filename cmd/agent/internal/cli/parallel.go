package cli

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls work for 0 to n-1 from a number of goroutines, and waits for all. The error is the one of the lowest
// number, or ctx's; after an error nothing new is begun.
func parallel(ctx context.Context, n, workers int, work func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(n, workers) {
		group.Go(func() {
			for ctx.Err() == nil && !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = work(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
