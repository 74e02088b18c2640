// Command eino measures the skill backend of github.com/cloudwego/eino in process: eino ROOT ROUNDS.
// It is a separate module to keep the library out of the engine's dependencies.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/cloudwego/eino/adk/middlewares/skill"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: eino ROOT ROUNDS")
		os.Exit(2)
	}
	rounds, err := strconv.Atoi(os.Args[2])
	if err == nil && rounds > 0 {
		err = run(context.Background(), os.Args[1], rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eino:", err)
		os.Exit(1)
	}
}

// run lists all skills and gets the last one, rounds times each. The backend scans the folder for both.
func run(ctx context.Context, root string, rounds int) error {
	backend, err := skill.NewLocalBackend(&skill.LocalBackendConfig{BaseDir: root})
	if err != nil {
		return err
	}
	var all []skill.FrontMatter
	times := make([]time.Duration, rounds)
	for i := range times {
		start := time.Now()
		if all, err = backend.List(ctx); err != nil {
			return err
		}
		times[i] = time.Since(start)
	}
	report("list", len(all), times)
	if len(all) == 0 {
		return fmt.Errorf("no skills in %q", root)
	}
	for i := range times {
		start := time.Now()
		if _, err := backend.Get(ctx, all[len(all)-1].Name); err != nil {
			return err
		}
		times[i] = time.Since(start)
	}
	report("get", len(all), times)
	return nil
}

func report(name string, n int, times []time.Duration) {
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	fmt.Printf("%s n=%d min=%.3fms med=%.3fms\n", name, n, ms(times[0]), ms(times[len(times)/2]))
}
