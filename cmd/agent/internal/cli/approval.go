package cli

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

// proposal is what somebody is asked to approve: one content of one skill, and what is new about it.
type proposal struct {
	approval trust.Approval
	sizes    map[string]int64
	before   *trust.Approval // what was approved last under this name, nil when nothing was
	changes  []dirhash.Change
}

// propose computes what an approval of the skill would be about. It reads every file of it. A skill that changed since s
// was loaded, or since its digest was first asked for, is an error: what is shown, approved and run is one content.
func (a *app) propose(ctx context.Context, s *skill.Skill) (*proposal, error) {
	set, err := a.trusted()
	if err != nil { // what was approved before cannot be told: the approval moves the broken file aside
		a.warn(err.Error())
	}
	dir, err := s.Dir()
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
	p := &proposal{sizes: map[string]int64{}, approval: trust.Approval{
		Name: s.Canonical(), Digest: sum.Digest, Dir: dir, Permissions: permissions(s.Manifest()), ApprovedAt: a.sys.Now()}}
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
	return &failure{exit: ExitDenied, code: "skill_changed", hint: "try again; if it goes on, find out what writes to its folder",
		err: fmt.Errorf("skill %q changes while it is looked at, so it is not approved", s.Canonical())}
}

// hashed returns the hash of the manifest among files, "" when it cannot be told. A manifest that is a link is followed
// within the skill.
func hashed(s *skill.Skill, files []dirhash.File) string {
	name := filepath.Base(s.Entry().Location())
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
	return &failure{exit: ExitInvalid, code: "invalid_skill", err: fmt.Errorf("skill %q cannot be approved, for it has no digest: %w", name, err),
		hint: "mend that first; or trust all that is below a folder of your own, whatever it becomes: agent skill trust --root " + filepath.Dir(dir)}
}

// trustIn asks whether a skill's content may run. The error is that of undigested.
func trustIn(ctx context.Context, e skill.Entry) (skill.Trust, error) {
	t, err := e.Trust(ctx)
	if err != nil {
		return t, undigested(ctx, e.Canonical(), filepath.Dir(e.Location()), err)
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

// showProposal prints to stderr what the approval is about: stdout stays for the answer.
func (a *app) showProposal(p *proposal) { a.details(a.proposalLines(p)) }

// details prints lines of foreign text to stderr.
func (a *app) details(lines []string) {
	out := *a.ui
	out.Out = a.ui.Err
	for _, line := range lines {
		out.Printf("%s\n", line)
	}
}

// approveFirst asks a person about a skill that nobody approved, before one of its scripts runs, and remembers a yes.
// Where nobody is there to answer it does nothing: the tool refuses the script.
func (a *app) approveFirst(ctx context.Context, cat *skill.Catalog, args *runArgs) error {
	if !a.ui.CanAsk() {
		return nil
	}
	e, err := cat.Lookup(args.Skill)
	if err != nil || e.State() != skill.StateEnabled {
		return nil
	}
	if t, err := trustIn(ctx, e); err != nil || t.Runs() {
		return err
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := script.Find(s, args.Script); err != nil {
		return nil // the tool says so
	}
	p, err := a.propose(ctx, s)
	if err != nil {
		return err
	}
	a.showProposal(p)
	yes, err := a.ask(ctx, fmt.Sprintf("Let the scripts of %q run?", p.approval.Name))
	if err != nil || !yes {
		return err
	}
	return a.approve(ctx, p)
}

// approve remembers an approval; what asks for trust from now on knows it.
func (a *app) approve(ctx context.Context, p *proposal) error {
	store, err := a.editTrust()
	if err != nil {
		return err
	}
	if err := store.Approve(ctx, p.approval); err != nil {
		return err
	}
	set, err := store.Load()
	a.trustSet.Store(set)
	return err
}

// ask puts a question to the person at the terminal, after everything that was printed before it.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	if err := a.flush(); err != nil {
		return false, err
	}
	return a.ui.Confirm(ctx, question)
}
