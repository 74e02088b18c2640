package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill/manifest"
)

type updateOptions struct {
	services *app.Services
	out      *output.Printer

	names            []string
	ref, branch, tag string
	digests          []string // that are approved without a question
	check, yes, json bool
	keepLocal        bool
}

func newUpdateCommand(s *app.Services, run func(context.Context, *updateOptions) error) *cobra.Command {
	o := &updateOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:        "update [NAME...]",
		SuggestFor: []string{"upgrade", "pin", "unpin", "hold"},
		Short:      "Update installed skills, after showing what changes",
		Long: `Update the named installed skills, or all of them, to the newest version of their source. For each skill you see the old
and the new commit, the files that change, and everything that the new version asks for and the old one did not: tools,
variables, hosts, new files that may run, hooks, toolsets, a model. What the check newly finds is named, too.

If the new version asks for nothing more, or you approved its content before, --yes skips the question. If it asks for more,
you are asked even with --yes. Without a terminal the command then fails with exit code 5; --trust DIGEST approves exactly
one content. Your grants carry over to the new version. If it asks for more, these grants do not: your home, the whole
network, keys of model providers and packages that you added. A skill that you never approved stays unapproved.

A skill that was installed by tag or commit is pinned. Change the pin with --ref, --branch or --tag. The old version is used
until the new one is in place; "agent skill rollback" brings it back. If you changed installed files, an update moves them
to a backup folder and prints its path. If there is no new version, the changes are reported and left alone.

With --check nothing is changed. The exit code is 8 if a new version is available.`,
		Example: `  agent skill update
  agent skill update pdf --ref v2.0
  agent skill update --check`,
		ValidArgsFunction: completeInstalled(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.names = args
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.check, "check", false, "only report what is available")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask if the new version asks for nothing more")
	f.BoolVar(&o.keepLocal, "keep-local", false, "do not ask about files that you changed: move them to a backup folder")
	f.StringVar(&o.ref, "ref", "", "change to this branch, tag or `COMMIT`")
	f.StringVar(&o.branch, "branch", "", "change to this `BRANCH` and follow it")
	f.StringVar(&o.tag, "tag", "", "change to this `TAG` and stay at it")
	f.StringSliceVar(&o.digests, "trust", nil, "approve the content with this `DIGEST` (sha256:...) without a question (repeatable)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	c.MarkFlagsMutuallyExclusive("ref", "branch", "tag")
	return c
}

func newOutdatedCommand(s *app.Services, run func(context.Context, *updateOptions) error) *cobra.Command {
	o := &updateOptions{services: s, out: s.Out, check: true}
	c := &cobra.Command{
		Use:               "outdated [NAME...]",
		Short:             "List the installed skills that have a newer version",
		Long:              `The same as "agent skill update --check". The exit code is 8 if a newer version is available.`,
		Example:           "  agent skill outdated --json",
		ValidArgsFunction: completeInstalled(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.names = args
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// renewed is what became of one installed skill.
type renewed struct {
	Name           string      `json:"name"`
	Canonical      string      `json:"name_canonical"`
	State          string      `json:"state"`     // an install.State, or updated or refused
	Condition      string      `json:"condition"` // of the files that were installed before: ok, changed, missing or linked
	Source         string      `json:"source"`
	FromCommit     any         `json:"from_commit"` // null where there is none
	ToCommit       any         `json:"to_commit"`
	FromDigest     string      `json:"from_digest"`
	ToDigest       string      `json:"to_digest,omitempty"`
	More           []string    `json:"asks_for_more"` // than the installed content
	Found          []string    `json:"newly_found"`   // by the check, which did not find it in the installed content
	Files          []fileDelta `json:"files"`
	ApprovedBefore *time.Time  `json:"approved_before,omitempty"` // when the new content itself was approved, as before a rollback
	Trusted        bool        `json:"trusted"`                   // the content that is installed now is approved
	Granted        string      `json:"granted,omitempty"`         // what passed on
	Links          []string    `json:"links"`                     // of other agents, that lead to the new version now
	TagMovedTo     string      `json:"tag_moved_to,omitempty"`    // commit that the tag of a pinned skill names now, if it is another one
	Backup         string      `json:"backup,omitempty"`          // folder with the files that were changed
	Error          string      `json:"error,omitempty"`

	entry, now registry.Entry
	err        error
}

type fileDelta struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, removed or changed
}

func runUpdate(ctx context.Context, o *updateOptions) error {
	if err := checkDigests(o.digests); err != nil {
		return err
	}
	if !o.check {
		if _, err := o.services.Packages.Locked(ctx, ""); err != nil { // what is updated could not be noted
			return err
		}
	}
	in, entries, err := installedSkills(ctx, o.services, !o.check, o.names...)
	if err != nil {
		return err
	}
	if err := o.checkTo(entries); err != nil {
		return err
	}
	var updates *install.Updates
	err = o.out.Busy("asking for updates", func() error {
		updates, err = in.Check(ctx, entries, o.to())
		return err
	})
	if err != nil {
		return err
	}
	u := &updating{updateOptions: o, in: in}
	err = u.all(ctx, updates)
	if closed := updates.Close(); err == nil {
		err = closed
	}
	u.keepEdits(ctx) // versions can be moved only when no stage is open
	if err != nil {
		return errors.Join(o.report(u.done), err)
	}
	if err := o.report(u.done); err != nil {
		return err
	}
	return o.verdict(u.done)
}

// sayFiles says that the files of an installed skill are not those that were installed.
func sayFiles(out *output.Printer, e *registry.Entry, files install.Condition) {
	switch files {
	case install.Edited:
		out.Warn(fmt.Sprintf("%s: its files were changed since it was installed", e.Name))
		out.Hint(fmt.Sprintf("agent skill verify %s names them, %s puts back what was installed and keeps yours in a folder", e.NameCanonical, cure.Repair(e.NameCanonical)))
	case install.Missing:
		out.Warn(fmt.Sprintf("%s: its files are gone", e.Name))
		out.Hint(cure.Repair(e.NameCanonical) + " fetches them again")
	}
}

// checkTo returns an error if the flags say to change to another version, and a skill is from a place that has none.
func (o *updateOptions) checkTo(entries []registry.Entry) error {
	for _, e := range entries {
		if kind := source.KindNamed(e.Kind); o.to() != nil && kind != 0 && !kind.HasVersions() {
			return failure.Usage(fmt.Errorf("skill %q is from %s, which has no branch, tag or commit", e.Name, e.Source), "leave --ref, --branch and --tag out, or name the skills")
		}
	}
	return nil
}

// to returns what the flags say to change to, nil if they say nothing.
func (o *updateOptions) to() *source.Ref {
	for _, want := range []struct{ value, kind string }{{o.ref, ""}, {o.branch, "branch"}, {o.tag, "tag"}} {
		if want.value != "" {
			return &source.Ref{Want: want.value, Type: want.kind}
		}
	}
	return nil
}

// again is the command that updates one skill as this one would.
func (o *updateOptions) again(name string) string {
	command := "agent skill update " + name
	for _, flag := range []struct{ name, value string }{{"ref", o.ref}, {"branch", o.branch}, {"tag", o.tag}} {
		if flag.value != "" {
			command += " --" + flag.name + " " + cure.Word(flag.value)
		}
	}
	if o.yes {
		command += " --yes"
	}
	return command
}

// report prints what became of the skills.
func (o *updateOptions) report(done []*renewed) error {
	for _, r := range done {
		if r.TagMovedTo != "" {
			o.out.Warn(fmt.Sprintf("%s: the tag %s named the commit %s when it was installed, and names %s now; nothing was changed", r.Name, r.entry.Tag, r.entry.CommitSHA, r.TagMovedTo))
		}
		if !o.json && r.State != "updated" {
			sayFiles(o.out, &r.entry, install.Condition(r.Condition))
		}
	}
	switch {
	case o.json:
		if done == nil {
			done = []*renewed{}
		}
		return o.out.JSON(map[string]any{"skills": done})
	case len(done) == 0:
		o.out.Printf("No skills are installed\n")
		return nil
	case o.check:
		return o.table(done)
	}
	for _, r := range done {
		o.say(r)
	}
	return nil
}

// table lists what is available.
func (o *updateOptions) table(done []*renewed) error {
	var rows [][]string
	for _, r := range done {
		to, more := "-", "-"
		if r.State == string(install.Available) {
			to, more = shaText(r.now), "no"
			if len(r.More) > 0 {
				more = "yes"
			}
		}
		rows = append(rows, []string{r.Name, r.State, shaText(r.entry), to, more, output.OrDash(r.entry.Source)})
	}
	const installed, more, from = 2, 4, 5 // columns that a narrow terminal does without
	if err := o.out.TableOf([]string{"NAME", "STATE", "INSTALLED", "AVAILABLE", "ASKS FOR MORE", "SOURCE"}, slices.Values(rows), from, more, installed); err != nil {
		return err
	}
	for _, r := range done {
		if r.ApprovedBefore != nil {
			o.out.Remark(fmt.Sprintf("%s: you approved what is available before, on %s", r.Name, r.ApprovedBefore.Format("2006-01-02 15:04")))
		}
		for _, line := range r.More {
			o.out.Remark(r.Name + " asks for more: " + line)
		}
		few(r.Found, func(line string) { o.out.Remark(r.Name + ": " + line) })
	}
	return nil
}

// say prints one line about a skill, and a second one if there is more to know.
func (o *updateOptions) say(r *renewed) {
	switch install.State(r.State) {
	case install.Current:
		if files := install.Condition(r.Condition); files == install.Edited || files == install.Missing {
			o.out.Printf("%s [%s]: its source has nothing new\n", r.Name, shaText(r.entry))
			return
		}
		o.out.Printf("%s [%s] is up to date\n", r.Name, shaText(r.entry))
	case install.Pinned:
		o.out.Printf("%s [%s] is pinned, use --ref\n", r.Name, shaText(r.entry))
	case install.Linked:
		o.out.Printf("%s is a link to %s\n", r.Name, r.entry.InstalledPath)
	case install.Unknown:
		o.out.Printf("%s: it is not known where it is from\n", r.Name)
		o.out.Remark("agent skill add SOURCE --skill " + r.Canonical + " records it, if SOURCE has the same content")
	case "updated":
		o.out.Printf("Updated %s from %s to %s\n", r.Name, shaText(r.entry), shaText(r.now))
		if !r.Trusted {
			o.out.Printf("  not trusted, as before: %s\n", o.out.Typed(cure.Trust(r.Canonical)))
		}
		if r.Granted != "" {
			o.out.Printf("  it gets: %s\n", r.Granted)
		}
		few(r.Found, func(line string) { o.out.Printf("  %s\n", o.out.Wrapped(line, 2)) })
		sayLinks(o.out, "leads to it now: ", r.Links)
		if r.Backup != "" {
			o.out.Printf("  the files that you changed are in %s\n", r.Backup)
		}
	}
}

// mostFound is how many new problems of a skill a result names.
const mostFound = 3

// few says what the check found newly, and counts what are too many.
func few(found []string, say func(line string)) {
	for _, line := range found[:min(len(found), mostFound)] {
		say("the check finds what it did not before: " + line)
	}
	if more := len(found) - mostFound; more > 0 {
		say(fmt.Sprintf("and %d more that it did not find before", more))
	}
}

// verdict returns the error of the only skill, or one that has the exit code of the first of several.
func (o *updateOptions) verdict(done []*renewed) error {
	var failed []*renewed
	available := false
	for _, r := range done {
		available = available || r.State == string(install.Available)
		if r.err != nil {
			failed = append(failed, r)
		}
	}
	if len(done) > 1 && !o.json {
		o.sayFailures(failed)
	}
	switch {
	case o.check && available:
		return failure.Silent(failure.ExitUpdate)
	case len(failed) > 0 && len(done) == 1:
		return failed[0].err
	case len(failed) > 0:
		return failure.Silent(failure.Explain(failed[0].err).Exit)
	}
	return nil
}

// sayFailures says why skills were not updated. Skills of one place fail together, with one error.
func (o *updateOptions) sayFailures(failed []*renewed) {
	names := map[string][]string{}
	for _, r := range failed {
		names[r.err.Error()] = append(names[r.err.Error()], r.Name)
	}
	for _, r := range failed {
		text := r.err.Error()
		who := names[text]
		if who == nil {
			continue
		}
		names[text] = nil
		if more := len(who) - 4; more > 1 {
			who = append(who[:4], fmt.Sprintf("%d more", more))
		}
		o.out.Warn(strings.Join(who, ", ") + ": " + text)
		o.out.Hint(failure.Explain(r.err).Hint)
	}
}

// shaText is how a content is named: by its commit, or by its digest where there is none.
func shaText(e registry.Entry) string {
	if e.CommitSHA != "" {
		return output.Short(e.CommitSHA)
	}
	return output.OrDash(output.Short(e.Digest))
}

// gone is the error for a skill that its source has no longer.
func (o *updateOptions) gone(ctx context.Context, s *install.Status) error {
	e := s.Entry
	next := "agent skill remove " + e.NameCanonical + " removes it"
	there := slices.ContainsFunc(o.services.Packages.Installed(ctx).All(), func(other registry.Entry) bool { return other.NameCanonical == manifest.Canonical(s.Instead) })
	switch {
	case s.Instead != "" && there:
		next = fmt.Sprintf("in its place is %q now, which is installed: %s", s.Instead, next)
	case s.Instead != "":
		next = fmt.Sprintf("in its place is %q now: %s installs it, %s", s.Instead, cure.Add(e.Source, "", s.Instead), next)
	}
	return failure.NotFound(fmt.Errorf("%s has no skill %q any more; the installed one stays", e.Source, e.Name), next)
}
