package confine

import (
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// The cost of a sandbox: /bin/true without one, and in tiers A and B. The stage is this test binary, which is smaller than agent. The
// shortest run is what other work on the machine changes least.
func BenchmarkRun(b *testing.B) {
	runners(b, func(b *testing.B, r runner.Runner, c *runner.Command) {
		shortest := time.Hour
		for b.Loop() {
			begun := time.Now()
			if _, err := r.Run(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			shortest = min(shortest, time.Since(begun))
		}
		b.ReportMetric(float64(shortest.Microseconds())/1000, "shortest-ms")
	})
}

// Runs per second, 64 at a time.
func BenchmarkParallel(b *testing.B) {
	runners(b, func(b *testing.B, r runner.Runner, c *runner.Command) {
		b.SetParallelism(32) // for each of two processors
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := r.Run(b.Context(), c); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	})
}

func runners(b *testing.B, measure func(*testing.B, runner.Runner, *runner.Command)) {
	b.Helper()
	off := tier{confine: runner.ConfineOff}
	b.Run("bare", func(b *testing.B) { measure(b, runner.Exec{}, off.command(b, "/bin/true")) })
	for _, i := range confined() {
		b.Run(i.name, func(b *testing.B) { measure(b, i.runner(b, Options{}), i.command(b, "/bin/true")) })
	}
}
