// Command run measures agent, the plain system calls and the peers in one run. It writes the ratios as Markdown tables
// to engine.md, agent.md and toolsets.md in its work folder. Start it with bench/run.sh, which builds and installs the programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	b := &bench{figures: map[key]figure{}}
	sizes := flag.String("n", "100,1000", "sizes of the trees, in skills")
	flag.StringVar(&b.bin, "bin", "", "folder of our own programs")
	flag.StringVar(&b.peers, "peers", "", "folder of the peers")
	flag.StringVar(&b.script, "script", "", "skillsref.py")
	flag.StringVar(&b.work, "work", "", "folder for trees, homes and reports")
	flag.StringVar(&b.corpus, "corpus", "", "folder with public manifests at any depth")
	flag.StringVar(&b.only, "only", "", "measure only engine, agent or toolsets")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, sizes string) error {
	for _, dir := range []*string{&b.bin, &b.peers, &b.script, &b.work} {
		full, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = full
	}
	if b.corpus != "" {
		full, err := filepath.Abs(b.corpus)
		if err != nil {
			return err
		}
		b.corpus = full
	}
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return fmt.Errorf("size %q is not a number of skills", size)
		}
		b.sizes = append(b.sizes, n)
	}
	if !slices.Contains([]string{"", "engine", "agent", "toolsets"}, b.only) {
		return fmt.Errorf("invalid -only %q (use engine, agent or toolsets)", b.only)
	}
	if err := b.measureAll(ctx, b.starts()); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		work func(context.Context) error
	}{{"engine", b.measureEngine}, {"agent", b.measureAgent}, {"toolsets", b.measureToolsets}} {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.work(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measureToolsets runs the benchmarks of package toolset and writes toolsets.md.
func (b *bench) measureToolsets(ctx context.Context) error {
	if err := b.measureTests(ctx, "toolset", "."); err != nil {
		return err
	}
	return b.write("toolsets.md", toolsetRows, "")
}

// measureEngine measures everything that needs no model, and writes engine.md.
func (b *bench) measureEngine(ctx context.Context) error {
	if err := b.measureStart(ctx); err != nil {
		return err
	}
	if err := b.measureFetch(ctx); err != nil {
		return err
	}
	for _, n := range b.sizes {
		if err := b.measureTree(ctx, n); err != nil {
			return err
		}
	}
	if err := b.measureClone(ctx); err != nil {
		return err
	}
	if err := b.measureReal(ctx); err != nil {
		return err
	}
	return b.write("engine.md", rows, quoted)
}
