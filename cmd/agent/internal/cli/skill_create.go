package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/skill/manifest"
)

// template is the smallest skill that the open standard accepts. The name is plain: nothing needs quoting.
const template = `---
name: %s
description: Says in one sentence what this skill does. Use when somebody asks for exactly that.
---
# %s

Write here what a capable colleague would have to be told to do this well, and nothing else.
`

type createOptions struct {
	sys      *app.System
	out      *app.Printer
	settings *app.Settings

	name string
	dir  string
	json bool
}

func newCreateCommand(s *app.Services, run func(context.Context, *createOptions) error) *cobra.Command {
	o := &createOptions{sys: s.Sys, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a minimal skill to fill in",
		Long: `Create a folder NAME with a SKILL.md that passes "agent skill validate --strict". Nothing is ever overwritten.

The folder is made in --dir, by default in the nearest .agents/skills between the working directory and the project's
root. Without one it is made in the working directory, and a hint says where to move it.`,
		Example: `  agent skill create csv-report
  agent skill create csv-report --dir .agent/skills`,
		Args: arguments(1, 1, "the new skill's name"),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.dir, "dir", "", "`DIR` to make it in (default: the nearest .agents/skills)")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runCreate(_ context.Context, o *createOptions) error {
	name := o.name
	if err := manifest.CheckName(name); err != nil {
		return err
	}
	if good := standardName(name); good != name {
		return app.Usage(fmt.Errorf("invalid name %q: the open standard allows lower-case letters, digits and single hyphens inside", name), createHint(good))
	}
	parent := o.parent()
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(name, 0o777); errors.Is(err, fs.ErrExist) {
		return app.Conflict(fmt.Errorf("%s already exists", filepath.Join(parent, name)), "choose another name or --dir; nothing is overwritten")
	} else if err != nil {
		return err
	}
	text := fmt.Sprintf(template, name, title(name))
	if err := root.WriteFile(name+"/SKILL.md", []byte(text), 0o666); err != nil {
		return errors.Join(err, root.RemoveAll(name)) // half a file would be in the way of a second try
	}
	dir := filepath.Join(parent, name)
	if o.json {
		return o.out.JSON(map[string]any{"skill": map[string]string{"name": name, "path": dir}})
	}
	o.out.Printf("Created %s\n", filepath.Join(dir, "SKILL.md"))
	if err := o.out.Flush(); err != nil { // above the hints
		return err
	}
	o.out.Hint("fill it in, then: agent skill validate " + app.ShellWord(o.typed(dir)))
	if !o.found(parent) {
		o.out.Hint("no agent looks for skills here: move it to .agents/skills of the project, or to ~/.agents/skills")
	}
	return nil
}

// parent returns the folder to make the skill in.
func (o *createOptions) parent() string {
	if o.dir != "" {
		return o.sys.Abs(o.dir)
	}
	root := o.settings.Config().Paths.Project
	for at := o.sys.Dir; at != ""; at = filepath.Dir(at) {
		near := filepath.Join(at, ".agents", "skills")
		if info, err := os.Stat(near); err == nil && info.IsDir() {
			return near
		}
		if at == root || at == filepath.Dir(at) {
			break
		}
	}
	return o.sys.Abs("")
}

// found reports whether skills are looked for in a folder.
func (o *createOptions) found(dir string) bool {
	return slices.ContainsFunc(o.settings.Config().Layers(), func(l config.Layer) bool { return l.Dir == dir })
}

// typed returns a path as a person would type it here.
func (o *createOptions) typed(dir string) string {
	if rel, err := filepath.Rel(o.sys.Dir, dir); err == nil && o.sys.Dir != "" && filepath.IsLocal(rel) {
		return rel
	}
	return dir
}

// standardName returns the name of the open standard that is nearest to name: lower case letters and digits with
// single hyphens inside; "" when nothing is left.
func standardName(name string) string {
	parts := strings.FieldsFunc(manifest.Canonical(name), func(r rune) bool { return r == '-' })
	return strings.Join(parts, "-")
}

func createHint(good string) string {
	if good == "" {
		return ""
	}
	return "agent skill create " + good
}

// title makes "Csv report" of "csv-report".
func title(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
}
