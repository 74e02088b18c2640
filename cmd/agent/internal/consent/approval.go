// Package consent asks the person: whether the content of a skill may run and what it gets, and every other question. Without a terminal
// it asks nothing and approves nothing.
package consent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// Consent asks whether the present content of a skill may run, and stores the approvals.
type Consent struct {
	Sys      *setup.System
	Settings *setup.Settings
	Sandbox  *sandbox.Sandbox
	Trust    *grants.Trust
	Grants   *grants.Grants
	Tools    *toolkit.Toolkit
	Out      *output.Printer
	Approver *Approver
	Scanner  *scanner.Scanner
	project  bool // what the project accepts is heeded, too
}

// With returns the same with another approver.
func (c *Consent) With(approver *Approver) *Consent {
	other := *c
	other.Approver = approver
	return &other
}

// Scripts asks whether the scripts of a skill may run, and stores an approval after a yes.
func (c *Consent) Scripts(ctx context.Context, s *skill.Skill) (bool, error) {
	if server := s.Entry().Server(); server != "" {
		return c.ask(ctx, s, fmt.Sprintf("Let %q of the MCP server %s run its scripts, and a model run commands that it asks for?", s.Canonical(), server))
	}
	return c.ask(ctx, s, fmt.Sprintf("Let the scripts of %q run?", s.Canonical()))
}

// Model reports whether a skill may use a model of another provider than the conversation's. It may if the user approved
// its present content with this model in the question, or trusts its folder. Otherwise Model asks.
func (c *Consent) Model(ctx context.Context, s *skill.Skill, model string) (bool, error) {
	t, err := grants.TrustIn(ctx, s.Entry())
	if err != nil {
		return false, err
	}
	switch {
	case t == skill.TrustBundled:
		return true, nil
	case t == skill.TrustRoot && !c.Trust.Everything():
		return true, nil
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return false, err
	}
	for _, a := range c.Trust.Known().Approvals() {
		if a.Name == s.Canonical() && a.Is(digest) && a.Wants.Has(want.Of(want.Model, model)) {
			return true, nil
		}
	}
	return c.ask(ctx, s, fmt.Sprintf("Let %q send its work to the model %q, and its scripts run?", s.Canonical(), model))
}

// ask shows what would be approved, asks, and stores an approval after a yes.
func (c *Consent) ask(ctx context.Context, s *skill.Skill, text string) (bool, error) {
	if !c.Approver.There() {
		return false, nil
	}
	p, err := c.Propose(ctx, s)
	if err != nil {
		return false, err
	}
	yes, err := c.Ask(ctx, p, text)
	if err != nil || !yes {
		return false, err
	}
	if err := c.Clear(ctx, s.Canonical(), true, p); err != nil {
		return false, err
	}
	return true, c.Approve(ctx, p)
}

// Ask asks a question about a proposal and reports whether the answer was yes. Before the answer the person can change what
// the skill gets, and see everything that the question counts.
func (c *Consent) Ask(ctx context.Context, p *Proposal, text string) (bool, error) {
	for {
		q := &ui.Question{Text: text, Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "e", Label: "change what it gets", Writes: true}, {Key: "n", Label: "no"}}}
		short, complete := p.Short(c.Sys.Home)
		given, _ := p.givenRow(2 * shortColumns)
		q.Details = append(short, given...)
		if !complete {
			given, _ = p.givenRow(1 << 20)
			q.Whole = append(p.Lines(), given...)
		}
		answer, err := c.Approver.Answer(ctx, q)
		if err != nil || answer != "e" {
			return answer == "y", err
		}
		if err := c.change(ctx, p); err != nil {
			return false, err
		}
	}
}

// change asks what the skill is to get, until the answer can be followed.
func (c *Consent) change(ctx context.Context, p *Proposal) error {
	details := p.wordLines()
	for {
		line, err := c.Approver.Answer(ctx, &ui.Question{Text: "Change:", Details: details, Free: true})
		if err != nil {
			return err
		}
		wrong := p.choose(line)
		if wrong == nil {
			return nil
		}
		details = []string{wrong.Error() + "; nothing was changed"}
	}
}

// Asker returns Scripts if a person can be asked, and otherwise nil: the tools refuse then.
func (c *Consent) Asker() func(context.Context, *skill.Skill) (bool, error) {
	if !c.Approver.There() {
		return nil
	}
	return c.Scripts
}

// Approve stores approvals of what was proposed and confirmed, all in one step, and what each gets. On error nothing is
// approved that was not before.
func (c *Consent) Approve(ctx context.Context, list ...*Proposal) error {
	set, err := c.Trust.Load(ctx)
	if err != nil {
		set = &trust.Set{} // a damaged file is replaced
	}
	approvals := make([]trust.Approval, len(list))
	for i, p := range list {
		approvals[i] = p.approval
		p.was = slices.ContainsFunc(set.Approvals(), func(a trust.Approval) bool { return p.isFor(a.ID()) })
	}
	if err := c.Trust.Approve(ctx, approvals...); err != nil {
		return err
	}
	for _, p := range list {
		if err := c.give(ctx, p); err != nil {
			return errors.Join(err, c.Withdraw(ctx, list...))
		}
	}
	return nil
}

// Withdraw takes back what Approve stored, but for what was approved before.
func (c *Consent) Withdraw(ctx context.Context, list ...*Proposal) error {
	store, err := c.Trust.Edit()
	if err != nil {
		return err
	}
	_, err = store.Forget(context.WithoutCancel(ctx), func(id skill.ID) bool {
		return slices.ContainsFunc(list, func(p *Proposal) bool { return !p.was && p.isFor(id) })
	})
	return errors.Join(err, c.Trust.Reload(ctx))
}

// isFor reports whether the proposal is about a content.
func (p *Proposal) isFor(id skill.ID) bool {
	return id == skill.ID{Layer: p.approval.Layer, Name: manifest.Canonical(p.approval.Name), Digest: p.approval.Digest}
}

// give stores what an approved content gets.
func (c *Consent) give(ctx context.Context, p *Proposal) error {
	if p.choice.clear && p.home != nil {
		if err := p.clearHome(); err != nil {
			return err
		}
	}
	given := p.given()
	if p.added && len(given.Given) == 0 || given.Empty() && p.granted == nil {
		return nil
	}
	key := &trust.Grant{Layer: p.approval.Layer, Name: p.approval.Name, Digest: p.approval.Digest, Files: p.approval.Files}
	var anew func(t *trust.Grant) // in place of what the content had, but where flags alone decided
	if !p.added {
		anew = func(t *trust.Grant) {
			*t = trust.Grant{Given: t.Given.Kind(want.Package).Add(p.packages()...), Withheld: given.Withheld}
		}
	}
	return c.Grants.Give(ctx, key, p.manifest, given.Given, anew)
}

// Proposal is what a person is asked to approve: one content of one skill, and what is new about it.
type Proposal struct {
	approval trust.Approval
	was      bool // it was approved before Approve
	sizes    map[string]int64
	before   *trust.Approval // what was last approved under this name; nil if nothing was
	changes  []dirhash.Change

	from     string   // where it is from, if it is in no folder of the user's
	notes    []string // what was found about it
	scanned  scanned
	*renewal // of an installed skill; nil for others

	signature *oms.Report // nil if it was not checked

	manifest  *manifest.Manifest
	declared  want.Set          // what its permissions give once it may run
	variables []grants.Variable // that it declares or its scripts read
	seen      script.Seen       // what the texts of its scripts want
	reach     want.Set          // what it could do in addition
	sandbox   *sandbox.State    // that would confine its scripts; nil if that is not known
	policy    *policy.Policy
	set       func(string) bool // whether the operator has a variable
	granted   *trust.Grant      // what this content, or a former one, was granted
	lapsed    bool              // granted is of a former content
	home      *script.Home      // its private home, if something is in it
	clearHome func() error
	choice    choice
	added     bool // the choice is of flags alone, which add to what the content has
}

// Propose returns what an approval of the skill would be about: the content that its Digest covers, which is also what a
// sealed copy has. It returns an error if the manifest has changed since s was loaded: what is shown, approved and run must
// be the same content.
func (c *Consent) Propose(ctx context.Context, s *skill.Skill) (*Proposal, error) {
	r, found, err := c.look(ctx, s)
	if err != nil {
		return nil, err
	}
	p, err := c.propose(ctx, s, r)
	if err != nil {
		return nil, err
	}
	p.scanned = found
	p.notes = append(p.notes, p.scanLines()...)
	return p, nil
}

// propose is Propose with what a scan found in the content.
func (c *Consent) propose(ctx context.Context, s *skill.Skill, r *scan.Report) (*Proposal, error) {
	set, err := c.Trust.Load(ctx)
	if err != nil { // earlier approvals are unknown; approving moves the broken file aside
		c.Out.Warn(err.Error())
	}
	layer, err := s.Entry().Place(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := folderOf(ctx, s)
	if err != nil {
		return nil, err
	}
	sum, err := grants.SumOf(ctx, s)
	if err != nil {
		return nil, err
	}
	wants, forgoes := asked(s.Manifest())
	wants = wants.Add(want.Each(want.Server, want.Declared, toolkit.ToolsetCommands(s)...)...)
	p := &Proposal{sizes: map[string]int64{}, manifest: s.Manifest(), declared: script.Declared(s.Manifest()), approval: trust.Approval{
		Layer: layer, Name: s.Canonical(), Digest: sum.Digest, Dir: dir, Wants: wants, Forgoes: forgoes, ApprovedAt: c.Sys.Now()}}
	if from := s.Entry().Origin(); from != "" {
		p.from = "of the " + from
	}
	for _, f := range sum.Files {
		p.approval.Files = append(p.approval.Files, trust.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		p.sizes[f.Path] = f.Size
	}
	if other := set.Another(s.Canonical(), layer); other != "" {
		p.notes = append(p.notes, "  another skill of this name is approved, in "+ui.Line(other))
	} else if last, ok := set.Approval(s.Canonical(), layer); ok {
		p.before = &last
		p.changes = dirhash.Diff(grants.Hashes(last.Files), sum.Files)
	}
	p.seen, p.reach = scanner.SeenIn(r, s), scanner.ReachOf(r)
	return p, c.surroundings(ctx, s, p)
}

// folderOf returns the folder of an opened skill without symbolic links, "" for a skill of a server.
func folderOf(ctx context.Context, s *skill.Skill) (string, error) {
	if s.Entry().Server() != "" {
		return "", nil
	}
	dir, err := s.Dir(ctx)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// surroundings finds out what the scripts of a skill would get.
func (c *Consent) surroundings(ctx context.Context, s *skill.Skill, p *Proposal) (err error) {
	p.set = func(name string) bool { _, set := c.Sys.Lookup(name); return set }
	p.policy = c.Settings.Policy()
	for _, w := range c.Grants.Refused(p.manifest) {
		p.declared = p.declared.Without(w)
		p.notes = append(p.notes, fmt.Sprintf("  never gets %s: %s", grants.WordOf(w), p.policy.Decide(w).Why))
	}
	if other := s.Entry().Alike(); other != "" {
		p.notes = append(p.notes, fmt.Sprintf("  its name looks like that of another skill, %s", ui.Line(other)))
	}
	for _, pr := range s.Problems() {
		if pr.Code == "permissions-env" {
			p.notes = append(p.notes, "  "+pr.Message)
		}
	}
	if p.sandbox, err = c.Sandbox.State(ctx); ctx.Err() != nil {
		return err
	}
	if p.variables, err = c.Grants.Variables(ctx, s, &p.seen); err != nil {
		return err
	}
	granted, lapsed, err := c.Grants.Find(ctx, s)
	if err != nil {
		return err
	}
	p.approval.Wants = p.approval.Wants.Add(p.seen.Wants()...).Add(p.reach...)
	if err := cmp.Or(p.approval.Wants.Check(), p.approval.Forgoes.Check()); err != nil {
		return fmt.Errorf("what the skill %q asks for cannot be approved: %w", s.Canonical(), err)
	}
	if p.granted, p.lapsed = lapsed, lapsed != nil; !p.lapsed && granted.Name != "" {
		p.granted = &granted
	}
	if host, err := c.Tools.Host(); err == nil { // without a home there is none to clear
		home, err := host.HomeOf(ctx, s)
		if err != nil {
			return err
		}
		if home.Files > 0 {
			p.home = &home
		}
		p.clearHome = func() error { return host.ClearHome(home) }
	}
	p.choice = p.preselect()
	return nil
}

// Digest returns the digest of the content that the proposal is about.
func (p *Proposal) Digest() string { return p.approval.Digest }
