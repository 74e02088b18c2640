package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

type grantOptions struct {
	sys      *setup.System
	settings *setup.Settings
	out      *output.Printer
	trust    *grants.Trust
	skills   *library.Library
	grants   *grants.Grants
	sandbox  *sandbox.Sandbox
	approver *consent.Approver

	name           string
	given          want.Set
	all, yes, json bool
}

// wantFlag is a flag that adds wants of a kind to a set. Its values are separated by commas if the kind's names have none.
type wantFlag struct {
	set  *want.Set
	kind want.Kind
}

// String returns the names that were given.
func (f *wantFlag) String() string {
	if f.set == nil {
		return ""
	}
	return strings.Join(f.set.Named(f.kind), ",")
}

// Type returns the name of the flag's values, for help and completion.
func (f *wantFlag) Type() string {
	if f.kind.Single() {
		return "bool"
	}
	return "strings"
}

// Set adds what one flag names.
func (f *wantFlag) Set(text string) error {
	names := []string{text}
	switch {
	case f.kind.Single():
		if on, err := strconv.ParseBool(text); err != nil || !on {
			return err
		}
		names = []string{""}
	case f.kind.Lists():
		names = strings.Split(text, ",")
	}
	*f.set = f.set.Add(want.Each(f.kind, want.User, names...)...)
	return nil
}

// givenFlags adds the flags that say what is granted or revoked.
func givenFlags(c *cobra.Command, s *app.Services, given *want.Set) {
	for _, k := range want.Kinds() {
		if k.Usage() == "" {
			continue
		}
		name := k.Title(want.User)
		c.Flags().Var(&wantFlag{given, k}, name, k.Usage())
		if k.Single() {
			c.Flags().Lookup(name).NoOptDefVal = "true"
		}
		switch {
		case k == want.Variable:
			_ = c.RegisterFlagCompletionFunc(name, completeVariables(s))
		case k.Files():
			_ = c.MarkFlagDirname(name)
		}
	}
}

func newGrantCommand(s *app.Services, run func(context.Context, *grantOptions) error) *cobra.Command {
	o := &grantOptions{sys: s.Sys, settings: s.Settings, out: s.Out, trust: s.Trust, skills: s.Skills, grants: s.Grants, sandbox: s.Sandbox, approver: s.Approver}
	c := &cobra.Command{
		Use:   "grant NAME",
		Short: "Give the scripts of a skill a variable, your home, a folder or a host",
		Long: `Let the scripts of a skill use variables of your environment, your home, folders, or hosts of the network.

A grant holds for the present content of the skill. When the content changes, the grant ends. The next run then shows what
changed and the command that repeats the grant. This also holds for bundled skills and for skills in a trusted folder.

--env takes exact names. A script gets the key of a model provider only if you grant it by name. Variables that make
programs load or run other code, such as LD_PRELOAD or PATH, cannot be granted.

--net opens ports 443 and 80 of a host, or the port that you name. The host may be on this machine or in your network.
--write does not open AGENTS.md, .npmrc and other files that programs obey; --write FILE opens one of them. "/", your home
and folders with keys are refused; to read them with --read you are asked, or pass --yes. If "agent doctor" shows no sandbox, scripts can reach everything that you can.`,
		Example: `  agent skill grant pr-review --env GITHUB_TOKEN --net api.github.com
  agent skill grant images --net localhost:8188
  agent skill grant notes --home --write ~/notes
  agent skill grant setup --write . --write AGENTS.md`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	givenFlags(c, s, &o.given)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func newRevokeCommand(s *app.Services, run func(context.Context, *grantOptions) error) *cobra.Command {
	o := &grantOptions{sys: s.Sys, settings: s.Settings, out: s.Out, trust: s.Trust, skills: s.Skills, grants: s.Grants, sandbox: s.Sandbox}
	c := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take back what was granted to a skill",
		Long: `Take back what "agent skill grant" or an answer gave to the scripts of a skill. What SKILL.md declares in its
permissions, such as a variable or a host, is then withheld, also when the content changes, until it is granted again.`,
		Example: `  agent skill revoke pr-review --env GITHUB_TOKEN
  agent skill revoke pr-review --all`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	givenFlags(c, s, &o.given)
	c.Flags().BoolVar(&o.all, "all", false, "everything that was granted")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runGrant(ctx context.Context, o *grantOptions) error {
	s, err := o.load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(o.given) == 0 {
		return failure.Usage(errors.New("nothing to grant is named"), "such as --env GITHUB_TOKEN, --net HOST, --home or --write DIR")
	}
	if o.given, err = o.settings.Grantable(o.given, s.Manifest()); err != nil {
		return err
	}
	if err := o.confirm(ctx, s); err != nil {
		return err
	}
	lapsed, err := o.grants.View(ctx, s)
	if err != nil {
		return err
	}
	now, err := o.grants.Edit(ctx, s, o.given, nil)
	if err != nil {
		return err
	}
	if lapsed != nil && lapsed.Lapsed && grants.ViewOf(now, false).Lacks(lapsed) {
		o.out.Remark("what the former content had is not granted to this one: " + lapsed.Repeat)
	}
	o.remark(ctx, s)
	return o.show(s, "Granted to", now)
}

// confirm asks about what opens much, such as a folder of keys.
func (o *grantOptions) confirm(ctx context.Context, s *skill.Skill) error {
	var opens []string
	for _, w := range o.given {
		if d := o.settings.Policy().Decide(w); d.Level == policy.Asks {
			opens = append(opens, fmt.Sprintf("  %s: %s", want.Of(w.Kind, w.Name), d.Why))
		}
	}
	if o.yes || len(opens) == 0 {
		return nil
	}
	return refused(o.approver.Ask(ctx, &consent.Question{Text: fmt.Sprintf("Give this to the scripts of %q?", s.Canonical()), Details: opens,
		Nobody:  "no terminal to ask on, so nothing was granted: " + strings.TrimSpace(strings.Join(opens, ";")),
		Instead: "--yes grants it without asking"}))
}

// remark says why a grant has no effect now.
func (o *grantOptions) remark(ctx context.Context, s *skill.Skill) {
	if t, err := s.Trust(ctx); err == nil && !t.Runs() {
		o.out.Remark("its scripts do not run yet: " + cure.Trust(s.Canonical()))
	}
	if text := o.unconfined(ctx); text != "" {
		o.out.Warn(text)
	}
	if o.trust.Everything() {
		o.out.Warn("with AGENT_SKILLS=all-untrusted no grant has an effect")
	}
	for _, name := range o.given.Named(want.Variable) {
		if _, set := o.sys.Lookup(name); !set && !strings.ContainsAny(name, "*?[") {
			o.out.Warn(name + " is not set now: it passes when it is")
		}
	}
}

// unconfined says that folders and hosts are granted where no sandbox confines scripts to them, "" where one does.
func (o *grantOptions) unconfined(ctx context.Context) string {
	state, err := o.sandbox.State(ctx)
	if err != nil {
		return ""
	}
	have := &runner.Sandbox{Tier: state.Tier}
	files, others := o.given.Split(func(w want.Want) bool { return w.Kind.Files() })
	open, _ := others.Split(func(w want.Want) bool { return !w.Kind.Enforced() })
	switch {
	case len(open) > 0:
		return "nothing confines scripts to " + want.Of(open[0].Kind, open[0].Name).String() + ": they have what you have, with or without --" + open[0].Kind.Title(want.User)
	case len(files) > 0 && !have.ConfinesFiles():
		return "no sandbox confines files here: scripts read and write what you can, with or without --read and --write"
	case len(o.given.Kind(want.Host)) > 0 && !have.ConfinesNetwork():
		return "no sandbox confines the network here: scripts reach every host, with or without --net"
	}
	return ""
}

func runRevoke(ctx context.Context, o *grantOptions) error {
	if o.all != (len(o.given) == 0) {
		return failure.Usage(errors.New("say what to revoke, or --all"), "agent skill info "+o.name+" shows what it has")
	}
	given, err := o.settings.Usual(o.given)
	if err != nil {
		return err
	}
	s, err := o.load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.all {
		had, err := o.grants.RevokeAll(ctx, s)
		if err == nil && !had {
			err = failure.NotFound(fmt.Errorf("nothing was granted to %s", s.Name()), "agent doctor lists all grants")
		}
		if err != nil {
			return err
		}
		return o.show(s, "Revoked from", &trust.Grant{Name: s.Canonical()})
	}
	now, err := o.grants.Edit(ctx, s, nil, given)
	if err != nil {
		return err
	}
	return o.show(s, "Left to", now)
}

func (o *grantOptions) load(ctx context.Context) (*skill.Skill, error) {
	cat, err := o.skills.OpenFor(ctx, o.name)
	if err != nil {
		return nil, err
	}
	e, err := library.Find(cat, o.name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}

// show prints what a skill has now.
func (o *grantOptions) show(s *skill.Skill, title string, now *trust.Grant) error {
	view := grants.ViewOf(now, false)
	if o.json {
		return o.out.JSON(map[string]any{"skill": map[string]any{"name": s.Name(), "name_canonical": s.Canonical(), "grants": view}})
	}
	text := view.Text()
	if text == "" {
		o.out.Printf("%s has nothing of yours\n", s.Name())
		return nil
	}
	o.out.Printf("%s %s [%s]\n", ui.Safe(title), s.Name(), output.Short(now.Digest))
	o.out.Facts([][2]string{{"has", text}})
	return nil
}
