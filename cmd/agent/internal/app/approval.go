package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
)

// Consent asks whether the present content of a skill may run, and remembers a yes.
type Consent struct {
	sys      *System
	trust    *Trust
	out      *Printer
	approver *TerminalApprover
}

// With returns the same with another approver.
func (c *Consent) With(approver *TerminalApprover) *Consent {
	other := *c
	other.approver = approver
	return &other
}

// Ask shows what an approval of the skill would be about, asks, and remembers a yes.
func (c *Consent) Ask(ctx context.Context, s *skill.Skill) (bool, error) {
	p, err := c.Propose(ctx, s)
	if err != nil {
		return false, err
	}
	yes, err := c.approver.Ask(ctx, &Question{Text: fmt.Sprintf("Let the scripts of %q run?", p.approval.Name), Details: p.Lines()})
	if err != nil || !yes {
		return false, err
	}
	return true, c.Approve(ctx, p)
}

// First asks about the skill of a script that is to run, where nobody approved it and somebody is there to ask. In any
// other case it does nothing: the tool refuses the script.
func (c *Consent) First(ctx context.Context, cat *skill.Catalog, ofSkill, name string) error {
	if !c.approver.There() {
		return nil
	}
	e, err := cat.Lookup(ofSkill)
	if err != nil || e.State() != skill.StateEnabled {
		return nil
	}
	if t, err := TrustIn(ctx, e); err != nil || t.Runs() {
		return err
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := script.Find(s, name); err != nil {
		return nil // the tool says so
	}
	_, err = c.Ask(ctx, s)
	return err
}

// Approve remembers what was proposed and confirmed.
func (c *Consent) Approve(ctx context.Context, p *Proposal) error {
	return c.trust.Approve(ctx, p.approval)
}

// Proposal is what somebody is asked to approve: one content of one skill, and what is new about it.
type Proposal struct {
	approval trust.Approval
	sizes    map[string]int64
	before   *trust.Approval // what was approved last under this name, nil when nothing was
	changes  []dirhash.Change
}

// Propose computes what an approval of the skill would be about. It reads every file of it. A skill that changed since s
// was loaded, or since its digest was first asked for, is an error: what is shown, approved and run is one content.
func (c *Consent) Propose(ctx context.Context, s *skill.Skill) (*Proposal, error) {
	set, err := c.trust.Load()
	if err != nil { // what was approved before cannot be told: the approval moves the broken file aside
		c.out.Warn(err.Error())
	}
	dir, err := s.Dir(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := dirhash.Dir(ctx, s.FS(), nil)
	if err != nil {
		return nil, undigested(ctx, s.Canonical(), dir, err)
	}
	if err := unchanged(ctx, s, &sum); err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	p := &Proposal{sizes: map[string]int64{}, approval: trust.Approval{
		Name: s.Canonical(), Digest: sum.Digest, Dir: dir, Permissions: permissions(s.Manifest()), ApprovedAt: c.sys.Now()}}
	for _, f := range sum.Files {
		p.approval.Files = append(p.approval.Files, trust.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		p.sizes[f.Path] = f.Size
	}
	if last, ok := set.Approval(s.Canonical(), dir); ok {
		p.before = &last
		p.changes = dirhash.Diff(hashes(last.Files), sum.Files)
	}
	return p, nil
}

// unchanged returns an error unless sum is of the very content that s holds: of the manifest whose wishes are shown, and
// of the files with the digest that whoever asks will run.
func unchanged(ctx context.Context, s *skill.Skill, sum *dirhash.Sum) error {
	held, err := s.Digest(ctx)
	if err != nil {
		return err
	}
	text := sha256.Sum256(s.Text())
	if held == sum.Digest && hashed(s, sum.Files) == hex.EncodeToString(text[:]) {
		return nil
	}
	return &Failure{Exit: ExitDenied, Code: "skill_changed", Hint: "try again; if it goes on, find out what writes to its folder", Err: fmt.Errorf("skill %q changes while it is looked at, so it is not approved", s.Canonical())}
}

// hashed returns the hash of the manifest among files, "" when it cannot be told. A manifest that is a link is followed
// within the skill.
func hashed(s *skill.Skill, files []dirhash.File) string {
	name := s.Entry().File()
	for range 8 {
		i := slices.IndexFunc(files, func(f dirhash.File) bool { return f.Path == name })
		switch {
		case i < 0:
			return ""
		case !files[i].Link:
			return files[i].SHA256
		}
		to, err := fs.ReadLink(s.FS(), name)
		text := sha256.Sum256([]byte(to))
		if err != nil || hex.EncodeToString(text[:]) != files[i].SHA256 {
			return ""
		}
		name = path.Join(path.Dir(name), to)
	}
	return ""
}

// undigested tells why a skill cannot be approved whose files cannot be hashed, and what to do.
func undigested(ctx context.Context, name, dir string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{Exit: ExitInvalid, Code: "invalid_skill", Err: fmt.Errorf("skill %q cannot be approved, for it has no digest: %w", name, err),
		Hint: "mend that first; or trust all that is below a folder of your own, whatever it becomes: agent skill trust --root " + filepath.Dir(dir)}
}

// TrustIn asks whether a skill's content may run. The error is that of undigested.
func TrustIn(ctx context.Context, e skill.Entry) (skill.Trust, error) {
	t, err := e.Trust(ctx)
	if err != nil {
		at, _ := e.Location(ctx) // only for the hint
		return t, undigested(ctx, e.Canonical(), filepath.Dir(at), err)
	}
	return t, nil
}

func hashes(files []trust.File) []dirhash.File {
	out := make([]dirhash.File, len(files))
	for i, f := range files {
		out[i] = dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link}
	}
	return out
}

// Digest returns the digest of the content that the proposal is about.
func (p *Proposal) Digest() string { return p.approval.Digest }

// permissions lists what a manifest asks for beyond the skill's own files.
func permissions(m *manifest.Manifest) []string {
	var out []string
	add := func(what string, values []string) {
		if len(values) > 0 {
			out = append(out, what+": "+strings.Join(values, " "))
		}
	}
	add("allowed-tools", m.AllowedTools.Rules)
	add("env", m.Permissions.Env)
	add("toolsets", m.Toolsets)
	return out
}
