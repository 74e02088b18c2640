package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
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

// check prints R155's block. It fails when a skill that is enabled cannot be loaded (C61).
func (a *app) check(ctx context.Context, json bool) error {
	quiet := a.flags.quiet
	a.flags.quiet = true // what is wrong is in the block
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	lines := []checked{}
	for e := range cat.All() {
		c, err := a.checkOne(ctx, e)
		if err != nil {
			return err
		}
		lines = append(lines, *c)
	}
	cfg, problems := a.settings()
	for _, p := range problems { // C61
		if p.File == "AGENT_SKILLS" && p.Severity == manifest.SeverityError {
			lines = append(lines, checked{Name: p.File, Enabled: true, Problem: "Load failed: " + p.Message, fails: true})
		}
	}
	for _, name := range cfg.Want.Names { // R71
		if _, err := cat.Lookup(name); err != nil {
			lines = append(lines, checked{Name: name, Enabled: true, Problem: "Load failed: " + err.Error(), fails: true})
		}
	}
	exit := ExitOK
	for _, c := range lines {
		if c.fails {
			exit = ExitFailure
		}
	}
	if json {
		err = a.printJSON(map[string]any{"skills": lines, "ok": exit == ExitOK})
	} else {
		a.checkBlock(lines)
		a.flags.quiet = quiet
		a.mentionLeftOut(cat)
	}
	if err != nil || exit == ExitOK {
		return err
	}
	return said(exit)
}

func (a *app) checkOne(ctx context.Context, e skill.Entry) (*checked, error) {
	cfg, _ := a.settings()
	c := &checked{Name: e.Name(), Enabled: a.wanted(e)}
	switch e.State() {
	case skill.StateBroken:
		c.Problem, c.fails = "Load failed: "+whyBroken(e), c.Enabled
		return c, nil
	case skill.StateUnavailable:
		c.Problem = "Unavailable: " + e.Reason()
		return c, nil
	}
	if e.Cause() == skill.CauseTrust && cfg.Want.Mode == skill.SelectNamed { // C21: it was asked for
		c.Problem = "Not trusted: " + cure(e)
		return c, nil
	}
	err := c.count(ctx, e)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // one broken skill stops no other (R63)
		c.Problem, c.fails = "Load failed: "+err.Error(), c.Enabled
	}
	c.OK = c.Problem == ""
	return c, nil
}

// whyBroken is the short reason of R155. A name that two skills of one layer have is no fault of the manifest's (R53).
func whyBroken(e skill.Entry) string {
	if e.Cause() != skill.CauseDuplicate {
		return "Invalid manifest (" + e.Reason() + ")"
	}
	return fmt.Sprintf("name conflict with %s: rename one of the two, or remove it", e.Shadows()[0].Location())
}

// count loads a skill and counts what it has, without running anything.
func (c *checked) count(ctx context.Context, e skill.Entry) error {
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	m := s.Manifest()
	if _, err := fs.Stat(s.FS(), script.Dir); err != nil && len(m.Scripts) > 0 {
		return errors.New("missing scripts dir")
	}
	sum, err := digest(ctx, s)
	c.Scripts, c.Toolsets, c.SHA = len(scriptNames(s)), len(m.Toolsets), short(sum)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	// A trusted folder needs no digest, and what runs nothing needs no approval.
	if t, untold := e.Trust(ctx); c.Scripts > 0 && (untold != nil || !t.Runs()) {
		c.Problem, c.fails = "No digest, so it cannot be approved: "+err.Error(), c.Enabled
	}
	return nil
}

func (a *app) checkBlock(lines []checked) {
	a.ui.Printf("Skills:\n")
	off := len(lines) == 0
	for _, c := range lines {
		state, glyph := "enabled", a.mark(skill.StateEnabled.String())
		if !c.Enabled {
			state, glyph, off = "disabled", a.mark(skill.StateDisabled.String()), true
		}
		if c.Problem != "" {
			a.ui.Printf("  %s %s (%s) - %s\n", a.mark(skill.StateBroken.String()), c.Name, ui.Safe(state), c.Problem)
			continue
		}
		a.ui.Printf("  %s %s (%s) - %s, %s [%s]\n", glyph, c.Name, ui.Safe(state),
			count(c.Scripts, "script"), count(c.Toolsets, "toolset"), cmp.Or(c.SHA, "no digest"))
	}
	if len(lines) == 0 {
		a.ui.Printf("  none\n")
	}
	if off && !strings.EqualFold(a.sys.getenv("AGENT_SKILLS"), "all-untrusted") {
		a.ui.Printf("\nTo enable: export AGENT_SKILLS=skill-name\n")
	}
}
