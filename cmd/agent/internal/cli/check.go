package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// checked is one line of agent --check.
type checked struct {
	Name     string `json:"name"`
	Enabled  bool   `json:"enabled"` // the effective state: AGENT_SKILLS decides where it is set
	OK       bool   `json:"ok"`
	Scripts  int    `json:"scripts"`
	Toolsets int    `json:"toolsets"`
	SHA      string `json:"sha,omitempty"`
	Problem  string `json:"problem,omitempty"`

	fails bool // an enabled skill that is broken: exit code 1
}

type checkOptions struct {
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library
	packages *packages.Packages
	sandbox  *sandbox.Sandbox
	tools    *toolkit.Toolkit

	json bool
}

func newCheckOptions(s *app.Services, json bool) *checkOptions {
	return &checkOptions{sys: s.Sys, out: s.Out, settings: s.Settings, skills: s.Skills, packages: s.Packages, sandbox: s.Sandbox, tools: s.Tools, json: json}
}

// runCheck prints the block of agent --check, and what confines scripts. It fails when a skill that is enabled cannot be loaded,
// and when there is not the sandbox that is required.
func runCheck(ctx context.Context, o *checkOptions) error {
	cat, err := o.skills.OpenQuietly(ctx) // the block lists the problems
	if err != nil {
		return err
	}
	broken, err := o.tools.BrokenToolsets(ctx, cat)
	if err != nil {
		return err
	}
	lines := []checked{}
	installed := o.packages.Installed(ctx)
	for e := range cat.All() {
		c, err := o.one(ctx, e)
		if err != nil {
			return err
		}
		if why := broken[e.Canonical()]; why != "" && c.OK {
			c.OK, c.Problem, c.fails = false, "Load failed: "+why, c.Enabled
		}
		if i := installed.Of(ctx, e); i != nil && i.CommitSHA != "" && c.SHA != "" {
			c.SHA = output.Short(i.CommitSHA)
		}
		lines = append(lines, *c)
	}
	cfg := o.settings.Config()
	for _, p := range o.settings.Problems() {
		if p.File == "AGENT_SKILLS" && p.Severity == manifest.SeverityError {
			lines = append(lines, checked{Name: p.File, Enabled: true, Problem: "Load failed: " + p.Message, fails: true})
		}
	}
	for _, name := range cfg.Want.Names {
		if _, err := cat.Lookup(name); err != nil {
			lines = append(lines, checked{Name: name, Enabled: true, Problem: "Load failed: " + err.Error(), fails: true})
		}
	}
	exit := failure.ExitOK
	for _, c := range lines {
		if c.fails {
			exit = failure.ExitFailure
		}
	}
	state, err := o.sandbox.State(ctx)
	if err != nil {
		return err
	}
	if !state.OK {
		exit = failure.ExitUsage
	}
	if o.json {
		err = o.out.JSON(map[string]any{"skills": lines, "sandbox": state, "ok": exit == failure.ExitOK})
	} else {
		o.print(lines)
		library.WarnLeftOut(o.out, cat)
		o.out.Printf("\nSandbox: %s\n", state.Text())
	}
	if err != nil || exit == failure.ExitOK {
		return err
	}
	return failure.Silent(exit)
}

func (o *checkOptions) one(ctx context.Context, e skill.Entry) (*checked, error) {
	cfg := o.settings.Config()
	c := &checked{Name: e.Name(), Enabled: o.settings.Wanted(e)}
	switch e.State() {
	case skill.StateBroken:
		c.Problem, c.fails = "Load failed: "+whyBroken(ctx, e), c.Enabled
		return c, nil
	case skill.StateUnavailable:
		c.Problem = "Unavailable: " + e.Reason()
		return c, nil
	}
	if e.Cause() == skill.CauseTrust && cfg.Want.Mode == skill.SelectNamed { // it was asked for
		c.Problem = "Not trusted: " + cure.Enable(e)
		return c, nil
	}
	if other := replaced(ctx, e); other != nil {
		c.Problem = "Unavailable: " + other.Reason()
		return c, nil
	}
	err := c.gather(ctx, e, o.settings.Survey())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // one broken skill stops no other
		c.Problem, c.fails = "Load failed: "+err.Error(), c.Enabled
	}
	c.OK = c.Problem == ""
	return c, nil
}

// whyBroken returns the short reason why a skill cannot be loaded. If two skills of a layer have the same name, the
// manifest is not at fault.
func whyBroken(ctx context.Context, e skill.Entry) string {
	if e.Cause() != skill.CauseDuplicate {
		return "Invalid manifest (" + e.Reason() + ")"
	}
	return fmt.Sprintf("name conflict with %s: rename one of the two, or remove it", location(ctx, e.Shadows()[0]))
}

// gather loads a skill and counts what it has, without running anything.
func (c *checked) gather(ctx context.Context, e skill.Entry, o *survey.Options) error {
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	m := s.Manifest()
	scripts, _ := scriptNames(s, o)
	if _, err := fs.Stat(s.FS(), script.Dir); err != nil && len(m.Scripts) > 0 && len(scripts) == 0 {
		return errors.New("missing scripts dir")
	}
	sum, err := s.Digest(ctx)
	c.Scripts, c.Toolsets, c.SHA = len(scripts), len(toolkit.ToolsetNames(s)), output.Short(sum)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	// A trusted folder needs no digest, and what runs nothing needs no approval.
	if t, untold := e.Trust(ctx); c.Scripts+c.Toolsets > 0 && (untold != nil || !t.Runs()) {
		c.Problem, c.fails = "No digest, so it cannot be approved: "+err.Error(), c.Enabled
	}
	return nil
}

func (o *checkOptions) print(lines []checked) {
	o.out.Printf("Skills:\n")
	off := len(lines) == 0
	for _, c := range lines {
		state, glyph := "enabled", o.out.Mark(skill.StateEnabled.String())
		if !c.Enabled {
			state, glyph, off = "disabled", o.out.Mark(skill.StateDisabled.String()), true
		}
		if c.Problem != "" {
			o.out.Printf("  %s %s (%s) - %s\n", o.out.Mark(skill.StateBroken.String()), c.Name, ui.Safe(state), c.Problem)
			continue
		}
		o.out.Printf("  %s %s (%s) - %s, %s [%s]\n", glyph, c.Name, ui.Safe(state),
			output.Count(c.Scripts, "script"), output.Count(c.Toolsets, "toolset"), cmp.Or(c.SHA, "no digest"))
	}
	if len(lines) == 0 {
		o.out.Printf("  none\n")
	}
	if off && !strings.EqualFold(o.sys.Getenv("AGENT_SKILLS"), "all-untrusted") {
		o.out.Printf("\nTo enable: export AGENT_SKILLS=skill-name\n")
	}
}
