package places

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// DefaultUnused is how long an unused environment is kept.
const DefaultUnused = 30 * 24 * time.Hour

// Use marks the cache as in use until done is called: until then Sweep removes nothing. It waits at most wait for a Sweep to
// end. It returns the error of ctx, or a *fail.Error with code Timeout. On a file system without locks it does nothing, and
// Sweep fails.
func (st *Store) Use(ctx context.Context, wait time.Duration) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	none := func() {}
	if err := os.MkdirAll(st.o.Cache, 0o700); err != nil {
		return none, nil //nolint:nilerr // the next step reports the fault
	}
	done, err = lockfile.Share(ctx, st.useLock(), wait)
	switch {
	case err == nil:
		return done, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, lockfile.ErrLocked):
		return nil, &fail.Error{Code: fail.Timeout, Reason: fail.ReasonCache, Err: err, Message: fmt.Sprintf("The cache for scripts was locked for %s by another process", fail.Seconds(wait))}
	}
	return none, nil //nolint:nilerr // a file system without locks
}

func (st *Store) useLock() string { return filepath.Join(st.o.Cache, "use.lock") }

// ErrInUse is returned by Sweep while a script runs or is prepared.
var ErrInUse = errors.New("a script is running or being prepared")

// SweepOptions says what Sweep may remove. The zero value removes only unused environments, downloads and unfinished work.
type SweepOptions struct {
	Needed func(digest string) bool // whether a sealed content is still approved; nil: all are
	Now    func() time.Time         // nil means time.Now
	Wait   time.Duration            // for runs to end; 0 means 2 s
	DryRun bool                     // only report; nothing is waited for
}

// Swept is something that Sweep removed. All of it is made again when it is needed.
type Swept struct {
	Path  string `json:"path"` // slash path in the cache
	Why   string `json:"why"`
	Bytes int64  `json:"bytes"`

	parts []string // what goes, in this order: the record of an environment goes first
}

// Sweep removes what the cache need not keep: copies, temporary files, and the environments that unused returns. A nil o means the zero
// value. It returns ErrInUse if the runs do not end in time, the error of ctx with what was removed until then, or an error if the cache
// cannot be locked.
func (st *Store) Sweep(ctx context.Context, o *SweepOptions, unused func(since time.Time) []envstore.Leftover) ([]Swept, error) {
	if o == nil {
		o = &SweepOptions{}
	}
	if _, err := os.Stat(st.o.Cache); err != nil {
		return nil, nil //nolint:nilerr // nothing was ever put there
	}
	if !o.DryRun {
		unlock, err := lockfile.Lock(ctx, st.useLock(), cmp.Or(o.Wait, 2*time.Second))
		if errors.Is(err, lockfile.ErrLocked) {
			return nil, ErrInUse
		}
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	found := slices.Concat(st.sealed(o), st.environments(o, unused), st.temporary(o))
	for i := range found {
		if err := ctx.Err(); err != nil {
			return found[:i], err
		}
		for _, part := range found[i].parts {
			_, bytes := proc.Measure(part)
			found[i].Bytes += bytes
			if !o.DryRun {
				ondisk.RemoveAll(part)
			}
		}
	}
	return found, nil
}

// swept returns the entries of a folder of the cache that can be removed.
func (st *Store) swept(path, why string, parts ...string) Swept {
	rel, _ := filepath.Rel(st.o.Cache, path)
	return Swept{Path: filepath.ToSlash(rel), Why: why, parts: parts}
}

// sealed returns the copies that are no longer approved or are unfinished.
func (st *Store) sealed(o *SweepOptions) []Swept {
	if o.Needed == nil {
		return nil
	}
	var out []Swept
	root := st.Sealed()
	for _, d := range inFolder(root) {
		dir := filepath.Join(root, d.Name())
		digest, ok := sealedDigest(d.Name())
		switch {
		case !ok || !d.IsDir(): // not ours
		case !o.Needed(digest):
			out = append(out, st.swept(dir, "no approval needs this copy", dir))
		default:
			for _, left := range inFolder(dir) {
				if strings.HasPrefix(left.Name(), ".new-") || strings.HasPrefix(left.Name(), ".old-") {
					half := filepath.Join(dir, left.Name())
					out = append(out, st.swept(half, "left by a copy that was broken off", half))
				}
			}
		}
	}
	return out
}

// sealedDigest is the digest in the name of a copy's folder: sha256-HEX, and perhaps more after it.
func sealedDigest(name string) (string, bool) {
	const kind, digits = "sha256-", 64
	hex, ok := strings.CutPrefix(name, kind)
	if !ok || len(hex) < digits || strings.Trim(hex[:digits], "0123456789abcdef") != "" || len(hex) > digits && hex[digits] != '-' {
		return "", false
	}
	return "sha256:" + hex[:digits], true
}

// temporary returns the folders for temporary files that no script used for as long as they are kept.
func (st *Store) temporary(o *SweepOptions) []Swept {
	var out []Swept
	for _, dir := range st.oldTemps(o.now()) {
		out = append(out, st.swept(dir, "temporary files of a skill that did not run for "+st.o.KeepTemp.String(), dir))
	}
	return out
}

// now returns the present time.
func (o *SweepOptions) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// environments returns the unused environments, the folders that no record names, and downloads.
func (st *Store) environments(o *SweepOptions, unused func(time.Time) []envstore.Leftover) []Swept {
	var out []Swept
	before := o.now().Add(-DefaultUnused)
	for _, l := range unused(before) {
		out = append(out, st.swept(l.Path, l.Why, l.Parts...))
	}
	return out
}
