//go:build linux

// Command talk measures one aspect of the agent with a model server on this machine:
// talk -bin DIR [-skills DIR] [-budget N] [-n N] [-rounds N] first|enter|turns.
//
// Each figure is one line of name, counts and times, in the format of bench/limit. The server is fakemodel; its time is
// not counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"
)

// maxHeap is the memory limit at which the server collects garbage despite SetGCPercent(-1).
const maxHeap = 1 << 30

// talk has the settings of one run.
type talk struct {
	bin    string // folder of our programs
	skills string // folder of skills in addition to the bundled ones; "" for none
	budget int    // tokens for the list of skills; 0 for no limit
	n      int    // number of skills, or of turns; with 0 skills the bundled ones are disabled too
	rounds int
	work   string // an empty folder for files
}

func main() {
	t := &talk{}
	flag.StringVar(&t.bin, "bin", "", "folder of our own programs")
	flag.StringVar(&t.skills, "skills", "", "folder of skills")
	flag.IntVar(&t.budget, "budget", 0, "tokens for the list of skills")
	flag.IntVar(&t.n, "n", 0, "number of skills, or of turns")
	flag.IntVar(&t.rounds, "rounds", 10, "how often")
	flag.Parse()
	debug.SetGCPercent(-1) // a collection in the server would take processor time from the measured program
	debug.SetMemoryLimit(maxHeap)
	if err := t.run(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "talk:", err)
		os.Exit(1)
	}
}

func (t *talk) run(ctx context.Context, what string) (err error) {
	if t.work, err = os.MkdirTemp("", "talk"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.work)) }()
	s := newServer()
	defer s.close()
	switch what {
	case "first":
		err = t.measureFirst(ctx, s)
	case "enter":
		err = t.measureEnter(ctx, s)
	case "turns":
		err = t.measureTurns(ctx, s)
	default:
		err = fmt.Errorf("unknown measurement %q (use first, enter or turns)", what)
	}
	return errors.Join(append([]error{err}, s.Problems()...)...)
}

// agent returns the command line of an agent, and the environment that points it to the server.
func (t *talk) agent(s *server, args ...string) (line, env []string) {
	line = append([]string{filepath.Join(t.bin, "agent"), "--model", "anthropic/fake"}, args...)
	env = append(os.Environ(), s.Env()...)
	if t.budget > 0 {
		env = append(env, fmt.Sprint("AGENT_BUDGET=", t.budget))
	}
	if t.skills != "" {
		line = append(line, "--skills-dir", t.skills)
	} else if t.n == 0 {
		env = append(env, "AGENT_CORE_DIR="+t.work)
	}
	return line, env
}

// report prints one line of figures.
func report(name string, n int, all []time.Duration) {
	sorted := slices.Sorted(slices.Values(all))
	at := func(share float64) float64 {
		return float64(sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]) / float64(time.Millisecond)
	}
	fmt.Printf("%s n=%d min=%.6fms med=%.6fms p99=%.6fms\n", name, n, at(0), at(0.5), at(0.99))
}
