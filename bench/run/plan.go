package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strconv"
)

// dropCaches is the file through which the superuser clears Linux's page cache.
const dropCaches = "/proc/sys/vm/drop_caches"

// coldSize is the size of the tree for a cold page cache, coldRounds the number of measurements.
const (
	coldSize   = 1000
	coldRounds = 5
)

// The slowest peers are not measured with larger trees.
const (
	maxSkillsRef = 1_000
	maxPeers     = 100_000
)

// rounds returns the number of measurements for a tree of n skills.
func rounds(n, most int) string {
	return strconv.Itoa(max(1, min(most, 40*most/max(n/25, 1))))
}

// starts are the shortest runs of the command, and a program that does nothing.
func (b *bench) starts() []command {
	spawn := b.program("spawn")
	return []command{
		{label: "empty", args: []string{spawn, "200", b.program("empty")}},
		{label: "agent version", args: []string{spawn, "200", b.program("agent"), "version"}},
		{label: "agent list", args: []string{spawn, "200", b.program("agent"), "skill", "list"}},
	}
}

// measureStart measures what does not depend on the number of skills: the start of programs, and scripts.
func (b *bench) measureStart(ctx context.Context) error {
	spawn := b.program("spawn")
	commands := []command{
		{label: "ours", args: []string{b.program("inproc"), "scripts", filepath.Join(b.work, "scripts"), "100"}},
	}
	if node, cli := b.peer("node_modules/node/bin/node"), b.peer("node_modules/skills/bin/cli.mjs"); node != "" && cli != "" {
		commands = append(commands, command{label: "skills version", args: []string{spawn, "10", node, cli, "--version"}})
	}
	if cli := b.peer("node_modules/.bin/openskills"); cli != "" {
		commands = append(commands, command{label: "openskills version", args: []string{spawn, "10", cli, "--version"}})
	}
	return b.measureAll(ctx, commands)
}

// measureTree measures everything that depends on the number of skills.
func (b *bench) measureTree(ctx context.Context, n int) error {
	tree, err := b.tree(ctx, n)
	if err != nil {
		return err
	}
	commands := append(b.limits(tree, n), b.ours(tree, n)...)
	theirs, err := b.theirs(ctx, tree, n)
	if err != nil {
		return err
	}
	if err := b.measureAll(ctx, append(commands, theirs...)); err != nil {
		return err
	}
	if n == coldSize {
		if err := b.measureCold(ctx, tree); err != nil {
			return err
		}
	}
	if peak := b.figures[key{"agent list", n}]["peak"]; peak > 0 {
		b.figures[key{"agent list above", n}] = figure{"peak": peak - b.figures[key{"agent version", 0}]["peak"]}
	}
	args := []string{b.program("agent"), "skill", "list", "--json", "--skills-dir", filepath.Join(tree, "skills")}
	_, err = b.complete(ctx, tree, command{label: "agent count", n: n, args: args})
	return err
}

func (b *bench) measureAll(ctx context.Context, commands []command) error {
	for _, c := range commands {
		if err := b.measure(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) limits(tree string, n int) []command {
	root := filepath.Join(tree, "skills")
	return []command{
		{label: "limit1", n: n, args: []string{b.program("limit"), "read4k", root, "1", rounds(n, 100)}},
		{label: "limit2", n: n, args: []string{b.program("limit"), "read4k", root, "2", rounds(n, 100)}},
		{label: "limit2", n: n, args: []string{b.program("limit"), "stat", root, "2", rounds(n, 100)}},
	}
}

func (b *bench) ours(tree string, n int) []command {
	in := func(what, rounds string) command {
		return command{label: "ours", n: n, args: []string{b.program("inproc"), what, tree, rounds}}
	}
	cli := func(label string, args ...string) command {
		args = append([]string{b.program("spawn"), rounds(n, 20), b.program("agent")}, args...)
		return command{label: label, n: n, args: args}
	}
	root := filepath.Join(tree, "skills")
	return []command{
		in("open", rounds(n, 50)),
		in("refresh", rounds(n, 50)),
		in("load", "5000"),
		in("render", rounds(n, 50)),
		in("match", "10"),
		in("search", "3"),
		in("verify", rounds(n, 20)),
		cli("agent list", "skill", "list", "--skills-dir", root),
		b.validate("agent validate", root, n),
	}
}

// invalid is the exit code of `agent skill validate` for manifests with errors. Some public manifests have errors.
const invalid = "4"

func (b *bench) validate(label, root string, n int) command {
	return command{label: label, n: n, args: []string{b.program("spawn"), "-x", invalid, rounds(n, 20), b.program("agent"), "skill", "validate", root}}
}

// realSize is the number of copies of public manifests.
const realSize = 10_000

// measureReal measures copies of the manifests below the folder b.corpus. They are public manifests, so they resemble a
// user's folder of skills.
func (b *bench) measureReal(ctx context.Context) error {
	if b.corpus == "" {
		b.note("real manifests: AGENT_SKILLS_CORPUS is not a folder with manifests")
		return nil
	}
	tree := filepath.Join(b.work, "trees", "real")
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	copies := command{args: []string{b.program("gentree"), "-n", strconv.Itoa(realSize), "-out", tree, "-from", b.corpus}}
	if _, err := b.output(ctx, copies); err != nil {
		return err
	}
	root := filepath.Join(tree, "skills")
	in := func(label, program string, args ...string) command {
		return command{label: "real " + label, n: realSize, args: append([]string{b.program(program)}, args...)}
	}
	if err := b.measureHits(ctx); err != nil {
		return err
	}
	return b.measureAll(ctx, []command{
		in("limit1", "limit", "read4k", root, "1", "30"),
		in("limit1", "limit", "readfull", root, "1", "30"),
		in("ours", "inproc", "open", tree, "30"),
		in("agent list", "spawn", "10", b.program("agent"), "skill", "list", "--json", "--skills-dir", root),
		b.validate("real agent validate", root, realSize),
	})
}

// cloneSize is the number of skills in the tree that resembles a clone. It has four folders of a repository, with nine
// files, for each skill.
const cloneSize = 1000

// measureClone measures discovery in the root of a repository.
func (b *bench) measureClone(ctx context.Context) error {
	tree := filepath.Join(b.work, "trees", "clone")
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	made := command{args: []string{b.program("gentree"), "-n", strconv.Itoa(cloneSize), "-out", tree, "-layout", "clone"}}
	if _, err := b.output(ctx, made); err != nil {
		return err
	}
	root := filepath.Join(tree, "skills")
	return b.measureAll(ctx, []command{
		{label: "clone ours", n: cloneSize, args: []string{b.program("inproc"), "open", tree, "30"}},
		{label: "clone find", n: cloneSize, args: []string{b.program("spawn"), "30", "find", root, "-name", "SKILL.md"}},
	})
}

// measureHits measures how often the search finds the right skill for public requests, which are in a folder next to
// b.corpus.
func (b *bench) measureHits(ctx context.Context) error {
	file := filepath.Join(b.corpus, "..", "search", "marketing.json")
	if _, err := os.Stat(file); err != nil {
		b.note("labelled requests: %v", err)
		return nil
	}
	return b.measure(ctx, command{label: "real ours", args: []string{b.program("inproc"), "hits", file, "1"}})
}

// theirs returns the commands of the peers. A program that does not find all skills is not measured.
func (b *bench) theirs(ctx context.Context, tree string, n int) ([]command, error) {
	root := filepath.Join(tree, "skills")
	project, err := b.project(tree, n)
	if err != nil || n > maxPeers {
		return nil, err
	}
	var commands []command
	if eino := b.peer("eino"); eino != "" {
		commands = append(commands, command{label: "eino", n: n, args: []string{eino, root, rounds(n, 10)}})
	}
	if python := b.peer("python/bin/python"); python != "" && n <= maxSkillsRef {
		commands = append(commands, command{label: "skills-ref", n: n, args: []string{python, b.script, root, "2"}})
	}
	var lists []command
	if cli := b.peer("node_modules/.bin/openskills"); cli != "" {
		lists = append(lists, command{label: "openskills", args: []string{cli, "list"}})
	}
	if node, cli := b.peer("node_modules/node/bin/node"), b.peer("node_modules/skills/bin/cli.mjs"); node != "" && cli != "" {
		lists = append(lists, command{label: "skills", args: []string{node, cli, "list"}})
	}
	for _, c := range lists {
		c.n, c.dir = n, project
		spawned := c
		c.label += " count"
		all, err := b.complete(ctx, tree, c)
		if err != nil {
			return nil, err
		}
		if all {
			spawned.label += " list"
			spawned.args = append([]string{b.program("spawn"), rounds(n, 5)}, c.args...)
			commands = append(commands, spawned)
		}
	}
	return commands, nil
}

// measureCold measures a discovery right after the page cache was dropped, a few times, and keeps the shortest time.
func (b *bench) measureCold(ctx context.Context, tree string) error {
	drop, err := os.OpenFile(dropCaches, os.O_WRONLY, 0)
	if err != nil {
		b.note("discovery with a cold page cache: %v", err)
		return nil
	}
	defer drop.Close()
	root := filepath.Join(tree, "skills")
	for range coldRounds {
		for _, c := range []command{
			{label: "cold limit16", n: coldSize, args: []string{b.program("limit"), "read4k", root, "16", "1"}},
			{label: "cold ours", n: coldSize, args: []string{b.program("inproc"), "open", tree, "1"}},
		} {
			if _, err := drop.WriteString("3"); err != nil {
				b.note("discovery with a cold page cache: %v", err)
				return nil
			}
			if _, err := os.ReadFile(c.args[0]); err != nil { // so loading the program is not measured
				return err
			}
			if err := b.measureLeast(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureLeast is like measure for a repeated command: it keeps the figures of the fastest run.
func (b *bench) measureLeast(ctx context.Context, c command) error {
	before := maps.Clone(b.figures)
	if err := b.measure(ctx, c); err != nil {
		return err
	}
	for k, f := range before {
		if b.figures[k]["min"] > f["min"] {
			b.figures[k] = f
		}
	}
	return nil
}
