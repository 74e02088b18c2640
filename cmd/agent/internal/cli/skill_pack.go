package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/pack"
)

type packOptions struct {
	sys      *setup.System
	out      *output.Printer
	packages *packages.Packages

	name, output string
	force, json  bool
}

func newPackCommand(s *app.Services, run func(context.Context, *packOptions) error) *cobra.Command {
	o := &packOptions{sys: s.Sys, out: s.Out, packages: s.Packages}
	c := &cobra.Command{
		Use:   "pack NAME|FOLDER",
		Short: "Make an archive of a skill",
		Long: `Make an archive of a skill, which "agent skill add" installs. The same content gives the same bytes on every machine.
The ending of --output decides about the format: .tar.gz and .tgz have SKILL.md at their root, .zip and .skill have a
folder with the name of the skill.

Left out and named are leftovers of tools (byte code, caches, version control, files of editors and systems), files with
secrets such as .env and, unless the skill is signed, evals. A skill that does not pass "agent skill validate", or whose
description or instructions nobody has written yet, is refused.`,
		Example: `  agent skill pack ./my-skill
  agent skill pack csv-report --output csv-report.skill`,
		Args:              arguments(1, 1, "the name or the folder of a skill"),
		ValidArgsFunction: completeSkillsAndFolders(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVarP(&o.output, "output", "o", "", "the `FILE` to write (default: NAME.tar.gz here)")
	c.Flags().BoolVar(&o.force, "force", false, "replace the file if it exists")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// completeSkillsAndFolders completes the names of skills, and folders.
func completeSkillsAndFolders(s *app.Services) cobra.CompletionFunc {
	skills := completeSkills(s)
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.ContainsAny(word, "./") {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return skills(c, args, word)
	}
}

func runPack(ctx context.Context, o *packOptions) error {
	s, err := o.packages.Open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := o.packages.Publishable(s); err != nil {
		return err
	}
	if o.output == "" {
		o.output = s.Canonical() + ".tar.gz"
	}
	how, err := formatOf(o.output, s.Name())
	if err != nil {
		return err
	}
	packed, err := pack.Pack(ctx, s.Whole(), how)
	if err != nil {
		return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Err: fmt.Errorf("skill %q: %w", s.Name(), err)}
	}
	file := o.sys.Abs(o.output)
	if _, err := os.Lstat(file); err == nil && !o.force {
		return failure.Conflict(fmt.Errorf("%s exists", o.output), "--force replaces it, --output names another file")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeFile(file, packed.Data); err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]any{"file": o.output, "digest": packed.Digest, "files": packed.Files, "excluded": nonNil(packed.Excluded), "bytes": len(packed.Data)})
	}
	for _, name := range packed.Excluded {
		o.out.Remark("left out: " + name)
	}
	o.out.Printf("%s  %s  (%s, %d bytes)\n", packed.Digest, o.output, output.Count(len(packed.Files), "file"), len(packed.Data))
	return nil
}

// formatOf returns the format of an archive by its ending.
func formatOf(file, name string) (*pack.Options, error) {
	switch low := strings.ToLower(file); {
	case strings.HasSuffix(low, ".tar.gz"), strings.HasSuffix(low, ".tgz"):
		return &pack.Options{Format: pack.TarGz}, nil
	case strings.HasSuffix(low, ".zip"), strings.HasSuffix(low, ".skill"):
		return &pack.Options{Format: pack.Zip, Folder: name}, nil
	}
	return nil, failure.Usage(fmt.Errorf("%s is no kind of archive", file), "end the name with .tar.gz, .tgz, .zip or .skill")
}

// writeFile writes a file that replaces another one at once.
func writeFile(file string, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	return lockfile.Write(root, filepath.Base(file), data, 0o644)
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
