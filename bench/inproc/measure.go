package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// times returns the durations of rounds calls of work, shortest first.
func times(rounds int, work func(round int) error) ([]time.Duration, error) {
	all := make([]time.Duration, rounds)
	for i := range all {
		start := time.Now()
		if err := work(i); err != nil {
			return nil, err
		}
		all[i] = time.Since(start)
	}
	slices.Sort(all)
	return all, nil
}

// report prints one line of figures and appends more unchanged.
func report(name string, n int, sorted []time.Duration, more string) {
	at := func(share float64) string {
		d := sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
		return fmt.Sprintf("%.6fms", float64(d)/float64(time.Millisecond))
	}
	if more != "" {
		more = " " + more
	}
	fmt.Printf("%s n=%d min=%s med=%s p99=%s%s\n", name, n, at(0), at(0.5), at(0.99), more)
}

// heap returns the bytes in use after a garbage collection.
func heap() int {
	runtime.GC()
	runtime.GC() // the first run keeps what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
