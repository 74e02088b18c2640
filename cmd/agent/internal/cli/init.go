package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scaffold"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/lockfile"
)

type initOptions struct {
	services *app.Services
	out      *output.Printer
	settings *setup.Settings

	stdout, force, json bool
}

// initFile is what agent init writes.
const initFile = "AGENTS.md"

func newInitCommand(s *app.Services, run func(context.Context, *initOptions) error) *cobra.Command {
	o := &initOptions{services: s, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a first AGENTS.md from what the project's files show",
		Long: `Write an AGENTS.md in the root of the project: its languages, folders and documents, and the commands that build and test
it, as Makefile, justfile, package.json, go.mod, Cargo.toml, pyproject.toml and others show them. Nothing is guessed, nothing runs, and no
model is asked: correct it, and add what the files do not show. The agent and many others read it in every conversation.

If there is one, it stays as it is (exit code 6).`,
		Example: `  agent init
  agent init --stdout       # only show it
  agent init --force        # write it anew`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.stdout, "stdout", false, "print it, and write nothing")
	c.Flags().BoolVar(&o.force, "force", false, "replace the file if it exists")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// others returns the texts that the project has for other agents.
func (o *initOptions) others() (out []string) {
	for _, f := range agentFiles(o.services) {
		if f.Read == "" && f.Path != initFile && ui.Line(f.Path) == f.Path {
			out = append(out, f.Path)
		}
	}
	return out
}

func runInit(_ context.Context, o *initOptions) error {
	dir := o.settings.Config().Paths.Project
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	path := filepath.Join(dir, initFile)
	text := scaffold.AGENTS(ui.Line(filepath.Base(dir)), root.FS(), o.others())
	if o.stdout {
		return o.out.Foreign(text)
	}
	if _, err := root.Lstat(initFile); err == nil && !o.force {
		return failure.Conflict(fmt.Errorf("%s already exists", path), "agent init --stdout shows what would be written; --force replaces the file")
	}
	if err := lockfile.Write(root, initFile, []byte(text), 0o644); err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]any{"init": map[string]string{"path": path}})
	}
	o.out.Printf("Created %s\n", path)
	if err := o.out.Flush(); err != nil {
		return err
	}
	o.out.Hint("correct it, and add what the files do not show")
	return nil
}
