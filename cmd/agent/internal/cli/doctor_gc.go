package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/script"
)

// sweepJSON is the output of doctor --gc --json.
type sweepJSON struct {
	Removed []script.Swept `json:"removed"`
	Freed   int64          `json:"freed_bytes"`

	Versions  []string `json:"versions"`  // of installed skills, that were removed
	Forgotten []string `json:"forgotten"` // skills with approvals or grants of versions that are gone
}

// sweep deletes unused cache entries and old conversations, after showing them.
func (o *doctorOptions) sweep(ctx context.Context) error {
	if err := o.settings.NeedHome(); err != nil {
		return err
	}
	if _, err := o.trust.Load(ctx); err != nil {
		return err // without the approvals it is unknown what is needed
	}
	host, err := o.tools.Host()
	if err != nil {
		return err
	}
	how := &script.SweepOptions{Now: o.sys.Now, Needed: func(digest string) bool { return o.approved(ctx, digest) }, DryRun: true}
	found, err := o.unneeded(ctx, host, how)
	if err != nil {
		return err
	}
	if len(found) > 0 && !o.yes {
		if err := o.mayRemove(ctx, found); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		how.DryRun = false // what is needed is computed again, under the lock
		found, err = o.unneeded(ctx, host, how)
	}
	if errors.Is(err, script.ErrInUse) {
		return failure.Conflict(err, "nothing was removed: try again when it has ended")
	}
	versions := &sweptVersions{}
	if err == nil {
		versions, err = sweepVersions(ctx, o.packages, o.trust)
	}
	if told := o.swept(found, versions); err == nil {
		err = told
	}
	return err
}

// unneeded finds, or removes, what is not needed of the cache, of policies that were fetched, of servers of tools and of saved conversations.
func (o *doctorOptions) unneeded(ctx context.Context, host *script.Host, how *script.SweepOptions) ([]script.Swept, error) {
	found, err := host.Sweep(ctx, how)
	if err != nil {
		return found, err
	}
	cfg := o.settings.Config()
	found = append(found, worker.OldTemps(ctx, cfg.Paths.Cache, !how.DryRun)...)
	found = append(found, o.packages.OldFetches(!how.DryRun)...)
	found = append(found, o.services.MCP.Unneeded(ctx, !how.DryRun)...)
	if where := o.settings.Conversations(); where != nil && cfg.Agent.Keep > 0 {
		for _, p := range saved.Prune(ctx, where, cfg.Agent.Keep, how.DryRun) {
			rel, _ := filepath.Rel(filepath.Dir(where.Dir), p.Path)
			found = append(found, script.Swept{Path: filepath.ToSlash(rel), Why: p.Why, Bytes: p.Bytes})
		}
	}
	return found, nil
}

// approved reports whether a content is approved now: another process may have asked since.
func (o *doctorOptions) approved(ctx context.Context, digest string) bool {
	set, err := o.trust.Load(ctx)
	if err != nil {
		return true
	}
	for _, ok := range set.Approvals() {
		if ok.Is(digest) {
			return true
		}
	}
	return false
}

// mayRemove asks whether to delete what was shown.
func (o *doctorOptions) mayRemove(ctx context.Context, found []script.Swept) error {
	var lines []string
	for _, s := range found {
		lines = append(lines, fmt.Sprintf("  %s (%s): %s", s.Path, bytesText(s.Bytes), s.Why))
	}
	if !o.approver.There() {
		o.out.Details(lines)
	}
	yes, err := o.approver.Ask(ctx, &consent.Question{Details: lines,
		Text:   fmt.Sprintf("Remove %s, %s?", output.Count(len(found), "thing"), bytesText(total(found))),
		Nobody: "no terminal to ask on, so nothing was removed", Instead: "--yes removes it without asking"})
	if err == nil && !yes {
		err = failure.Denied(errors.New("nothing was removed"), "")
	}
	return err
}

// swept prints what was removed.
func (o *doctorOptions) swept(found []script.Swept, versions *sweptVersions) error {
	if o.json {
		return o.out.JSON(map[string]sweepJSON{"gc": {append([]script.Swept{}, found...), total(found), append([]string{}, versions.Removed...), append([]string{}, versions.forgotten...)}})
	}
	saySwept(o.out, versions)
	if len(found) == 0 && !versions.empty() {
		return nil
	}
	if len(found) == 0 {
		o.out.Printf("There is nothing to remove\n")
		return nil
	}
	var rows [][]string
	for _, s := range found {
		rows = append(rows, []string{bytesText(s.Bytes), s.Why, s.Path})
	}
	if err := o.out.Table([]string{"SIZE", "WHY", "REMOVED"}, rows); err != nil {
		return err
	}
	o.out.Printf("\nFreed %s\n", ui.Safe(bytesText(total(found))))
	return nil
}

func total(found []script.Swept) (bytes int64) {
	for _, s := range found {
		bytes += s.Bytes
	}
	return bytes
}

// bytesText formats a size for people: 850 bytes, 12.3 KB, 4.0 MB.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return output.Count(int(n), "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
