package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scaffold"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skill/manifest"
)

type createOptions struct {
	services *app.Services
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings

	name string
	dir  string
	with []string
	user bool
	json bool
}

func newCreateCommand(s *app.Services, run func(context.Context, *createOptions) error) *cobra.Command {
	o := &createOptions{services: s, sys: s.Sys, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:        "create NAME",
		SuggestFor: []string{"new", "init", "generate"},
		Short:      "Create a skill to fill in",
		Long: `Create a folder NAME with a SKILL.md that passes "agent skill validate". Nothing is ever overwritten.

With --with, add examples that work at once, and that you replace: a script (Python, with a test), a toolset (a Python
class whose methods become tools), tools in typescript, or an mcp server. The new files are trusted. After a change you are
asked about them; "agent skill dev" trusts them, changes included, while it runs.

The folder is made in the nearest .agents/skills between the working directory and the project's root, by default in a new
one at that root; with --user in ~/.agents/skills, with --dir in another folder.`,
		Example: `  agent skill create csv-report
  agent skill create csv-report --with script
  agent skill create csv-report --with script --with toolset --user
  agent skill create csv-report --dir skills`,
		Args: arguments(1, 1, "the new skill's name"),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringArrayVar(&o.with, "with", nil, "add an example: `KIND` is script, toolset, typescript or mcp (repeatable)")
	c.Flags().StringVar(&o.dir, "dir", "", "`DIR` to make it in (default: the nearest .agents/skills)")
	c.Flags().BoolVar(&o.user, "user", false, "make it in ~/.agents/skills, for all your projects")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("with", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func kindNames() []string {
	var out []string
	for _, kind := range scaffold.Kinds() {
		out = append(out, string(kind))
	}
	return out
}

// kinds returns what the skill brings.
func (o *createOptions) kinds() ([]scaffold.Kind, error) {
	var out []scaffold.Kind
	for _, name := range o.with {
		if !slices.Contains(kindNames(), name) {
			return nil, failure.Usage(fmt.Errorf("unknown kind %q", name), "--with takes "+strings.Join(kindNames(), ", "))
		}
		out = append(out, scaffold.Kind(name))
	}
	return out, nil
}

func runCreate(ctx context.Context, o *createOptions) error {
	name := o.name
	if err := manifest.CheckName(name); err != nil {
		return err
	}
	if good := standardName(name); good != name {
		return failure.Usage(fmt.Errorf("invalid name %q: the open standard allows lower-case letters, digits and single hyphens inside", name), createHint(good))
	}
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		o.out.Warn("many other agents load only names of a-z, 0-9 and hyphens")
	}
	kinds, err := o.kinds()
	if err != nil {
		return err
	}
	files, err := scaffold.Files(name, kinds)
	if err != nil {
		return err
	}
	parent, err := o.parent()
	if err != nil {
		return err
	}
	if err := writeSkill(parent, name, files); err != nil {
		return err
	}
	dir := filepath.Join(parent, name)
	trusted := false
	if len(kinds) > 0 {
		if trusted, err = o.approve(ctx, dir, files); err != nil {
			o.out.Warn(fmt.Sprintf("it is not trusted yet: %v", err))
		}
	}
	if o.json {
		return o.out.JSON(map[string]any{"skill": map[string]any{"name": name, "path": dir, "files": slices.Sorted(maps.Keys(files)), "trusted": trusted}})
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		o.out.Printf("Created %s\n", filepath.Join(dir, filepath.FromSlash(file)))
	}
	if err := o.out.Flush(); err != nil { // above the hints
		return err
	}
	o.next(parent, kinds)
	return nil
}

// writeSkill makes the folder of a skill and its files. After an error nothing is left that would be in the way of a second
// try.
func writeSkill(parent, name string, files map[string][]byte) error {
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(name, 0o777); errors.Is(err, fs.ErrExist) {
		return failure.Conflict(fmt.Errorf("%s already exists", filepath.Join(parent, name)), "choose another name or --dir; nothing is overwritten")
	} else if err != nil {
		return err
	}
	for file, text := range files {
		at := name + "/" + file
		mode := fs.FileMode(0o666)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o777
		}
		if err := errors.Join(root.MkdirAll(path.Dir(at), 0o777), root.WriteFile(at, text, mode)); err != nil {
			return errors.Join(err, root.RemoveAll(name))
		}
	}
	return nil
}

// approve trusts the skill as it was created: its files are the program's own. It reports whether it did.
func (o *createOptions) approve(ctx context.Context, dir string, files map[string][]byte) (bool, error) {
	out := *o.out.Streams
	out.Out, out.Err = io.Discard, io.Discard
	b, err := openBench(ctx, o.services.In("", o.services.Flags, &out), dir, false)
	if err != nil {
		return false, err
	}
	s, err := b.entry.Load(ctx)
	if err != nil {
		return false, err
	}
	defer s.Close()
	p, err := b.Consent.Propose(ctx, s)
	if err != nil {
		return false, err
	}
	sum, err := s.Sum(ctx)
	if err != nil {
		return false, err
	}
	if len(sum.Files) != len(files) {
		return false, errors.New("the folder has other files")
	}
	for _, f := range sum.Files {
		if want := sha256.Sum256(files[f.Path]); f.Link || f.SHA256 != hex.EncodeToString(want[:]) {
			return false, fmt.Errorf("%s has another content", f.Path)
		}
	}
	p.Give(nil, true)
	return true, b.Consent.Approve(ctx, p)
}

// next prints what to do with the new skill. Each command works as it is printed.
func (o *createOptions) next(parent string, kinds []scaffold.Kind) {
	typed := cure.Word(o.typed(filepath.Join(parent, o.name)))
	if len(kinds) == 0 {
		o.out.Hint("fill it in, models are offered it then; and check it: agent skill validate " + typed)
	}
	skill := o.name
	if !o.found(parent) {
		o.out.Hint("no agent looks for skills here: move it to .agents/skills of the project, or to ~/.agents/skills")
		skill = folderWord(typed)
	}
	if len(kinds) == 0 {
		return
	}
	o.out.Hint("check it: agent skill test " + skill)
	o.out.Hint("work on it: agent skill dev " + skill)
	o.out.Hint("models are offered it once its description is yours")
	if !o.found(parent) {
		return
	}
	if slices.Contains(kinds, scaffold.Script) {
		o.out.Hint("run its script: agent script run " + skill + " hello -- --name Ada")
	}
	for _, kind := range scaffold.Kinds() {
		if called := scaffold.ToolOf(kind, o.name); called != "" && slices.Contains(kinds, kind) {
			o.out.Hint("call its tool: agent skill call " + skill + " " + called + " name=Ada")
		}
	}
}

// folderWord returns how the folder of a skill is written where a name of a skill can stand, too.
func folderWord(typed string) string {
	if strings.ContainsAny(typed, `/\`) {
		return typed
	}
	return "./" + typed
}

// parent returns the folder to make the skill in.
func (o *createOptions) parent() (string, error) {
	switch {
	case o.dir != "" && o.user:
		return "", failure.Usage(errors.New("--dir and --user at once"), "use one of them")
	case o.dir != "":
		return o.sys.Abs(o.dir), nil
	case o.user && o.sys.Home == "":
		return "", failure.Usage(errors.New("there is no home"), "set HOME, or use --dir")
	case o.user:
		return filepath.Join(o.sys.Home, ".agents", "skills"), nil
	}
	root := o.settings.Config().Paths.Project
	for at := o.sys.Dir; at != ""; at = filepath.Dir(at) {
		near := filepath.Join(at, ".agents", "skills")
		if info, err := os.Stat(near); err == nil && info.IsDir() {
			return near, nil
		}
		if at == root || at == filepath.Dir(at) {
			break
		}
	}
	if root == "" {
		return o.sys.Abs(""), nil
	}
	return filepath.Join(root, ".agents", "skills"), nil
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
