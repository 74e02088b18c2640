package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
)

type trustOptions struct {
	root      string
	yes, json bool
}

func trustCommand(a *app) *cobra.Command {
	o := &trustOptions{}
	c := &cobra.Command{
		Use:   "trust NAME",
		Short: "Let the scripts of a skill run",
		Long: `Approve the present content of a skill, so that its scripts may run. What would be approved is shown first: its
files, its digest, what it asks for, and what has changed since the last approval. Any later change asks again.

A skill that holds a link out of itself, or a file that is none, has no digest and cannot be approved (exit code 4).

With --root everything below a folder is trusted, later changes included: only for a folder of your own.
Without a terminal nothing is approved unless --yes says so.`,
		Example: `  agent skill trust csv-report
  agent skill trust --root ~/src/skills`,
		Args:              oneOrRoot(&o.root),
		ValidArgsFunction: a.completeSkills,
		RunE: func(c *cobra.Command, args []string) error {
			if o.root != "" {
				return a.trustRoot(c.Context(), o)
			}
			return a.trust(c.Context(), args[0], o)
		},
	}
	c.Flags().StringVar(&o.root, "root", "", "trust everything below `DIR`")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// oneOrRoot wants a name, or --root and no name.
func oneOrRoot(root *string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if *root != "" {
			return arguments(0, 0, "no name beside --root")(c, args)
		}
		return arguments(1, 1, "the name of a skill, or --root DIR")(c, args)
	}
}

func (a *app) trust(ctx context.Context, name string, o *trustOptions) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	e, err := find(cat, name)
	if err != nil {
		return err
	}
	t, err := trustIn(ctx, e)
	if err != nil {
		return err
	}
	if cfg, _ := a.settings(); t.Runs() && cfg.Want.Mode != skill.SelectAllUntrusted {
		return a.saidTrust(e, t.String(), fmt.Sprintf("%s is trusted already (%s)", e.Name(), t), o.json)
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := a.propose(ctx, s)
	if err != nil {
		return err
	}
	if !o.json || !o.yes {
		a.showProposal(p)
	}
	if err := a.consent(ctx, o.yes, fmt.Sprintf("Trust this content of %q?", e.Canonical())); err != nil {
		return err
	}
	if err := a.approve(ctx, p); err != nil {
		return err
	}
	return a.saidTrust(e, skill.TrustApproved.String(), fmt.Sprintf("Trusted %s [%s]", e.Name(), short(p.approval.Digest)), o.json)
}

// consent returns nil when the person said yes, by flag or to the question, and a denial else.
func (a *app) consent(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !a.ui.CanAsk() {
		return denied(errors.New("nobody is there to ask, and nothing was approved"), "--yes approves what is shown without asking")
	}
	said, err := a.ask(ctx, question)
	if err == nil && !said {
		err = denied(errors.New("not approved, nothing was changed"), "")
	}
	return err
}

func (a *app) saidTrust(e skill.Entry, state, text string, json bool) error {
	if json {
		return a.printJSON(map[string]any{"skill": map[string]string{"name": e.Name(), "name_canonical": e.Canonical(), "trust": state}})
	}
	a.ui.Printf("%s\n", text)
	return nil
}

func (a *app) trustRoot(ctx context.Context, o *trustOptions) error {
	dir, err := realFolder(a.abs(o.root))
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(fmt.Errorf("there is no folder %q", o.root), "name the folder that holds the skills")
	} else if err != nil {
		return usage(fmt.Errorf("%q is no folder: %w", o.root, err), "name the folder that holds the skills")
	}
	store, err := a.editTrust()
	if err != nil {
		return err
	}
	if err := a.consent(ctx, o.yes, fmt.Sprintf("Trust every skill below %s, with all later changes?", dir)); err != nil {
		return err
	}
	if err := store.AddRoot(ctx, dir); err != nil {
		return err
	}
	return a.saidRoot(dir, "Trusted everything below", o.json)
}

// realFolder returns the path of a folder without symbolic links.
func realFolder(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return dir, err
}

func (a *app) saidRoot(dir, text string, json bool) error {
	if json {
		return a.printJSON(map[string]any{"root": dir})
	}
	a.ui.Printf("%s %s\n", text, dir)
	return nil
}
