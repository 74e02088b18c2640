package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script"
)

// sweepJSON is the output of doctor --gc --json.
type sweepJSON struct {
	Removed []script.Swept `json:"removed"`
	Freed   int64          `json:"freed_bytes"`
}

// sweep removes from the cache what nobody needs, after showing it.
func (a *app) sweep(ctx context.Context, yes, json bool) error {
	if err := a.needHome(); err != nil {
		return err
	}
	if _, err := a.trusted(); err != nil {
		return err // without the approvals nobody knows what is needed
	}
	host, o := a.scripts(), &script.SweepOptions{Now: a.sys.Now, Needed: a.approved, DryRun: true}
	found, err := host.Sweep(ctx, o)
	if err != nil {
		return err
	}
	if len(found) > 0 && !yes {
		if err := a.mayRemove(ctx, found); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		o.DryRun = false // what is needed by now is asked anew, under the lock
		found, err = host.Sweep(ctx, o)
	}
	if errors.Is(err, script.ErrInUse) {
		return conflict(err, "nothing was removed: try again when it has ended")
	}
	if told := a.swept(found, json); err == nil {
		err = told
	}
	return err
}

// approved reports whether a content is approved now: another process may have asked since.
func (a *app) approved(digest string) bool {
	set, err := a.trusted()
	if err != nil {
		return true
	}
	for _, ok := range set.Approvals() {
		if ok.Digest == digest {
			return true
		}
	}
	return false
}

// mayRemove asks the person whether what is shown may go.
func (a *app) mayRemove(ctx context.Context, found []script.Swept) error {
	var lines []string
	for _, s := range found {
		lines = append(lines, fmt.Sprintf("  %s (%s): %s", s.Path, bytesText(s.Bytes), s.Why))
	}
	a.details(lines)
	if !a.ui.CanAsk() {
		return denied(errors.New("nobody is there to ask, and nothing was removed"), "--yes removes what is shown without asking")
	}
	said, err := a.ask(ctx, fmt.Sprintf("Remove %s from the cache, %s?", count(len(found), "thing"), bytesText(total(found))))
	if err == nil && !said {
		err = denied(errors.New("nothing was removed"), "")
	}
	return err
}

// swept tells what was removed.
func (a *app) swept(found []script.Swept, json bool) error {
	if json {
		return a.printJSON(map[string]sweepJSON{"gc": {append([]script.Swept{}, found...), total(found)}})
	}
	if len(found) == 0 {
		a.ui.Printf("There is nothing to remove\n")
		return nil
	}
	var rows [][]string
	for _, s := range found {
		rows = append(rows, []string{bytesText(s.Bytes), s.Why, s.Path})
	}
	if err := a.ui.Table([]string{"SIZE", "WHY", "REMOVED"}, rows); err != nil {
		return err
	}
	a.ui.Printf("\nFreed %s\n", ui.Safe(bytesText(total(found))))
	return nil
}

func total(found []script.Swept) (bytes int64) {
	for _, s := range found {
		bytes += s.Bytes
	}
	return bytes
}

// bytesText writes a size as a person says it: 850 bytes, 12.3 KB, 4.0 MB.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return count(int(n), "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
