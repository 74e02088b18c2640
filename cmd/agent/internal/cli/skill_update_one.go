package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/trace"
)

// updating is one run of the command.
type updating struct {
	*updateOptions
	in   *install.Installer
	done []*renewed
}

// all updates what is available, or only describes it. The error of one skill is kept for the report and stops no other.
func (u *updating) all(ctx context.Context, updates *install.Updates) error {
	for _, s := range updates.List {
		r := &renewed{Name: s.Entry.Name, Canonical: s.Entry.NameCanonical, State: string(s.State), Condition: string(s.Files), Source: s.Entry.Source, FromDigest: s.Entry.Digest,
			FromCommit: orNull(s.Entry.CommitSHA), TagMovedTo: s.Moved, Trusted: s.Entry.Trusted, More: []string{}, Found: []string{}, Files: []fileDelta{}, Links: []string{}, entry: s.Entry, now: s.Entry}
		u.done = append(u.done, r)
		switch s.State {
		case install.Failed:
			r.err = explainUpdate(s.Err)
		case install.Gone:
			r.err = u.gone(ctx, s)
		case install.Available:
			r.err = u.one(ctx, s, r)
		}
		if r.err != nil {
			r.Error = r.err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// explainUpdate adds what to do about a new version that cannot be used.
func explainUpdate(err error) error {
	var breaking *install.BreakingError
	if !errors.As(err, &breaking) {
		return err
	}
	return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Hint: "the installed version stays; tell its author, or change to another one with --ref", Err: err}
}

// one updates one skill, after asking.
func (u *updating) one(ctx context.Context, s *install.Status, r *renewed) error {
	k := s.Package
	former, err := k.Former(ctx)
	if err != nil {
		return err
	}
	defer former.Close()
	checked := u.services.Packages.CheckRenewed(k, former)
	p, err := u.services.Consent.Renewed(ctx, k, former, &checked)
	if err != nil {
		return err
	}
	r.now = k.Entry()
	r.ToCommit, r.ToDigest = orNull(r.now.CommitSHA), k.Digest
	r.More, r.Found = append(r.More, p.Grown()...), checked.NewlyFound()
	if since := p.Since(); !since.IsZero() {
		r.ApprovedBefore = &since
	}
	for _, c := range p.Changes() {
		r.Files = append(r.Files, fileDelta{c.Path, c.Kind.String()})
	}
	if u.check {
		return nil
	}
	r.State = "refused"
	if former.Condition == install.Edited {
		r.Backup = u.services.Packages.Backup(s.Entry.NameCanonical)
		if err := u.mayDiscard(ctx, r); err != nil {
			r.Backup = ""
			return err
		}
	}
	err = u.mayUpdate(ctx, r, p)
	if err == nil {
		err = u.services.Consent.Clear(ctx, cure.Word(s.Entry.Source), true, p)
	}
	if err != nil {
		r.Backup = ""
		return err
	}
	return u.keep(ctx, k, p, r)
}

// mayDiscard returns nil if changed files may be put aside.
func (u *updating) mayDiscard(ctx context.Context, r *renewed) error {
	if u.keepLocal || u.yes {
		return nil
	}
	yes, err := u.services.Approver.Ask(ctx, &consent.Question{Text: "This will discard any local changes. Continue?",
		Details: []string{fmt.Sprintf("The files of %s are not those that were installed. They will be kept in", r.Name), "  " + r.Backup},
		Nobody:  fmt.Sprintf("the files of %s were changed since it was installed, and there is no terminal to ask on: it was not updated", r.Name),
		Instead: "--yes keeps them in a folder and goes on"})
	return notUpdated(yes, err)
}

// mayUpdate returns nil if the new content may be installed.
func (u *updating) mayUpdate(ctx context.Context, r *renewed, p *consent.Proposal) error {
	more := p.Approved() && len(p.Grown()) > 0 && p.Since().IsZero()
	text := fmt.Sprintf("Update %s from %s to %s?", r.Name, shaText(r.entry), shaText(r.now))
	switch {
	case slices.Contains(u.digests, p.Digest()), u.yes && !more && !p.Forged():
		return nil
	case p.Forged() && !u.services.Approver.There():
		u.out.Details(p.Lines())
		return p.RefuseForged()
	case !u.services.Approver.There():
		u.out.Details(p.Lines())
		if more {
			return failure.Denied(fmt.Errorf("the new content of %s asks for more than the approved one, and there is no terminal to ask on: it was not updated", r.Name),
				u.again(r.Canonical)+" --trust "+p.Digest()+" approves this content")
		}
		return failure.Denied(fmt.Errorf("no terminal to ask on, so %s was not updated", r.Name), "--yes updates what asks for nothing more, or was approved before")
	case !p.Approved():
		lines, _ := p.Short(u.services.Sys.Home)
		return notUpdated(u.services.Approver.Ask(ctx, &consent.Question{Text: text,
			Details: append(lines, "  The installed content is not trusted, and the new one will not be either.")}))
	}
	return notUpdated(u.services.Consent.Ask(ctx, p, text))
}

// notUpdated returns an error for the answer no.
func notUpdated(yes bool, err error) error {
	if err == nil && !yes {
		err = failure.Denied(errors.New("not updated; nothing was changed"), "")
	}
	return err
}

// keep makes the new content the installed one. It is approved first: at no moment is there a version that may not run where
// there was one that might.
func (u *updating) keep(ctx context.Context, k *install.Package, p *consent.Proposal, r *renewed) error {
	approve := p.Approved() || slices.Contains(u.digests, p.Digest())
	p.Moved(k.Layer())
	if err := u.services.Packages.Record(ctx, trace.SkillUpdated, k.Entry(), nil); err != nil {
		return err
	}
	if approve {
		if err := u.services.Consent.Approve(ctx, p); err != nil {
			return err
		}
		r.Granted = p.Passed()
	}
	e, err := k.Keep(ctx, approve, p.Permissions())
	if err != nil {
		_ = u.services.Packages.Record(ctx, trace.SkillUpdated, k.Entry(), err) // the first error is told
		if approve {
			err = errors.Join(err, u.services.Consent.Withdraw(ctx, p))
		}
		return err
	}
	r.State, r.now, r.Trusted = "updated", e, approve
	r.Links = u.services.Packages.Repoint(r.entry, e)
	if to := u.to(); to != nil {
		u.services.Packages.Wish(ctx, to.Want, e)
	}
	there, err := u.services.Packages.Locked(ctx, e.Name)
	if there {
		err = u.services.Packages.Lock(ctx, e)
	}
	if err != nil {
		u.out.Warn(err.Error())
	}
	return nil
}

// keepEdits moves the changed files of the former contents to their backups.
func (u *updating) keepEdits(ctx context.Context) {
	for _, r := range u.done {
		if r.Backup == "" || r.State != "updated" {
			continue
		}
		if err := u.in.KeepEdits(context.WithoutCancel(ctx), r.Name, r.entry.InstalledPath, r.Backup); err != nil {
			u.out.Warn(fmt.Sprintf("%s: the files that you changed stay in %s: %v", r.Name, filepath.Clean(r.entry.InstalledPath), err))
			r.Backup = ""
		}
	}
}
