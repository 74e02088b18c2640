package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

type removeOptions struct {
	services *app.Services
	out      *output.Printer

	names     []string
	yes, json bool
}

func newRemoveCommand(s *app.Services, run func(context.Context, *removeOptions) error) *cobra.Command {
	o := &removeOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"uninstall"},
		Short:   "Remove installed skills, after asking",
		Long: `Remove installed skills: their files, the former versions, what was approved and granted under the name, the private
home of their scripts and what these keep in the cache, and the entries in your settings and in skills-lock.json of the project. A folder that was linked
stays. A version that a script runs right now is removed by the next "agent skill gc". If another skill requires one of them,
you are told. It works on a full disk, too.`,
		Example: `  agent skill remove pdf
  agent skill remove pdf csv --yes`,
		Args:              arguments(1, -1, "the names of installed skills"),
		ValidArgsFunction: completeInstalled(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.names = args
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// removed is what was removed of one skill.
type removed struct {
	Name      string   `json:"name"`
	Canonical string   `json:"name_canonical"`
	Versions  []string `json:"versions"`    // folders
	Postponed []string `json:"postponed"`   // folders that are in use
	Trust     bool     `json:"trust"`       // approvals or grants
	HomeFiles int      `json:"home_files"`  // of the private home
	Cached    int      `json:"cache_files"` // that its scripts kept in the cache
	Settings  bool     `json:"settings"`    // the entry in the user's settings
	Lock      bool     `json:"lock"`        // the entry in the project's lock file
	Links     []string `json:"links"`       // of other agents to it
	Kept      string   `json:"kept,omitempty"`
	Instead   string   `json:"instead,omitempty"` // the file of the skill that has the name now
}

func runRemove(ctx context.Context, o *removeOptions) error {
	in, entries, err := installedSkills(ctx, o.services, true, o.names...)
	if err != nil {
		return err
	}
	once := map[string]bool{}
	entries = slices.DeleteFunc(entries, func(e registry.Entry) bool {
		twice := once[e.NameCanonical]
		once[e.NameCanonical] = true
		return twice
	})
	all, err := in.Installed(ctx)
	if err != nil {
		return err
	}
	required := requiredBy(entries, all)
	if err := o.confirm(ctx, entries, required); err != nil {
		return err
	}
	for _, line := range required {
		o.out.Warn(line)
	}
	done := []*removed{}
	err = o.out.Busy("removing "+output.Count(len(entries), "skill"), func() (err error) {
		done, err = o.remove(ctx, in, entries)
		return err
	})
	o.instead(ctx, done)
	return errors.Join(o.report(done), err)
}

// requiredBy says which of the skills are required by others that stay.
func requiredBy(gone, all []registry.Entry) (lines []string) {
	stay := map[string][]string{}
	for _, e := range all {
		if !slices.ContainsFunc(gone, func(g registry.Entry) bool { return g.NameCanonical == e.NameCanonical }) {
			stay[e.NameCanonical] = e.Requires
		}
	}
	for _, e := range gone {
		if by := install.Dependents(e.Name, "", stay); len(by) > 0 {
			lines = append(lines, fmt.Sprintf("%s is required by %s, which cannot be used without it", e.NameCanonical, strings.Join(by, ", ")))
		}
	}
	return lines
}

// confirm asks once about all of them.
func (o *removeOptions) confirm(ctx context.Context, entries []registry.Entry, required []string) error {
	if o.yes {
		return nil
	}
	text := fmt.Sprintf("Remove %s?", entries[0].Name)
	if len(entries) > 1 {
		text = fmt.Sprintf("Remove these %d skills?", len(entries))
	}
	var details []string
	for _, e := range entries {
		line := fmt.Sprintf("  %s [%s] from %s", e.Name, shaText(e), output.OrDash(e.Source))
		if n := len(e.Previous); n > 0 {
			line += ", with " + output.Count(n, "former version")
		}
		details = append(details, line)
	}
	for _, line := range required {
		details = append(details, "  "+line)
	}
	details = append(details, "  with what was approved and granted under the name, and the private home")
	yes, err := o.services.Approver.Ask(ctx, &consent.Question{Text: text, Details: details,
		Nobody: "no terminal to ask on, so nothing was removed", Instead: "--yes removes without asking"})
	if err == nil && !yes {
		err = failure.Denied(errors.New("nothing was removed"), "")
	}
	return err
}

// remove removes skills, and returns those that are no longer installed. Each list is changed in one step for all of them, the trust
// first: what is left after a failure does not run, and can be removed again. Only on a full disk the files go first, because the
// lists cannot be written without what they free.
func (o *removeOptions) remove(ctx context.Context, in *install.Installer, entries []registry.Entry) ([]*removed, error) {
	packages, all := o.services.Packages, []*removed{}
	for _, e := range entries {
		if err := packages.Record(ctx, trace.SkillRemoved, e, nil); err != nil {
			return nil, err
		}
		all = append(all, &removed{Name: e.Name, Canonical: e.NameCanonical, Versions: []string{}, Postponed: []string{}, Links: []string{}})
	}
	gone, err := o.fromLists(ctx, in, all)
	if failure.IsFull(err) && !gone {
		if err = o.makeRoom(ctx, in, all); err == nil {
			gone, err = o.fromLists(ctx, in, all)
		}
	}
	if !gone {
		for _, e := range entries {
			_ = packages.Record(ctx, trace.SkillRemoved, e, err) // the first error is told
		}
		return nil, err
	}
	for i, e := range entries {
		all[i].Links = append(all[i].Links, packages.RemoveLinks(e)...)
		if e.Linked {
			all[i].Kept = e.InstalledPath
		}
	}
	return all, errors.Join(err, o.clear(all))
}

// instead notes the skills that have the names of the removed ones now.
func (o *removeOptions) instead(ctx context.Context, done []*removed) {
	if len(done) == 0 {
		return
	}
	cat, err := o.services.Skills.OpenQuietly(ctx)
	if err != nil {
		return // the skills are removed all the same
	}
	for i := range done {
		if other, err := cat.Lookup(done[i].Name); err == nil {
			done[i].Instead = location(ctx, other)
		}
	}
}

// fromLists removes what was approved and granted, the entries of the registry, the settings and the lock file, and the files, in this
// order. It reports whether the skills are no longer installed.
func (o *removeOptions) fromLists(ctx context.Context, in *install.Installer, all []*removed) (gone bool, err error) {
	store, err := o.services.Trust.Edit()
	if err != nil {
		return false, err
	}
	names := namesOf(all)
	revoked, err := store.RevokeAll(ctx, names...)
	if err != nil {
		return false, err
	}
	mark(all, revoked, func(r *removed) { r.Trust = true })
	list, err := in.RemoveAll(ctx, func([]registry.Entry) {
		whole := context.WithoutCancel(ctx) // what is no longer installed stays in no other list
		mark(all, o.services.Packages.Unwish(whole, names...), func(r *removed) { r.Settings = true })
		mark(all, o.services.Packages.Unlock(whole, names...), func(r *removed) { r.Lock = true })
	}, names...)
	for i, g := range list {
		all[i].add(g)
	}
	return list != nil, err
}

func namesOf(all []*removed) []string {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.Name
	}
	return names
}

// mark marks those of a list that have one of the names.
func mark(all []*removed, names []string, set func(*removed)) {
	is := map[string]bool{}
	for _, name := range names {
		is[manifest.Canonical(name)] = true
	}
	for _, r := range all {
		if is[r.Canonical] {
			set(r)
		}
	}
}

// makeRoom removes the files of skills, their private homes and what their scripts keep in the cache.
func (o *removeOptions) makeRoom(ctx context.Context, in *install.Installer, all []*removed) error {
	for _, r := range all {
		gone, err := in.RemoveFiles(ctx, r.Name)
		r.add(gone)
		r.Postponed = []string{} // RemoveAll finds them again
		if err != nil {
			return err
		}
	}
	return o.clear(all)
}

// clear removes the private homes of skills and what their scripts keep in the cache.
func (o *removeOptions) clear(all []*removed) error {
	homes, err := clearHomes(o.services.Tools, namesOf(all)...)
	errs := []error{err}
	for _, r := range all {
		files, err := clearCaches(o.services.Tools, r.Name)
		r.HomeFiles, r.Cached = r.HomeFiles+homes[r.Canonical], r.Cached+files
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *removed) add(gone *install.Removed) {
	if gone != nil {
		r.Versions, r.Postponed = append(r.Versions, gone.Folders...), append(r.Postponed, gone.Postponed...)
	}
}

// report says what was removed.
func (o *removeOptions) report(done []*removed) error {
	if o.json {
		return o.out.JSON(map[string]any{"skills": done})
	}
	for _, r := range done {
		o.out.Printf("Removed %s\n", r.Name)
		o.out.Facts([][2]string{
			{"files", versionsText(len(r.Versions), "")}, {"in use", versionsText(len(r.Postponed), "; agent skill gc removes it later")},
			{"links", strings.Join(r.Links, ", ")}, {"kept", r.Kept}, {"trust", ifSo(r.Trust, "its approvals and grants")}, {"home", ifSo(r.HomeFiles > 0, output.Count(r.HomeFiles, "file"))},
			{"cache", ifSo(r.Cached > 0, output.Count(r.Cached, "file"))},
			{"settings", ifSo(r.Settings, "its entry in \"plugins\"")}, {"lock", ifSo(r.Lock, "its entry in skills-lock.json")}, {"instead", ifSo(r.Instead != "", r.Instead+" has this name now")},
		})
	}
	return nil
}

func versionsText(n int, more string) string {
	return ifSo(n > 0, output.Count(n, "version")+more)
}

// ifSo returns a text if something is so, and otherwise "".
func ifSo(so bool, text string) string {
	if so {
		return text
	}
	return ""
}
