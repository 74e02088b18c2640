package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/skill"
)

func newRepairCommand(s *app.Services, run func(context.Context, *compareOptions) error) *cobra.Command {
	return comparing(s, run, &cobra.Command{
		Use:   "repair [NAME...]",
		Short: "Put changed or missing files of installed skills back",
		Long: `Make the installed skills what the list of installed skills says. A damaged list is put aside and made anew from the
skills on the disk, none of them trusted. Files that were changed or are missing are fetched again from where they are from,
at the same commit; what is there now is kept in a folder that the answer names. A former version that was damaged is put
into such a folder, too: "agent skill rollback" would refuse it.`,
		Example: `  agent skill repair
  agent skill repair pdf`,
	})
}

// repaired is what became of one skill.
type repaired struct {
	Name      string   `json:"name"`
	Condition string   `json:"condition"` // before
	Repaired  bool     `json:"repaired"`
	Backup    string   `json:"backup,omitempty"`
	Former    []string `json:"former_backups,omitempty"` // folders with former contents that were damaged
	Error     string   `json:"error,omitempty"`

	canonical      string
	linked, former bool // former: a version is kept
}

func runRepair(ctx context.Context, o *compareOptions) error {
	in, found, err := o.compare(ctx, true)
	if err != nil {
		return err
	}
	list := []repaired{}
	var first error
	for i := range found {
		r := repaired{Name: found[i].Entry.Name, Condition: string(found[i].Condition),
			canonical: found[i].Entry.NameCanonical, linked: found[i].Entry.Linked, former: len(found[i].Entry.Previous) > 0}
		err := o.repair(ctx, in, &found[i], &r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Error = err.Error()
			first = cmp.Or(first, err)
		}
		list = append(list, r)
	}
	if err := o.printRepaired(list); err != nil || first == nil {
		return err
	}
	return failure.Silent(failure.Explain(first).Exit)
}

// repair puts the files of one skill back, and what is kept of it aside where it cannot be gone back to.
func (o *compareOptions) repair(ctx context.Context, in *install.Installer, v *install.Verified, r *repaired) (err error) {
	aside := o.services.Packages.Backup(v.Entry.NameCanonical)
	if r.Former, err = in.DropDamaged(ctx, v.Entry, aside+"-former"); err != nil {
		return err
	}
	if v.Condition != install.Edited && v.Condition != install.Missing {
		return nil
	}
	if err := o.out.Busy("fetching "+v.Entry.Name, func() error { return in.Restore(ctx, v.Entry, aside) }); err != nil {
		return err
	}
	if r.Repaired = true; v.Condition == install.Edited {
		r.Backup = aside
	}
	return nil
}

func (o *compareOptions) printRepaired(list []repaired) error {
	if o.json {
		return o.out.JSON(map[string]any{"skills": list})
	}
	left := 0
	for _, r := range list {
		for _, dir := range r.Former {
			o.out.Printf("Forgot a former version of %s that was damaged; it is in %s\n", r.Name, dir)
		}
		switch {
		case r.Repaired:
			o.out.Printf("Repaired %s: its files were %s\n", r.Name, r.Condition)
			if r.Backup != "" {
				o.out.Printf("  what was there is in %s\n", r.Backup)
			}
		case r.Error != "" && r.linked:
			o.out.Warn(fmt.Sprintf("%s (%s): it is a link to a folder", r.Name, r.Condition))
			o.out.Hint(cure.Link(r.Name))
		case r.Error != "":
			o.out.Warn(fmt.Sprintf("%s (%s): %s", r.Name, r.Condition, r.Error))
			hint := "agent skill update " + r.canonical + " installs what the source has now"
			if r.former {
				hint += "; agent skill rollback " + r.canonical + " goes back to a former version"
			}
			o.out.Hint(hint)
		case len(r.Former) == 0:
			left++
		}
	}
	if left > 0 {
		o.out.Printf("nothing to repair in %s\n", output.Count(left, "skill"))
	}
	if len(list) == 0 {
		o.out.Printf("No skills are installed\n")
	}
	return nil
}

type gcOptions struct {
	services *app.Services
	out      *output.Printer

	json bool
}

func newGCCommand(s *app.Services, run func(context.Context, *gcOptions) error) *cobra.Command {
	o := &gcOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete versions of skills that nothing needs any more",
		Long: `Delete the versions of skills that are neither installed nor kept for a rollback, and what interrupted commands left. A
version that a script runs right now stays until the next time. "agent doctor --gc" does this too, and clears the caches.`,
		Example: "  agent skill gc",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runGC(ctx context.Context, o *gcOptions) error {
	r, err := sweepVersions(ctx, o.services.Packages, o.services.Trust)
	if err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]any{"gc": map[string]any{"removed": append([]string{}, r.Removed...), "postponed": append([]string{}, r.Postponed...), "remains": r.Stages, "forgotten": append([]string{}, r.forgotten...)}})
	}
	saySwept(o.out, r)
	if r.empty() {
		o.out.Printf("There is nothing to remove\n")
	}
	return nil
}

// sweptVersions is what became of the versions that nothing needs.
type sweptVersions struct {
	install.Swept
	forgotten []string // skills with approvals or grants of versions that are gone
}

func (r *sweptVersions) empty() bool {
	return len(r.Removed)+len(r.Postponed)+r.Stages+len(r.forgotten) == 0
}

// sweepVersions removes the versions that nothing needs, and what was approved of versions that are gone.
func sweepVersions(ctx context.Context, p *packages.Packages, t *grants.Trust) (*sweptVersions, error) {
	out := &sweptVersions{}
	in, err := p.Installer()
	if err != nil {
		return out, err
	}
	edit, err := t.Edit()
	if err != nil {
		return out, err
	}
	r, err := in.Sweep(ctx, func(gone func(skill.ID) bool) error {
		list, err := edit.Forget(ctx, gone)
		for _, c := range list {
			out.forgotten = append(out.forgotten, fmt.Sprintf("%s [%s]", c.Name, output.Short(c.Digest)))
		}
		return err
	})
	if r != nil {
		out.Swept = *r
	}
	return out, err
}

func saySwept(out *output.Printer, r *sweptVersions) {
	for _, path := range r.Removed {
		out.Printf("Removed %s\n", path)
	}
	for _, path := range r.Postponed {
		out.Printf("In use, stays for now: %s\n", path)
	}
	if r.Stages > 0 {
		out.Printf("Removed the remains of %s\n", output.Count(r.Stages, "interrupted command"))
	}
	for _, of := range r.forgotten {
		out.Printf("Forgot what was approved of a version that is gone: %s\n", of)
	}
}
