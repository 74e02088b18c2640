package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// bench is one run: the places of its programs, and every figure so far.
type bench struct {
	bin, peers, script, work string
	corpus                   string // a folder of public manifests; "" for none
	only                     string // "engine", "agent", "install" or "" for all
	sizes                    []int
	figures                  map[key]figure
	notes                    []string // the figures that could not be measured, with the reasons
}

// key names a figure. n is 0 if the size of the tree does not matter.
type key struct {
	name string
	n    int
}

// figure has the values of one line by name: min, med and p99 in milliseconds, heap in bytes, peak in KiB.
type figure map[string]float64

// command is one program to start. Its output lines become figures named label, or "label NAME" if a line has a name.
type command struct {
	label string
	n     int
	dir   string // its working directory; "" is the private home
	args  []string
}

// measure runs a command and keeps its figures. A missing or failing program is recorded as a note.
func (b *bench) measure(ctx context.Context, c command) error {
	fmt.Fprintf(os.Stderr, "%s %d ...\n", c.label, c.n)
	out, err := b.output(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.note("%s, %d skills: %v", c.label, c.n, err)
		return nil
	}
	for line := range strings.Lines(out) {
		name, values, err := parseLine(line)
		if err != nil {
			return fmt.Errorf("%s: %w", c.label, err)
		}
		label := c.label
		if name != "spawn" {
			label += " " + name
		}
		b.figures[key{label, c.n}] = values
	}
	return nil
}

// output runs a command with a private home and returns what it wrote to a pipe.
func (b *bench) output(ctx context.Context, c command) (string, error) {
	var stdout bytes.Buffer
	err := b.start(ctx, c, &stdout)
	return stdout.String(), err
}

func (b *bench) start(ctx context.Context, c command, stdout io.Writer) error {
	home := filepath.Join(b.work, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if c.dir == "" {
		c.dir = home
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, stdout, &stderr
	cmd.Env = append(os.Environ(), "HOME="+home, "AGENT_HOME="+filepath.Join(home, ".agent"), "NO_COLOR=1")
	if err := cmd.Run(); err != nil {
		last := strings.TrimSpace(stderr.String())
		return fmt.Errorf("%w: %s", err, last[strings.LastIndexByte(last, '\n')+1:])
	}
	return nil
}

func (b *bench) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// parseLine parses "name key=1.5ms key=20". It ignores the units: each key has a fixed one.
func parseLine(line string) (name string, values figure, err error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return "", nil, errors.New("empty line of figures")
	}
	values = figure{}
	for _, field := range fields[1:] {
		k, text, _ := strings.Cut(field, "=")
		v, err := strconv.ParseFloat(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), 64)
		if err != nil {
			return "", nil, fmt.Errorf("figure %q is not a number", field)
		}
		values[k] = v
	}
	return fields[0], values, nil
}

// program returns the path of one of our programs.
func (b *bench) program(name string) string {
	return filepath.Join(b.bin, name)
}

// peer returns the path of a peer's file. If it is not installed, peer records a note and returns "".
func (b *bench) peer(path string) string {
	full := filepath.Join(b.peers, filepath.FromSlash(path))
	if _, err := os.Stat(full); err == nil {
		return full
	}
	note := fmt.Sprintf("%s is not installed", path)
	for _, known := range b.notes {
		if known == note {
			return ""
		}
	}
	b.notes = append(b.notes, note)
	return ""
}

// tree generates the tree of n skills once and returns its folder.
func (b *bench) tree(ctx context.Context, n int) (string, error) {
	dir := filepath.Join(b.work, "trees", strconv.Itoa(n))
	if _, err := os.Stat(filepath.Join(dir, "queries.txt")); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	_, err := b.output(ctx, command{args: []string{b.program("gentree"), "-n", strconv.Itoa(n), "-out", dir}})
	return dir, err
}

// project creates a folder in which the peers find the skills of a tree, and returns it.
func (b *bench) project(tree string, n int) (string, error) {
	dir := filepath.Join(b.work, "project", strconv.Itoa(n))
	if err := os.RemoveAll(dir); err != nil { // the target of an earlier run's link may be gone
		return "", err
	}
	for _, place := range []string{".claude", ".agents"} {
		if err := os.MkdirAll(filepath.Join(dir, place), 0o755); err != nil {
			return "", err
		}
		if err := os.Symlink(filepath.Join(tree, "skills"), filepath.Join(dir, place, "skills")); err != nil {
			return "", err
		}
	}
	return dir, nil
}
