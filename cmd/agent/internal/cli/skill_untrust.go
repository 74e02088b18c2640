package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

type untrustOptions struct {
	sys    *setup.System
	out    *output.Printer
	trust  *grants.Trust
	skills *library.Library
	tools  *toolkit.Toolkit

	name, root string
	json       bool
}

func newUntrustCommand(s *app.Services, run func(context.Context, *untrustOptions) error) *cobra.Command {
	o := &untrustOptions{sys: s.Sys, out: s.Out, trust: s.Trust, skills: s.Skills, tools: s.Tools}
	c := &cobra.Command{
		Use:   "untrust NAME",
		Short: "Withdraw the trust in a skill or a folder",
		Long: `Withdraw the approvals of a skill and what was granted to it, and remove the private homes of the skills of that name.
With --root, withdraw the trust in a folder.`,
		Example: `  agent skill untrust csv-report
  agent skill untrust --root ~/src/skills`,
		Args:              oneOrRoot(&o.root),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			if o.root == "" {
				o.name = args[0]
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.root, "root", "", "withdraw the trust in everything below `DIR`")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// runUntrust also works for a skill that no longer exists.
func runUntrust(ctx context.Context, o *untrustOptions) error {
	if o.root != "" {
		return o.untrustRoot(ctx)
	}
	name := o.name
	if err := manifest.CheckName(name); err != nil {
		return err
	}
	store, err := o.trust.Edit()
	if err != nil {
		return err
	}
	was, err := store.Revoke(ctx, name)
	if err != nil {
		return err
	}
	homes, err := clearHomes(o.tools, name)
	if err != nil {
		return err
	}
	cleared := homes[manifest.Canonical(name)]
	still := o.stillTrusted(ctx)
	switch {
	case !was && cleared == 0:
		err := fmt.Errorf("skill %q was not approved", name)
		return &failure.Error{Exit: failure.ExitNotFound, Code: "not_found", Hint: cmp.Or(still, "agent doctor lists what is trusted"), Err: err}
	case still != "":
		o.out.Warn(fmt.Sprintf("%s is below a trusted folder and stays trusted", name))
		o.out.Hint(still)
	}
	if o.json {
		return o.out.JSON(map[string]any{"skill": map[string]string{
			"name": name, "name_canonical": manifest.Canonical(name), "trust": skill.TrustNone.String()}})
	}
	if was {
		o.out.Printf("No content of %s is trusted any more\n", name)
	}
	if cleared > 0 {
		o.out.Printf("Removed its private home (%s)\n", ui.Safe(output.Count(cleared, "file")))
	}
	return nil
}

// clearHomes removes the private homes of all skills of the names and returns how many files were in them, by canonical name.
func clearHomes(tools *toolkit.Toolkit, names ...string) (files map[string]int, err error) {
	host, err := tools.Host()
	if err != nil {
		return nil, err
	}
	files = map[string]int{}
	for _, name := range names {
		files[manifest.Canonical(name)] = 0
	}
	for _, home := range host.Homes() {
		if _, ok := files[home.Skill]; !ok {
			continue
		}
		if err := host.ClearHome(home); err != nil {
			return files, err
		}
		files[home.Skill] += home.Files
	}
	return files, nil
}

// clearCaches removes what the scripts of all skills of the name keep in the cache and returns how many files that was.
func clearCaches(tools *toolkit.Toolkit, name string) (files int, err error) {
	host, err := tools.Host()
	if err != nil {
		return 0, err
	}
	return host.ClearCaches(manifest.Canonical(name))
}

// stillTrusted returns the command that takes the trust in a folder back which the skill is below, "" if there is none.
func (o *untrustOptions) stillTrusted(ctx context.Context) string {
	cat, err := o.skills.OpenFor(ctx, o.name)
	if err != nil {
		return ""
	}
	e, err := cat.Lookup(o.name)
	if err != nil {
		return ""
	}
	at := location(ctx, e)
	for _, root := range o.trust.Known().Roots() {
		if at != "" && paths.WithinReal(root, at) {
			return cure.UntrustRoot(root)
		}
	}
	return ""
}

func (o *untrustOptions) untrustRoot(ctx context.Context) error {
	store, err := o.trust.Edit()
	if err != nil {
		return err
	}
	dir := o.sys.Abs(o.root)
	if real, err := filepath.EvalSymlinks(dir); err == nil { // a folder that is gone keeps the name it had
		dir = real
	}
	was, err := store.RemoveRoot(ctx, dir)
	if err != nil {
		return err
	}
	if !was {
		err := fmt.Errorf("folder %q was not trusted", dir)
		return &failure.Error{Exit: failure.ExitNotFound, Code: "not_found", Hint: "agent doctor lists what is trusted", Err: err}
	}
	return sayRoot(o.out, dir, "Not trusted any more:", o.json)
}
