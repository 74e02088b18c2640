package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// installRounds is how often each installation is measured, each time in a new home.
const installRounds = 5

// measureInstall measures installing from a repository of this machine: one skill of 400, and 100 skills with 1,000 files. Ours
// are flushed to the disk, with an approval of each; the peers' are not.
func (b *bench) measureInstall(ctx context.Context) error {
	for _, of := range []struct {
		what   string
		skills int
		only   string // the skill to install; "" means all
	}{{"one of 400", 400, "skill-200"}, {"1,000 files", 100, ""}} {
		repo, err := b.repository(ctx, of.skills)
		if err != nil {
			b.note("installing: %v", err)
			return ctx.Err()
		}
		url := "file://" + repo
		ours := []string{b.program("agent"), "skill", "add", url, "--trusted", "--quiet"}
		theirs := []string{b.peer("node_modules/node/bin/node"), b.peer("node_modules/skills/bin/cli.mjs"), "add", url, "-y", "-a", "claude-code"}
		if of.only != "" {
			ours, theirs = append(ours, "--skill", of.only), append(theirs, "--skill", of.only)
		} else {
			ours, theirs = append(ours, "--all"), append(theirs, "--skill", "*")
		}
		clone := []string{"git", "clone", "--quiet", "--depth", "1", url, "clone"}
		for _, c := range []struct {
			label string
			args  []string
		}{{"agent add ", ours}, {"skills add ", theirs}, {"git clone ", clone}} {
			if slices.Contains(c.args, "") {
				continue // a peer that could not be installed
			}
			if err := b.fresh(ctx, c.label+of.what, c.args); err != nil {
				return err
			}
		}
	}
	return nil
}

// repository returns the folder of a git repository of n skills with ten files each.
func (b *bench) repository(ctx context.Context, n int) (string, error) {
	dir := filepath.Join(b.work, "trees", fmt.Sprintf("repository-%d", n))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for i := range n {
		at := filepath.Join(dir, "skills", fmt.Sprintf("skill-%03d", i))
		if err := os.MkdirAll(filepath.Join(at, "references"), 0o755); err != nil {
			return "", err
		}
		text := fmt.Sprintf("---\nname: skill-%03d\ndescription: Does the work number %d.\n---\n", i, i) + strings.Repeat(fmt.Sprintf("Line of skill %d.\n", i), 200)
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o644); err != nil {
			return "", err
		}
		for j := range 9 {
			text := strings.Repeat(fmt.Sprintf("Line of skill %d, file %d.\n", i, j), 300)
			if err := os.WriteFile(filepath.Join(at, "references", fmt.Sprintf("file-%d.md", j)), []byte(text), 0o644); err != nil {
				return "", err
			}
		}
	}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch", "main"}, {"add", "--all"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "--quiet", "--message", "skills"}} {
		if _, err := b.output(ctx, command{dir: dir, args: append([]string{"git"}, args...)}); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// fresh measures a command that installs something, each time in a new home and a new project.
func (b *bench) fresh(ctx context.Context, label string, args []string) error {
	fmt.Fprintf(os.Stderr, "%s ...\n", label)
	var took []float64
	for range installRounds {
		home, err := os.MkdirTemp(b.work, "install-")
		if err != nil {
			return err
		}
		project := filepath.Join(home, "project")
		if err := os.Mkdir(project, 0o755); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Stdout = project, io.Discard
		cmd.Env = append(os.Environ(), "HOME="+home, "AGENT_HOME="+filepath.Join(home, ".agent"), "NO_COLOR=1", "CI=1", "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1")
		start := time.Now()
		err = cmd.Run()
		took = append(took, float64(time.Since(start))/1e6)
		exec.CommandContext(ctx, "chmod", "-R", "u+w", home).Run() //nolint:errcheck // what is installed is read-only
		os.RemoveAll(home)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.note("%s: %v", label, err)
			return nil
		}
	}
	slices.Sort(took)
	b.figures[key{label, 0}] = figure{"min": took[0], "med": took[len(took)/2]}
	return nil
}
