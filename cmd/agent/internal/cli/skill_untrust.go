package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

func untrustCommand(a *app) *cobra.Command {
	o := &trustOptions{}
	c := &cobra.Command{
		Use:   "untrust NAME",
		Short: "Take the trust in a skill or a folder back",
		Example: `  agent skill untrust csv-report
  agent skill untrust --root ~/src/skills`,
		Args:              oneOrRoot(&o.root),
		ValidArgsFunction: a.completeSkills,
		RunE: func(c *cobra.Command, args []string) error {
			if o.root != "" {
				return a.untrustRoot(c.Context(), o)
			}
			return a.untrust(c.Context(), args[0], o)
		},
	}
	c.Flags().StringVar(&o.root, "root", "", "take back the trust in everything below `DIR`")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// untrust works for a skill that is not there any more, too.
func (a *app) untrust(ctx context.Context, name string, o *trustOptions) error {
	if err := manifest.CheckName(name); err != nil {
		return err
	}
	store, err := a.editTrust()
	if err != nil {
		return err
	}
	was, err := store.Revoke(ctx, name)
	if err != nil {
		return err
	}
	if !was {
		err := fmt.Errorf("no content of %q was approved", name)
		return &failure{exit: ExitNotFound, code: "not_found", hint: "agent doctor shows what is trusted", err: err}
	}
	a.stillTrusted(ctx, name)
	if o.json {
		return a.printJSON(map[string]any{"skill": map[string]string{
			"name": name, "name_canonical": manifest.Canonical(name), "trust": skill.TrustNone.String()}})
	}
	a.ui.Printf("No content of %s is trusted any more\n", name)
	return nil
}

// stillTrusted warns when the skill lies below a trusted folder, which an approval less does not change.
func (a *app) stillTrusted(ctx context.Context, name string) {
	cat, err := a.catalog(ctx)
	if err != nil {
		return
	}
	if e, err := cat.Lookup(name); err == nil {
		if t, err := e.Trust(ctx); err == nil && t == skill.TrustRoot {
			a.warn(fmt.Sprintf("%s lies below a trusted folder and stays trusted: \"agent skill untrust --root DIR\"", name))
		}
	}
}

func (a *app) untrustRoot(ctx context.Context, o *trustOptions) error {
	store, err := a.editTrust()
	if err != nil {
		return err
	}
	dir := a.abs(o.root)
	if real, err := filepath.EvalSymlinks(dir); err == nil { // a folder that is gone keeps the name it had
		dir = real
	}
	was, err := store.RemoveRoot(ctx, dir)
	if err != nil {
		return err
	}
	if !was {
		err := fmt.Errorf("the folder %q was not trusted", dir)
		return &failure{exit: ExitNotFound, code: "not_found", hint: "agent doctor shows what is trusted", err: err}
	}
	return a.saidRoot(dir, "Not trusted any more:", o.json)
}
