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

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

type trustOptions struct {
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings
	trust    *grants.Trust
	skills   *library.Library
	approver *consent.Approver
	consent  *consent.Consent

	name, root string
	given      want.Set
	yes, json  bool
}

func newTrustCommand(s *app.Services, run func(context.Context, *trustOptions) error) *cobra.Command {
	o := &trustOptions{sys: s.Sys, out: s.Out, settings: s.Settings, trust: s.Trust, skills: s.Skills, approver: s.Approver, consent: s.Consent}
	c := &cobra.Command{
		Use:   "trust NAME",
		Short: "Let the scripts of a skill run",
		Long: `Approve the present content of a skill, so its scripts may run. You first see its files, its digest, what it asks for, and
what has changed since the last approval. After any later change you are asked again.

The question also shows which variables of your environment the scripts read, what the skill contacts, starts, installs and
writes as far as a scan shows it, and what its scripts would get. Press "e" to change that. With --yes nothing is asked: the skill gets what its manifest declares under permissions, and what --env, --home,
--read, --write and --net name. Without a terminal, nothing is approved unless you pass --yes.

A skill with a special file, or with a link that leads out of it, has no digest and cannot be approved (exit code 4).

--root DIR trusts everything below a folder, with all later changes. Use it only for a folder of your own.`,
		Example: `  agent skill trust csv-report
  agent skill trust csv-report --yes --env REPORT_TOKEN
  agent skill trust --root ~/src/skills`,
		Args:              oneOrRoot(&o.root),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			if o.root == "" {
				o.name = args[0]
			} else if len(o.given) > 0 {
				return failure.Usage(errors.New("a grant is for one skill, not for a folder"), cure.Grant("NAME", nil))
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.root, "root", "", "trust everything below `DIR`")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	givenFlags(c, s, &o.given)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// oneOrRoot requires a name, or --root without a name.
func oneOrRoot(root *string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if *root != "" {
			return arguments(0, 0, "no name with --root")(c, args)
		}
		return arguments(1, 1, "the name of a skill, or --root DIR")(c, args)
	}
}

func runTrust(ctx context.Context, o *trustOptions) error {
	if o.root != "" {
		return o.trustRoot(ctx)
	}
	cat, err := o.skills.OpenFor(ctx, o.name)
	if err != nil {
		return err
	}
	e, err := library.Find(cat, o.name)
	if err != nil {
		return err
	}
	t, err := grants.TrustIn(ctx, e)
	if err != nil {
		return err
	}
	if t.Runs() && o.settings.Config().Want.Mode != skill.SelectAllUntrusted {
		if len(o.given) > 0 {
			return failure.Usage(fmt.Errorf("%s is trusted already (%s)", e.Name(), t), "give it more with "+cure.Grant(e.Canonical(), o.given))
		}
		return sayTrust(o.out, e, t.String(), fmt.Sprintf("%s is trusted already (%s)", e.Name(), t), o.json)
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.given, err = o.settings.Grantable(o.given, s.Manifest()); err != nil {
		return err
	}
	p, err := o.consent.Propose(ctx, s)
	if err != nil {
		return err
	}
	p.Give(o.given, o.yes)
	if err := o.confirm(ctx, p, fmt.Sprintf("Trust this content of %q?", e.Canonical())); err != nil {
		return err
	}
	if err := o.consent.Clear(ctx, e.Canonical(), true, p); err != nil {
		return err
	}
	if err := o.consent.Approve(ctx, p); err != nil {
		return err
	}
	return sayTrust(o.out, e, skill.TrustApproved.String(), fmt.Sprintf("Trusted %s [%s]", e.Name(), output.Short(p.Digest())), o.json)
}

// confirm returns nil if --yes is given or the answer is yes, and otherwise an error.
func (o *trustOptions) confirm(ctx context.Context, p *consent.Proposal, question string) error {
	switch {
	case o.yes && o.json:
		return nil
	case o.yes: // the first files, and how many more there are
		lines, _ := p.Short(o.sys.Home)
		o.out.Details(lines)
		return nil
	case !o.approver.There():
		o.out.Details(p.Lines())
		return failure.Denied(errors.New("no terminal to ask on, so nothing was approved"), "--yes approves it without asking")
	}
	return refused(o.consent.Ask(ctx, p, question))
}

// confirmRoot is confirm for a folder.
func (o *trustOptions) confirmRoot(ctx context.Context, question string) error {
	if o.yes {
		return nil
	}
	return refused(o.approver.Ask(ctx, &consent.Question{Text: question,
		Nobody: "no terminal to ask on, so nothing was approved", Instead: "--yes approves it without asking"}))
}

// refused returns an error for the answer no.
func refused(yes bool, err error) error {
	if err == nil && !yes {
		err = failure.Denied(errors.New("not approved; nothing was changed"), "")
	}
	return err
}

func sayTrust(out *output.Printer, e skill.Entry, state, text string, json bool) error {
	if json {
		return out.JSON(map[string]any{"skill": map[string]string{"name": e.Name(), "name_canonical": e.Canonical(), "trust": state}})
	}
	out.Printf("%s\n", text)
	return nil
}

func (o *trustOptions) trustRoot(ctx context.Context) error {
	dir, err := realFolder(o.sys.Abs(o.root))
	if errors.Is(err, fs.ErrNotExist) {
		return failure.NotFound(fmt.Errorf("folder %q does not exist", o.root), "name the folder that holds the skills")
	} else if err != nil {
		return failure.Usage(fmt.Errorf("%q is not a folder: %w", o.root, err), "name the folder that holds the skills")
	}
	store, err := o.trust.Edit()
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Trust every skill below %s, with all later changes?", dir)
	if risk := trust.RootRisk(dir); risk != "" {
		o.out.Warn(risk + ", who could change the skills that you trust")
		question = fmt.Sprintf("Trust every skill below %s, with all later changes, also those of other users?", dir)
	}
	if err := o.confirmRoot(ctx, question); err != nil {
		return err
	}
	if err := store.AddRoot(ctx, dir); err != nil {
		return err
	}
	return sayRoot(o.out, dir, "Trusted everything below", o.json)
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

func sayRoot(out *output.Printer, dir, text string, json bool) error {
	if json {
		return out.JSON(map[string]any{"root": dir})
	}
	out.Printf("%s %s\n", text, dir)
	return nil
}
