package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

type prepareOptions struct {
	upgrade, json bool
}

// preparedJSON is one script in the output of prepare --json.
type preparedJSON struct {
	Name     string   `json:"name"`
	Needed   bool     `json:"needed"`   // it has dependencies
	Made     bool     `json:"made"`     // by this call; false: they were there
	Packages []string `json:"packages"` // "name==version"
	Error    string   `json:"error,omitempty"`
}

func prepareCommand(a *app) *cobra.Command {
	o := &prepareOptions{}
	c := &cobra.Command{
		Use:   "prepare NAME",
		Short: "Fetch the dependencies of a skill's scripts ahead",
		Long: `Make the environments that the Python scripts of a skill need, so that they run at once, and without a network.
Nothing of the skill is executed. What was resolved once stays; --upgrade resolves anew. A script that requires a
Python which is not there has failed, also one without dependencies.`,
		Example: `  agent skill prepare kalshi-markets
  agent skill prepare kalshi-markets --upgrade`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: a.completeSkills,
		RunE:              func(c *cobra.Command, args []string) error { return a.prepare(c.Context(), args[0], o) },
	}
	c.Flags().BoolVar(&o.upgrade, "upgrade", false, "resolve the dependencies anew")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (a *app) prepare(ctx context.Context, name string, o *prepareOptions) error {
	if err := a.needRoom(cacheFolder); err != nil {
		return err
	}
	s, err := a.loadTrusted(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	host, begun := a.scripts(), a.sys.Now()
	var failed error
	done := []preparedJSON{}
	scripts, _ := script.List(s)
	for _, sc := range scripts {
		p, err := a.prepareOne(ctx, host, s, sc, &script.PrepareOptions{Upgrade: o.upgrade, Since: begun})
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", sc.Name, err))
		}
		done = append(done, *p)
	}
	if o.json {
		err = a.printJSON(map[string]any{"skill": map[string]any{"name": s.Name(), "scripts": done}})
	} else {
		err = a.printPrepared(done)
	}
	if failed != nil {
		return failed
	}
	return err
}

// loadTrusted opens a skill whose scripts may run: what it needs is not fetched for one that nobody approved.
func (a *app) loadTrusted(ctx context.Context, name string) (*skill.Skill, error) {
	cat, err := a.catalog(ctx)
	if err != nil {
		return nil, err
	}
	e, err := find(cat, name)
	if err != nil {
		return nil, err
	}
	t, err := e.Trust(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Runs() {
		return nil, denied(fmt.Errorf("skill %q is not trusted: nothing is fetched for it", e.Name()), trustCure(e.Canonical()))
	}
	return e.Load(ctx)
}

func (a *app) prepareOne(ctx context.Context, host *script.Host, s *skill.Skill, sc script.Script, o *script.PrepareOptions) (*preparedJSON, error) {
	out := &preparedJSON{Name: sc.Name, Packages: []string{}}
	err := a.busy("preparing the dependencies of "+sc.Name, func() error {
		p, err := host.Prepare(ctx, s, sc, o)
		if p != nil {
			out.Needed, out.Made, out.Packages = p.Needed, p.Made, append(out.Packages, p.Packages...)
		}
		if err != nil {
			out.Error = err.Error()
		}
		return err
	})
	return out, err
}

func (a *app) printPrepared(done []preparedJSON) error {
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
		rows[i] = []string{p.Name, state, orDash(strings.Join(p.Packages, " "))}
	}
	if len(rows) == 0 {
		if !a.flags.quiet {
			a.ui.Hint("the skill has no scripts")
		}
		return nil
	}
	return a.ui.Table([]string{"SCRIPT", "STATE", "PACKAGES"}, rows)
}
