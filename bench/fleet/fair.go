package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
)

// fairness measures the runs of a tenant alone, and while another one keeps its queue full, in turn. The runs sleep: some all for the same
// time, which is the worst, for then all places become free at once, some for 50 to 150 % of it.
func fairness(ctx context.Context, _ string) error {
	const rounds, long = 3, 500 * time.Millisecond
	fmt.Println("| places | runs | p50 alone | p50 flooded | ratio of rounds (min, median, max) | runs of the flood a second |")
	fmt.Println("|--:|---|--:|--:|--:|--:|")
	for _, workers := range []int{2, 4, 8} {
		for _, spread := range []float64{1, 0} {
			sleep := func(ctx context.Context, _ *dispatch.Run, _ uint64) []byte {
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(float64(long) * (1 + spread*(rand.Float64()-0.5)))):
				}
				return nil
			}
			y, err := newYard(ctx, &dispatch.Options{Quota: 50}, nil, workers, 4, sleep)
			if err != nil {
				return err
			}
			var alone, flooded []time.Duration
			var ratios []float64
			var speed int64
			for round := range rounds + 1 {
				calm, err := y.visitor(ctx, fmt.Sprint("a", round))
				if err != nil {
					return err
				}
				stop := y.flood(ctx, fmt.Sprint("f", round))
				begun := time.Now()
				busy, err := y.visitor(ctx, fmt.Sprint("b", round))
				ran := stop()
				if err != nil {
					return err
				}
				if round > 0 { // the first warms up
					alone, flooded = append(alone, calm...), append(flooded, busy...)
					ratios = append(ratios, float64(at(busy, 0.5))/float64(at(calm, 0.5)))
					speed += int64(float64(ran) / time.Since(begun).Seconds() / rounds)
				}
			}
			y.close()
			slices.Sort(ratios)
			fmt.Printf("| %d | %.0f to %.0f ms | %s ms | %s ms | %.2f, %.2f, %.2f | %d |\n", 4*workers, 500-250*spread, 500+250*spread, ms(at(alone, 0.5)), ms(at(flooded, 0.5)),
				ratios[0], ratios[len(ratios)/2], ratios[len(ratios)-1], speed)
		}
	}
	return nil
}

// visitor makes two runs at a time, ten times, at moments that have nothing to do with those of others.
func (y *yard) visitor(ctx context.Context, name string) (all []time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			for i := range 10 {
				time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond))))
				took, failed := y.one(ctx, &dispatch.Run{ID: fmt.Sprintf("%s-%d-%d", name, n, i), Tenant: "visitor"})
				mu.Lock()
				all, err = append(all, took), errors.Join(err, failed)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all, err
}

// flood keeps the queue of a tenant full, from when it is until stop is called, which waits for its runs and returns how many ended before.
func (y *yard) flood(ctx context.Context, name string) (stop func() int64) {
	var all sync.WaitGroup
	var ended atomic.Int64
	ctx, cancel := context.WithCancel(ctx)
	full := make(chan struct{})
	var once sync.Once
	var tickets sync.WaitGroup
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			t, err := y.queue.Submit(ctx, &dispatch.Run{ID: fmt.Sprintf("%s-%d", name, i), Tenant: "flood", Until: time.Now().Add(10 * time.Minute)})
			if errors.Is(err, dispatch.ErrQuota) {
				once.Do(func() { close(full) })
				time.Sleep(5 * time.Millisecond)
			}
			if err != nil {
				continue
			}
			tickets.Go(func() {
				defer t.Close()
				if _, err := t.Wait(context.WithoutCancel(ctx)); err == nil {
					ended.Add(1)
				}
			})
		}
	})
	<-full
	return func() int64 {
		n := ended.Load()
		cancel()
		all.Wait()
		tickets.Wait()
		return n
	}
}

// growth measures how many runs that sleep end in a second with more and more workers of eight places.
func growth(ctx context.Context, _ string) error {
	const long, slots = 100 * time.Millisecond, 8
	fmt.Println("| workers of 8 places | runs a second (min, median, max of 5) | of what the places can do | processor time a run |")
	fmt.Println("|--:|--:|--:|--:|")
	for _, workers := range []int{1, 2, 4, 8} {
		y, err := newYard(ctx, &dispatch.Options{Quota: 10_000, AtOnce: 1024}, nil, workers, slots, func(context.Context, *dispatch.Run, uint64) []byte { time.Sleep(long); return nil })
		if err != nil {
			return err
		}
		var speeds []float64
		count := workers * slots * 20
		var cost time.Duration
		for round := range 6 {
			used, begun := cpu(), time.Now()
			if err := y.crowd(ctx, fmt.Sprint("r", round), count, 2*workers*slots); err != nil {
				return err
			}
			if round > 0 {
				speeds = append(speeds, float64(count)/time.Since(begun).Seconds())
				cost += (cpu() - used) / time.Duration(5*count)
			}
		}
		y.close()
		slices.Sort(speeds)
		can := float64(workers*slots) / long.Seconds()
		fmt.Printf("| %d | %.0f, %.0f, %.0f | %.0f %% | %s ms |\n", workers, speeds[0], speeds[2], speeds[4], 100*speeds[2]/can, ms(cost))
	}
	return nil
}

// crowd brings runs of eight tenants to their end, so many at a time.
func (y *yard) crowd(ctx context.Context, name string, count, atOnce int) error {
	var next atomic.Int64
	errs := make(chan error, atOnce)
	for range atOnce {
		go func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				if _, err := y.one(ctx, &dispatch.Run{ID: fmt.Sprintf("%s-%d", name, i), Tenant: fmt.Sprint("t", i%8)}); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var err error
	for range atOnce {
		err = errors.Join(err, <-errs)
	}
	return err
}
