package consent

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/diff"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// renewal is what a proposal knows about the installed content that its own would replace.
type renewal struct {
	approvedBefore bool              // that content was approved
	grown          []string          // what is asked for in addition
	found          []string          // what the check finds in addition
	lines          map[string]string // "+1 -2" for each changed text
	dropped        []string          // what was granted and does not pass on
	since          time.Time         // when the new content itself was approved; zero if it never was
}

// Since returns when the new content was approved before, as before a rollback; the zero time if it never was. What it was
// granted then holds.
func (r *renewal) Since() time.Time { return r.since }

// Approved reports whether the installed content was approved: otherwise the new one is not approved either.
func (r *renewal) Approved() bool { return r.approvedBefore }

// Grown says what the new content asks for that the installed one did not. An empty list means nothing.
func (r *renewal) Grown() []string { return r.grown }

// Renewed returns a proposal for a package that replaces an installed content. It compares the two, and suggests what the
// installed one was granted.
func (c *Consent) Renewed(ctx context.Context, k *install.Package, former *install.Former, checked *packages.Checked) (*Proposal, error) {
	p, err := c.Brought(ctx, k, checked)
	if err != nil {
		return nil, err
	}
	set, err := c.Trust.Load(ctx)
	if err != nil {
		return nil, err // what was approved is not known
	}
	p.renewal = &renewal{lines: map[string]string{}, found: checked.NewlyFound()}
	base, err := c.installed(ctx, set, k, former)
	if err != nil {
		return nil, err
	}
	p.before, p.changes = nil, nil
	if base == nil {
		base = &installed{seen: true}
	} else {
		p.before, p.approvedBefore = &base.Approval, base.approved
		var now []dirhash.File
		for _, f := range p.approval.Files {
			now = append(now, dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		}
		p.changes = dirhash.Diff(grants.Hashes(base.Files), now)
	}
	p.grown = growth(&base.Approval, &p.approval, base.seen)
	if more := p.scanned.unread - base.unread; more > 0 {
		p.grown = append(p.grown, "files that the scan cannot read: "+strconv.Itoa(more)+" more")
	}
	if checked.Missing != "" {
		p.grown = append(p.grown, "it cannot be used here: "+checked.Missing)
	}
	p.grown = append(p.grown, signatureGrowth(former.Signature, k.Signature)...)
	if !p.approvedAlready(set) {
		p.pass(k, set, declaredIn(&base.Approval))
	}
	if former.Skill != nil {
		p.count(former.Skill, k.Skill)
	}
	return p, nil
}

// approvedAlready reports whether the new content itself was approved before. The choice is then what it was granted.
func (p *Proposal) approvedAlready(set *trust.Set) bool {
	i := slices.IndexFunc(set.Approvals(), func(a trust.Approval) bool { return a.Name == p.approval.Name && a.Digest == p.approval.Digest })
	if i < 0 || !p.approvedBefore {
		return false
	}
	p.since = set.Approvals()[i].ApprovedAt
	p.choice, p.granted, p.lapsed = choice{gets: p.declared}, nil, false
	if own, ok := set.Grant(set.Approvals()[i].ID()); ok {
		p.granted = &own
		p.choice.gets = p.again().Add(here(&own)...)
	}
	return true
}

// installed is the content that is installed.
type installed struct {
	trust.Approval      // what was approved of it or, without an approval, what it is
	approved       bool // there is an approval
	seen           bool // what its texts want is what a scan sees now: an approval may be of a program that saw less
	unread         int  // files of which a scan does not read all
}

// installed returns nil if nothing is known of the installed content.
func (c *Consent) installed(ctx context.Context, set *trust.Set, k *install.Package, former *install.Former) (*installed, error) {
	var now *installed
	if former.Skill != nil {
		limited, cancel := context.WithTimeout(ctx, c.Scanner.Limit())
		defer cancel()
		r, err := c.Scanner.Facts(limited, former.Skill.FS())
		seen := err == nil
		if limited.Err() != nil && ctx.Err() == nil {
			r, err = &scan.Report{}, nil // then what was approved is what is known
		}
		if err != nil {
			return nil, err
		}
		p, err := c.propose(ctx, former.Skill, r)
		if err != nil {
			return nil, err
		}
		now = &installed{Approval: p.approval, seen: seen}
		for i := range r.Files {
			if r.Files[i].Unread != "" {
				now.unread++
			}
		}
	}
	for _, a := range set.Approvals() {
		if a.Name != manifest.Canonical(k.Before.Name) || !a.Is(k.Before.Digest) {
			continue
		}
		if now == nil || !now.seen || !a.Is(now.Digest) {
			return &installed{Approval: a, approved: true}, nil
		}
		a.Wants = a.Wants.From(want.Declared).Add(now.Wants.From(want.Seen)...)
		return &installed{Approval: a, approved: true, seen: true, unread: now.unread}, nil
	}
	return now, nil
}

// pass makes the choice what the installed content was granted. If the new one asks for more, only a part of it passes on:
// not the user's home, the whole network, keys of model providers and packages.
func (p *Proposal) pass(k *install.Package, set *trust.Set, declared want.Set) {
	p.choice.gets = p.declared
	defer func() {
		_, p.choice.gets = p.choice.gets.Split(func(w want.Want) bool {
			return w.From == want.Declared && p.doubtful(w) && !declared.Has(w)
		})
	}()
	old, ok := set.Grant(skill.ID{Layer: k.Before.Layer(), Name: k.Before.Name, Digest: k.Before.Digest})
	if p.granted, p.lapsed = nil, len(p.grown) > 0; !ok || !p.approvedBefore {
		return
	}
	p.granted = &old
	p.choice.gets = p.again().Add(here(&old)...)
	packages, others := old.Given.Split(func(w want.Want) bool { return w.Kind == want.Package })
	before := choice{gets: p.choice.gets.From(want.Declared).Add(others...)}
	p.dropped = without(before.words(), p.choice.words()...)
	if p.lapsed && len(packages) > 0 {
		p.dropped = append(p.dropped, "packages "+strings.Join(packages.Named(want.Package), " "))
	}
}

// here returns the want of the folder that a script is started for, if a grant has it.
func here(g *trust.Grant) want.Set {
	out, _ := g.Given.Split(func(w want.Want) bool { return w == grants.WritesHere() })
	return out
}

// declaredIn returns what an approval says that its content declared, as script.Declared returns it.
func declaredIn(a *trust.Approval) want.Set {
	out, _ := a.Wants.From(want.Declared).Split(func(w want.Want) bool { return w.Kind.Permitted() })
	return out
}

// packages returns the packages that were added to the installed content and pass on.
func (p *Proposal) packages() want.Set {
	if p.renewal == nil || p.granted == nil || p.lapsed {
		return nil
	}
	return p.granted.Given.Kind(want.Package)
}

// renewalLines say what is asked for in addition, and what does not pass on.
func (p *Proposal) renewalLines() []string {
	if p.renewal == nil {
		return nil
	}
	var out []string
	if !p.since.IsZero() {
		out = append(out, "  you approved this content on "+p.since.Format("2006-01-02 15:04")+"; its grants still hold")
	}
	for _, line := range p.grown {
		out = append(out, "  MORE than before: "+line)
	}
	for _, line := range p.found {
		out = append(out, "  NEW in the check: "+line)
	}
	if len(p.dropped) > 0 {
		out = append(out, "  no longer gets, unless you add it: "+strings.Join(p.dropped, " "))
	}
	return out
}

// Passed says what the new content keeps of what was granted, "" if nothing was.
func (p *Proposal) Passed() string {
	if p.granted == nil {
		return ""
	}
	return strings.Join(append(p.choice.words(), p.packages().Named(want.Package)...), " ")
}

// Changes returns the differences of the files.
func (p *Proposal) Changes() []dirhash.Change { return p.changes }

// counts returns " (+1 -2)" for a text that changed.
func (p *Proposal) counts(path string) string {
	if p.renewal == nil || p.lines[path] == "" {
		return ""
	}
	return " (" + p.lines[path] + ")"
}

// mostCompared is the size of the largest text whose lines are counted, in bytes, and of how many texts they are.
const (
	mostCompared = 1 << 20
	mostTexts    = 200
)

// count counts the lines that changed.
func (p *Proposal) count(old, now *skill.Skill) {
	for _, c := range p.changes[:min(len(p.changes), mostTexts)] {
		if c.Kind != dirhash.Changed {
			continue
		}
		before, ok := textOf(old, c.Path)
		after, also := textOf(now, c.Path)
		if d := diff.Of(before, after, diff.Options{}); ok && also && d.Added+d.Removed > 0 {
			p.lines[c.Path] = d.Summary()
		}
	}
}

// textOf returns the content of a regular file of a skill that is not too large.
func textOf(s *skill.Skill, name string) ([]byte, bool) {
	info, err := fs.Lstat(s.FS(), name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	file, err := s.FS().Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostCompared+1))
	return text, err == nil && len(text) <= mostCompared
}
