package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// preparedJSON is one script in the output of prepare --json.
type preparedJSON struct {
	Name     string   `json:"name"`
	Needed   bool     `json:"needed"`            // it has dependencies
	Made     bool     `json:"made"`              // by this call; false: they were there
	Packages []string `json:"packages"`          // "name==version"
	Unbuilt  []string `json:"unbuilt,omitempty"` // npm packages whose install scripts did not run, "name@version"
	Error    string   `json:"error,omitempty"`
}

type prepareOptions struct {
	sys      *app.System
	out      *app.Printer
	settings *app.Settings
	skills   *app.Library
	tools    *app.Toolkit

	name          string
	upgrade, json bool
}

func newPrepareCommand(s *app.Services, run func(context.Context, *prepareOptions) error) *cobra.Command {
	o := &prepareOptions{sys: s.Sys, out: s.Out, settings: s.Settings, skills: s.Skills, tools: s.Tools}
	c := &cobra.Command{
		Use:   "prepare NAME",
		Short: "Fetch the dependencies of a skill's scripts in advance",
		Long: `Make the environments that the Python, JavaScript and TypeScript scripts of a skill need, so they start at once and
without a network. Nothing of the skill or of the packages is executed. Versions that were resolved stay; --upgrade
resolves them again. A script that requires a Python version that is not installed fails, even one without dependencies.

npm packages are those of package.json with the lock of npm, pnpm or bun next to it; without a lock npm chooses the
versions. They come from the registry of your npm settings.`,
		Example: `  agent skill prepare kalshi-markets
  agent skill prepare kalshi-markets --upgrade`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.upgrade, "upgrade", false, "resolve the dependencies again")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runPrepare(ctx context.Context, o *prepareOptions) error {
	if err := o.settings.NeedRoom(app.CacheFolder); err != nil {
		return err
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
	begun := o.sys.Now()
	var failed error
	done := []preparedJSON{}
	scripts, _ := script.List(s, o.settings.Survey())
	for _, sc := range scripts {
		p, err := o.one(ctx, host, s, sc, begun)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", sc.Name, err))
		}
		done = append(done, *p)
	}
	if o.json {
		err = o.out.JSON(map[string]any{"skill": map[string]any{"name": s.Name(), "scripts": done}})
	} else {
		err = o.print(done)
	}
	if failed != nil {
		return failed
	}
	return err
}

// load opens a skill whose scripts may run: nothing is fetched for a skill that is not approved.
func (o *prepareOptions) load(ctx context.Context) (*skill.Skill, error) {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return nil, err
	}
	e, err := app.Find(cat, o.name)
	if err != nil {
		return nil, err
	}
	t, err := e.Trust(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Runs() {
		return nil, app.Denied(fmt.Errorf("skill %q is not trusted: nothing is fetched for it", e.Name()), app.TrustCure(e.Canonical()))
	}
	return e.Load(ctx)
}

func (o *prepareOptions) one(ctx context.Context, host *script.Host, s *skill.Skill, sc script.Script, begun time.Time) (*preparedJSON, error) {
	out := &preparedJSON{Name: sc.Name, Packages: []string{}}
	err := o.out.Busy("preparing the dependencies of "+sc.Name, func() error {
		p, err := host.Prepare(ctx, s, sc, &script.PrepareOptions{Upgrade: o.upgrade, Since: begun})
		if p != nil {
			out.Needed, out.Made, out.Packages, out.Unbuilt = p.Needed, p.Made, append(out.Packages, p.Packages...), p.Unbuilt
		}
		if err != nil {
			out.Error = err.Error()
		}
		return err
	})
	return out, err
}

func (o *prepareOptions) print(done []preparedJSON) error {
	rows := make([][]string, len(done))
	for i, p := range done {
		state := "ready"
		switch {
		case p.Error != "":
			state = "failed"
		case !p.Needed:
			state = "needs nothing"
		case p.Made:
			state = "prepared"
		}
		rows[i] = []string{p.Name, state, app.OrDash(strings.Join(p.Packages, " "))}
	}
	if len(rows) == 0 {
		o.out.Remark("the skill has no scripts")
		return nil
	}
	if unbuilt := unbuiltPackages(done); len(unbuilt) > 0 {
		o.out.Remark("these packages have install scripts, which did not run: " + strings.Join(unbuilt, " "))
	}
	return o.out.Table([]string{"SCRIPT", "STATE", "PACKAGES"}, rows)
}

// unbuiltPackages lists the packages of all scripts whose install scripts did not run.
func unbuiltPackages(done []preparedJSON) []string {
	var out []string
	for _, p := range done {
		out = append(out, p.Unbuilt...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
