package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/unpack"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// adding is the work on the chosen skills of one source, until they are kept.
type adding struct {
	*addOptions
	in       *install.Installer
	ref      source.Ref
	packages []*install.Package
	checked  []packages.Checked
	present  []installed
	hides    map[string]hiding // by the names of packages

	lockFailed error // the skills are installed, and the lock file does not say so
}

func (a *adding) close() {
	for _, k := range a.packages {
		k.Close()
	}
}

// unpackAll copies and checks skills. Of all the skills of a source those that cannot be copied are named and left out, unless there is
// no other.
func (a *adding) unpackAll(ctx context.Context, place *install.Place, chosen []*install.Candidate) error {
	label := "copying " + output.Count(len(chosen), "skill")
	if len(chosen) == 1 {
		label = "copying " + chosen[0].Manifest.Name
	}
	var refused error
	var lines []string
	err := a.out.Busy(label, func() error {
		for _, c := range chosen {
			err := a.unpack(ctx, place, c)
			switch e := new(unpack.Error); {
			case err == nil:
			case a.all && errors.As(err, &e):
				lines = append(lines, fmt.Sprintf("%s cannot be used: %v", c.Path, e))
				refused = cmp.Or(refused, err)
			default:
				return err
			}
		}
		return nil
	})
	for _, line := range lines {
		a.out.Warn(line)
	}
	if err == nil && len(a.packages)+len(a.present) == 0 {
		err = refused
	}
	return err
}

// unpack copies and checks one skill.
func (a *adding) unpack(ctx context.Context, place *install.Place, c *install.Candidate) error {
	if p := c.Fatal(); p != nil {
		return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Hint: p.Cure, Err: fmt.Errorf("%s/%s:%d: %s", c.Path, c.File, p.Line, p.Message)}
	}
	for name := a.as; ; {
		k, err := place.Unpack(ctx, c, name)
		if err != nil {
			return err
		}
		switch {
		case k.Same():
			_, err := a.isPresent(ctx, k)
			return errors.Join(err, k.Close())
		case k.Before == nil:
			a.packages = append(a.packages, k)
			a.checked = append(a.checked, a.services.Packages.Check(k))
			return nil
		}
		if name, err = a.taken(ctx, k); err != nil || name == "" {
			return errors.Join(err, k.Close())
		}
		if err := k.Close(); err != nil {
			return err
		}
	}
}

// isPresent notes that a content is the installed one already, and returns the condition of the installed files.
func (a *adding) isPresent(ctx context.Context, k *install.Package) (install.Condition, error) {
	former, err := k.Former(ctx)
	if err != nil {
		return "", err
	}
	entry := *k.Before
	if !a.dryRun {
		if entry, err = k.Adopt(ctx); err != nil {
			return "", errors.Join(err, former.Close())
		}
	}
	from := k.Entry()
	from.InstalledPath = entry.InstalledPath
	a.present = append(a.present, installed{entry: entry, from: from, digest: k.Digest, present: true, files: former.Condition, leftOut: k.LeftOut, signature: k.Signature})
	return former.Condition, former.Close()
}

// taken asks for another name, because the name of a skill is in use: "" skips the skill. Without a terminal it explains.
func (a *adding) taken(ctx context.Context, k *install.Package) (string, error) {
	e, was := k.Entry(), k.Before
	if e.Source == was.Source && e.Path == was.Path && e.OriginalName == was.OriginalName {
		return "", failure.Conflict(fmt.Errorf("skill %q is installed, with another content", was.Name), "agent skill update "+was.NameCanonical)
	}
	err := fmt.Errorf("skill %q is installed from %s, and the new one is from %s", was.Name, packages.From(*was), packages.From(e))
	if a.json || !a.services.Approver.There() {
		choice := "--skill " + k.Candidate.Manifest.Name
		if a.path != "" { // the source may have several of the name
			choice = "--path " + cure.Word(a.path)
		}
		return "", failure.Conflict(err, fmt.Sprintf("install it under another name: %s --name NAME; or remove the installed one: agent skill remove %s", choice, was.NameCanonical))
	}
	details := []string{err.Error()}
	for {
		line, err := a.services.Approver.Answer(ctx, &ui.Question{Text: fmt.Sprintf("Another name for %s (Enter skips it):", e.Name), Details: details, Free: true})
		name := strings.TrimSpace(line)
		if err != nil || name == "" {
			return "", err
		}
		wrong := manifest.CheckName(name)
		if wrong == nil {
			return name, nil
		}
		details = []string{wrong.Error()}
	}
}

// alike warns of skills whose names look like those of skills that are there.
func (a *adding) alike(ctx context.Context) {
	cat, err := a.services.Skills.OpenQuietly(ctx)
	if err != nil {
		return // the commands that use the skills say why
	}
	for _, k := range a.packages {
		if other := cat.Alike(k.Name); other != "" {
			a.out.Warn(fmt.Sprintf("the name %q looks like %q, which is another skill", k.Name, other))
		}
	}
}

// finish asks about the skills, and keeps them after a yes.
func (a *adding) finish(ctx context.Context) (done []installed, err error) {
	defer func() { err = errors.Join(err, a.lockFailed) }()
	done = a.present
	if !a.dryRun {
		var there, from []registry.Entry
		for _, d := range done {
			there, from = append(there, d.entry), append(from, d.from)
		}
		a.note(ctx, there, from)
	}
	if len(a.packages) == 0 {
		return done, nil
	}
	a.alike(ctx)
	a.hiding(ctx)
	var proposals []*consent.Proposal
	for i, k := range a.packages {
		p, err := a.consent().Brought(ctx, k, &a.checked[i])
		if err != nil {
			return done, err
		}
		given, err := a.services.Settings.Grantable(a.given, k.Skill.Manifest())
		if err != nil {
			return done, err
		}
		p.Give(given, a.trusted || len(a.packages) > 1)
		proposals = append(proposals, p)
	}
	if a.dryRun {
		for i, p := range proposals {
			if !a.json {
				a.out.Details(p.Lines())
			}
			done = append(done, installed{entry: a.packages[i].Entry(), digest: p.Digest(), leftOut: a.packages[i].LeftOut, checked: a.checked[i], signature: a.packages[i].Signature, hiding: a.hides[a.packages[i].Name]})
		}
		return done, nil
	}
	if err := a.confirm(ctx, a.ref, proposals); err != nil {
		return done, err
	}
	if err := a.consent().Clear(ctx, cure.Word(a.ref.String()), !a.ci, proposals...); err != nil {
		return done, err
	}
	entries, err := a.keep(ctx, proposals)
	if err != nil {
		return done, err
	}
	for i, k := range a.packages {
		done = append(done, installed{entry: entries[i], digest: k.Digest, kept: true, leftOut: k.LeftOut, checked: a.checked[i], signature: k.Signature, hiding: a.hides[k.Name]})
	}
	return done, nil
}

// consent asks about the skills. What the lock file of a project installs may be accepted by the project.
func (a *adding) consent() *consent.Consent {
	if a.ci {
		return a.services.Consent.ForProject()
	}
	return a.services.Consent
}

// unasked says how to install without a terminal.
func unasked(list []*consent.Proposal) string {
	if len(list) == 1 {
		return "--trusted installs it without a question, --trust " + list[0].Digest() + " only this content"
	}
	if len(list) > mostHinted {
		return "--trusted installs them without a question, --trust with each digest only these contents"
	}
	var digests []string
	for _, p := range list {
		digests = append(digests, p.Digest())
	}
	return "--trusted installs them without a question, --trust " + strings.Join(digests, ",") + " only these contents"
}

// mostHinted is how many digests a hint names.
const mostHinted = 4

// note records installed skills in the settings and, if asked to, in the lock file of the project, with the places that they are added
// from now.
func (a *adding) note(ctx context.Context, list, from []registry.Entry) {
	a.services.Packages.Wish(ctx, a.ref.Want, list...)
	if a.lock {
		a.lockFailed = errors.Join(a.lockFailed, a.services.Packages.Lock(ctx, from...))
	}
}

// approve approves the skills before they are installed: an approval is of one content alone, and no installed skill lacks it.
func (a *adding) approve(ctx context.Context, list []*consent.Proposal) error {
	for i, p := range list {
		p.Moved(a.packages[i].Layer())
	}
	return a.services.Consent.Approve(ctx, list...)
}

// keep approves and installs the skills: all of them, or none. Those of a failure are not approved, either.
func (a *adding) keep(ctx context.Context, list []*consent.Proposal) ([]registry.Entry, error) {
	packages := a.services.Packages
	for _, k := range a.packages {
		if err := packages.Record(ctx, trace.SkillInstalled, k.Entry(), nil); err != nil {
			return nil, err
		}
	}
	if err := a.approve(ctx, list); err != nil {
		return nil, err
	}
	approved := make([]install.Approved, len(list))
	for i, p := range list {
		approved[i] = install.Approved{Package: a.packages[i], Yes: true, Permissions: p.Permissions()}
	}
	var entries []registry.Entry
	err := a.out.Busy("installing", func() (err error) {
		entries, err = install.KeepAll(ctx, approved...)
		return err
	})
	if err != nil {
		for _, k := range a.packages {
			_ = packages.Record(ctx, trace.SkillInstalled, k.Entry(), err) // the first error is told
		}
		return nil, errors.Join(err, a.services.Consent.Withdraw(ctx, list...))
	}
	a.note(ctx, entries, entries)
	return entries, nil
}

// linked records folders of the user's own.
func (o *addOptions) linked(ctx context.Context, in *install.Installer, ref source.Ref, chosen []*install.Candidate) (done []installed, err error) {
	if ref.Kind != source.Folder {
		return nil, failure.Usage(fmt.Errorf("%s is not a folder of this machine", ref), "--link is for a folder that you work in")
	}
	for _, c := range chosen {
		if p := c.Fatal(); p != nil {
			return done, &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Hint: p.Cure, Err: fmt.Errorf("%s/%s:%d: %s", c.Path, c.File, p.Line, p.Message)}
		}
		e, err := in.Link(ctx, c, ref.URL)
		var twice *registry.DuplicateError
		if errors.As(err, &twice) {
			return done, failure.Conflict(err, "remove the installed one first: agent skill remove "+twice.Old.NameCanonical)
		} else if err != nil {
			return done, err
		}
		if err := o.services.Packages.Record(ctx, trace.SkillInstalled, e, nil); err != nil {
			return done, err
		}
		done = append(done, installed{entry: e, kept: true})
	}
	if cat, err := o.services.Skills.OpenQuietly(ctx); err == nil { // the commands that use the skills say why not
		for i := range done {
			done[i].hiding = hidingOf(ctx, cat, done[i].entry.Name, done[i].entry.InstalledPath)
			done[i].say(o.out.Warn, done[i].entry.Name)
		}
	}
	return done, nil
}

// confirm returns nil if the skills may be installed and run.
func (a *adding) confirm(ctx context.Context, ref source.Ref, list []*consent.Proposal) error {
	known := true // without a question
	var forged *consent.Proposal
	for _, p := range list {
		if slices.Contains(a.digests, p.Digest()) {
			continue
		}
		known = known && a.trusted && !p.Forged()
		if p.Forged() && forged == nil {
			forged = p
		}
	}
	switch {
	case known:
		return nil
	case forged != nil && !a.services.Approver.There():
		a.out.Details(forged.Lines())
		return forged.RefuseForged()
	case !a.services.Approver.There():
		for _, p := range list {
			a.out.Details(p.Lines())
		}
		return failure.Denied(errors.New("no terminal to ask on, so nothing was installed"), unasked(list))
	case len(list) == 1:
		return refused(a.services.Consent.Ask(ctx, list[0], fmt.Sprintf("Install untrusted skill from %s?", ref)))
	}
	return refused(a.services.Consent.AskAll(ctx, list, fmt.Sprintf("Install %d untrusted skills from %s?", len(list), ref)))
}
