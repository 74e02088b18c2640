package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	turns  = 200  // turns of a conversation
	budget = 2000 // tokens for the list of skills in runs that limit it
)

// measureAgent measures the agent with a model server on this machine and writes agent.md. It runs with no skills (none),
// with the bundled ones (bundled), and with the tree's too, in a list that is cut to a budget (cut) or whole (all).
func (b *bench) measureAgent(ctx context.Context) error {
	talk := func(label string, n int, args ...string) command {
		return command{label: label, n: n, args: append([]string{b.program("talk"), "-bin", b.bin}, args...)}
	}
	commands := []command{
		talk("none", 0, "-n", "0", "-rounds", "50", "first"),
		talk("bundled", 0, "-n", "4", "-rounds", "50", "first"),
		talk("bundled", 0, "-n", "4", "-rounds", "50", "enter"),
		talk("bundled", 0, "-n", strconv.Itoa(turns), "turns"),
	}
	for _, n := range b.sizes {
		tree, err := b.tree(ctx, n)
		if err != nil {
			return err
		}
		skills, size := filepath.Join(tree, "skills"), strconv.Itoa(n)
		cut := func(what string) command {
			return talk("cut", n, "-n", size, "-skills", skills, "-budget", strconv.Itoa(budget), "-rounds", "20", what)
		}
		commands = append(commands, cut("first"), cut("enter"), talk("all", n, "-n", size, "-skills", skills, "-rounds", "10", "first"))
	}
	if err := b.measureAll(ctx, commands); err != nil {
		return err
	}
	if err := b.measureTests(ctx, "agent", "Turn|Conversation200"); err != nil {
		return err
	}
	if err := b.measureTests(ctx, "chat", "FindNames"); err != nil {
		return err
	}
	return b.write("agent.md", agentRows, "")
}

// measureFetch runs the benchmarks of package install/fetch.
func (b *bench) measureFetch(ctx context.Context) error {
	return b.measureTests(ctx, "fetch", "Git")
}

// measureTests runs the benchmarks of a package that match a pattern five times: their shortest times count, because other work on
// the machine changes these least.
func (b *bench) measureTests(ctx context.Context, name, pattern string) error {
	out, err := b.output(ctx, command{args: []string{b.program(name + ".test"), "-test.run=^$", "-test.bench=" + pattern, "-test.count=5"}})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.note("the benchmarks of package %s: %v", name, err)
		return nil
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Benchmark") {
			if err := b.readBenchmark(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBenchmark keeps the figures of a line such as "BenchmarkTurn-2 1000 123 ns/op 4 KiB-said", each as "NAME UNIT". Of several
// times it keeps the shortest, of other figures the last.
func (b *bench) readBenchmark(line string) error {
	fields := strings.Fields(line)
	name, _, _ := strings.Cut(fields[0], "-")
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return fmt.Errorf("%s: figure %q is not a number", name, fields[i])
		}
		unit, f := fields[i+1], figure{}
		switch {
		case unit == "ns/op":
			f["med"] = v / 1e6
			if before, ok := b.figures[key{name + " " + unit, 0}]; ok {
				f["med"] = min(f["med"], before["med"])
			}
		case strings.HasPrefix(unit, "KiB"):
			f["heap"] = v * 1024
		default:
			f["count"] = v
		}
		b.figures[key{name + " " + unit, 0}] = f
	}
	return nil
}
