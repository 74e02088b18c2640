package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/toolset"
)

// preparedJSON is one script in the output of prepare --json, or toolsets that share a process.
type preparedJSON struct {
	Name       string   `json:"name"`                 // of the script; of toolsets as they are declared
	Needed     bool     `json:"needed"`               // it has dependencies
	Made       bool     `json:"made"`                 // by this call; false: they were there
	Declared   string   `json:"declared,omitempty"`   // what declares them
	Packages   []string `json:"packages"`             // "name==version"
	Undeclared []string `json:"undeclared,omitempty"` // modules that the scripts of its line import and do not have
	Unbuilt    []string `json:"unbuilt,omitempty"`    // npm packages whose install scripts did not run, "name@version"
	Error      string   `json:"error,omitempty"`
}

type prepareOptions struct {
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library
	tools    *toolkit.Toolkit
	grants   *grants.Grants
	approver *consent.Approver

	name                 string
	with, without, build []string
	upgrade, large, json bool
}

func newPrepareCommand(s *app.Services, run func(context.Context, *prepareOptions) error) *cobra.Command {
	o := &prepareOptions{sys: s.Sys, out: s.Out, settings: s.Settings, skills: s.Skills, tools: s.Tools, grants: s.Grants, approver: s.Approver}
	c := &cobra.Command{
		Use:   "prepare NAME",
		Short: "Fetch the dependencies of a skill's scripts and toolsets in advance",
		Long: `Make the environments that the Python, JavaScript and TypeScript scripts and toolsets of a skill need, so they start at
once and without a network. Nothing of the skill or of the packages is executed. Versions that were resolved stay; --upgrade
resolves them again. A script that requires a Python version that is not installed fails, even one without
dependencies, unless uv can fetch it.

What a Python script or toolset needs is what its script block (PEP 723) says, or else requirements.txt next to it, in scripts/ or in the
skill's folder, or else the dependencies in pyproject.toml. --with adds a package to all of these, for a skill that does
not name what it imports; it is kept until the skill changes.

What a JavaScript or TypeScript script or toolset needs is what package.json says, in the versions of the lock of npm, pnpm, bun
or Yarn 1 next to it, and that program installs them; without a lock npm chooses. The packages come from the registry of your npm
settings. --with npm:PACKAGE adds one; then npm chooses all versions.

Only wheels are installed. A package that has none is refused, unless --build names it: its build runs code of the
package with your rights and without a sandbox. Before more than 200 MB are downloaded you are asked; --large
downloads them without asking.`,
		Example: `  agent skill prepare kalshi-markets
  agent skill prepare kalshi-markets --upgrade
  agent skill prepare pdf --with pypdf --with "pillow>=10"
  agent skill prepare page --with npm:marked`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringArrayVar(&o.with, "with", nil, "add a `PACKAGE`, such as requests, \"httpx>=0.27\" or npm:marked; may be repeated")
	c.Flags().StringArrayVar(&o.without, "without", nil, "remove a `PACKAGE` that --with added")
	c.Flags().StringArrayVar(&o.build, "build", nil, "build a `PACKAGE` that has no wheel from its source, which runs its code")
	c.Flags().BoolVar(&o.upgrade, "upgrade", false, "resolve the dependencies again")
	c.Flags().BoolVar(&o.large, "large", false, "download more than 200 MB without asking")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runPrepare(ctx context.Context, o *prepareOptions) error {
	if err := o.settings.NeedRoom(setup.CacheFolder); err != nil {
		return err
	}
	if err := script.CheckPackages(slices.Concat(o.with, o.without, o.build)); err != nil {
		return failure.Usage(err, "name a package and perhaps its version: --with \"httpx>=0.27\"")
	}
	s, err := o.load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	host, err := o.tools.Host()
	if err != nil {
		return err
	}
	if len(o.without) > 0 {
		if err := o.grants.EditWith(ctx, s, nil, o.without); err != nil {
			return err
		}
	}
	done, sets, err := o.prepare(ctx, host, s)
	if err != nil {
		return err
	}
	all := slices.Concat(done, sets)
	failed := failures(all)
	if len(o.with) > 0 && failed == nil { // a package that cannot be had is not kept
		if err := o.grants.EditWith(ctx, s, o.with, nil); err != nil {
			return err
		}
	}
	if o.json {
		err = o.out.JSON(map[string]any{"skill": map[string]any{"name": s.Name(), "scripts": preparedScripts(done), "toolsets": preparedScripts(sets)}})
	} else {
		err = o.print(s, done, sets)
	}
	if failed != nil {
		return o.explain(failed, all)
	}
	return err
}

// load opens a skill whose scripts may run: nothing is fetched for a skill that is not approved.
func (o *prepareOptions) load(ctx context.Context) (*skill.Skill, error) {
	cat, err := o.skills.OpenFor(ctx, o.name)
	if err != nil {
		return nil, err
	}
	e, err := library.Find(cat, o.name)
	if err != nil {
		return nil, err
	}
	t, err := e.Trust(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Runs() {
		return nil, failure.Denied(fmt.Errorf("skill %q is not trusted: nothing is fetched for it", e.Name()), cure.Trust(e.Canonical()))
	}
	return e.Load(ctx)
}

// prepare prepares the scripts of a skill, and its toolsets.
func (o *prepareOptions) prepare(ctx context.Context, host *script.Host, s *skill.Skill) (done, sets []script.Prepared, err error) {
	scripts, _ := script.List(s, o.settings.Survey())
	how := &script.PrepareOptions{Upgrade: o.upgrade, Since: o.sys.Now(), With: o.with, Build: o.build, Large: o.mayDownload}
	err = o.out.Busy("preparing the scripts and toolsets of "+s.Name(), func() error {
		if done, err = host.PrepareAll(ctx, s, scripts, how); err != nil {
			return err
		}
		for _, p := range toolset.Programs(s) {
			one, err := host.PrepareProgram(ctx, s, &p, how)
			if err != nil && one.Err == nil {
				return err
			}
			one.Scripts[0].Name = toolsetOf(&p)
			sets = append(sets, *one)
		}
		return nil
	})
	return done, sets, err
}

// mayDownload asks about a large download. Without a person the answer is no.
func (o *prepareOptions) mayDownload(ctx context.Context, d script.Download) (bool, error) {
	if o.large {
		return true, nil
	}
	return o.approver.Ask(ctx, &consent.Question{
		Text:    fmt.Sprintf("Download %s?", d.String()),
		Details: []string{d.Script + " needs these packages. Unpacked they are several times as large."},
	})
}

// failures joins the errors of all scripts.
func failures(done []script.Prepared) (failed error) {
	for _, p := range done {
		if p.Err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", names(&p), p.Err))
		}
	}
	return failed
}

// explain adds the command that allows a large download or a build, with what was asked for this time.
func (o *prepareOptions) explain(failed error, done []script.Prepared) error {
	f := failure.Explain(failed)
	for _, p := range done {
		command := o.settings.Cures().Of(p.Err, o.name).Command
		if p.Err != nil && (strings.Contains(command, " --") || strings.HasPrefix(command, "AGENT_")) {
			f.Hint = command + o.asked(command)
		}
	}
	return f
}

// asked returns the flags of this call that a command does not have.
func (o *prepareOptions) asked(command string) string {
	var more strings.Builder
	for _, p := range o.with {
		more.WriteString(" --with " + cure.Word(p))
	}
	for _, p := range o.build {
		more.WriteString(" --build " + cure.Word(p))
	}
	if o.large && !strings.Contains(command, " --large") {
		more.WriteString(" --large")
	}
	return more.String()
}

// names lists the scripts of a line.
func names(p *script.Prepared) string { return some(scriptsOf(p), 5) }

func scriptsOf(p *script.Prepared) []string {
	var out []string
	for _, sc := range p.Scripts {
		out = append(out, sc.Name)
	}
	return out
}

// some joins the first of many words.
func some(words []string, most int) string {
	if more := len(words) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], " "), more)
	}
	return strings.Join(words, " ")
}

// preparedScripts returns one object for each script, in the order of their names.
func preparedScripts(done []script.Prepared) []preparedJSON {
	out := []preparedJSON{}
	for _, p := range done {
		for i, sc := range p.Scripts {
			one := preparedJSON{Name: sc.Name, Needed: p.Needed, Made: p.Made && i == 0, Declared: p.Declared,
				Packages: append([]string{}, p.Packages...), Undeclared: p.Undeclared, Unbuilt: p.Unbuilt}
			if p.Err != nil {
				one.Error = p.Err.Error()
			}
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b preparedJSON) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (o *prepareOptions) print(s *skill.Skill, scripts, sets []script.Prepared) error {
	var rows [][]string
	var idle []string // what needs nothing
	var undeclared []string
	done := slices.Concat(scripts, sets)
	for _, p := range done {
		undeclared = append(undeclared, p.Undeclared...)
		if state(&p) == "needs nothing" {
			idle = append(idle, scriptsOf(&p)...)
			continue
		}
		rows = append(rows, []string{names(&p), state(&p), output.OrDash(p.Declared), output.OrDash(some(p.Packages, 8))})
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		rows = append(rows, []string{some(idle, 5), "needs nothing", "-", "-"})
	}
	if len(rows) == 0 {
		o.out.Remark("the skill has no scripts and no toolsets with files")
		return nil
	}
	if err := o.out.Table([]string{"FOR", "STATE", "FROM", "PACKAGES"}, rows); err != nil {
		return err
	}
	if unbuilt := unbuiltPackages(done); len(unbuilt) > 0 {
		o.out.Remark("these packages have install scripts, which did not run: " + strings.Join(unbuilt, " "))
	}
	if len(undeclared) > 0 {
		slices.Sort(undeclared)
		undeclared = slices.Compact(undeclared)
		o.out.Remark(fmt.Sprintf("the %s import %s, which the skill does not declare; add them with: %s",
			importers(scripts, sets), packages.ImportsText(undeclared), cure.Prepare(s.Canonical(), script.Packages(undeclared...))))
	}
	return nil
}

// importers says whether scripts or toolsets import what is not declared.
func importers(scripts, sets []script.Prepared) string {
	lacks := func(p script.Prepared) bool { return len(p.Undeclared) > 0 }
	switch {
	case !slices.ContainsFunc(sets, lacks):
		return "scripts"
	case !slices.ContainsFunc(scripts, lacks):
		return "toolsets"
	}
	return "scripts and toolsets"
}

func state(p *script.Prepared) string {
	switch {
	case p.Err != nil:
		return "failed"
	case !p.Needed && len(p.Undeclared) > 0:
		return "undeclared"
	case !p.Needed:
		return "needs nothing"
	case p.Made:
		return "prepared"
	}
	return "ready"
}

// unbuiltPackages lists the packages of all scripts whose install scripts did not run.
func unbuiltPackages(done []script.Prepared) []string {
	var out []string
	for _, p := range done {
		out = append(out, p.Unbuilt...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
