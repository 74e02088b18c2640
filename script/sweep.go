package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/internal/program"
)

// sealedFolder is the folder in the cache for copies of approved content.
const sealedFolder = "sealed"

// DefaultUnused is how long an unused environment is kept.
const DefaultUnused = 30 * 24 * time.Hour

// use marks the cache as in use until done is called: until then Sweep removes nothing. It waits at most wait for a Sweep to
// end. It returns the error of ctx, or an *Error with code Timeout. On a file system without locks it does nothing, and
// Sweep fails.
func (h *Host) use(ctx context.Context, wait time.Duration) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	none := func() {}
	if err := os.MkdirAll(h.o.Cache, 0o700); err != nil {
		return none, nil //nolint:nilerr // the next step reports the fault
	}
	done, err = lockfile.Share(ctx, h.useLock(), wait)
	switch {
	case err == nil:
		return done, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, lockfile.ErrLocked):
		return nil, &Error{Code: Timeout, Reason: ReasonCache, Err: err, Message: fmt.Sprintf("The cache for scripts was locked for %s by another process", seconds(wait))}
	}
	return none, nil //nolint:nilerr // a file system without locks
}

func (h *Host) useLock() string { return filepath.Join(h.o.Cache, "use.lock") }

// ErrInUse is returned by Sweep while a script runs or is prepared.
var ErrInUse = errors.New("a script is running or being prepared")

// SweepOptions says what Sweep may remove. The zero value removes only unused environments, downloads and unfinished work.
type SweepOptions struct {
	Needed func(digest string) bool // whether a sealed content is still approved; nil: all are
	Unused time.Duration            // least time since its last use after which an environment goes; 0 means DefaultUnused
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

// Sweep removes sealed copies that are not needed, unused environments, downloads that environments have copies of, temporary files that
// are not kept any longer, and the remains of killed preparations and copies from the cache. It removes nothing that is in use: it waits for runs to end, and a run that starts meanwhile waits for it.
// A nil o means the zero value. Sweep returns ErrInUse if the runs do not end in time, the error of ctx with what was removed
// until then, or an error if the cache cannot be locked.
func (h *Host) Sweep(ctx context.Context, o *SweepOptions) ([]Swept, error) {
	if o == nil {
		o = &SweepOptions{}
	}
	if _, err := os.Stat(h.o.Cache); err != nil {
		return nil, nil //nolint:nilerr // nothing was ever put there
	}
	if !o.DryRun {
		unlock, err := lockfile.Lock(ctx, h.useLock(), cmp.Or(o.Wait, 2*time.Second))
		if errors.Is(err, lockfile.ErrLocked) {
			return nil, ErrInUse
		}
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	found := slices.Concat(h.sealed(o), h.environments(o), h.temporary(o))
	for i := range found {
		if err := ctx.Err(); err != nil {
			return found[:i], err
		}
		for _, part := range found[i].parts {
			_, bytes := proc.Measure(part)
			found[i].Bytes += bytes
			if !o.DryRun {
				program.RemoveAll(part)
			}
		}
	}
	return found, nil
}

// swept returns the entries of a folder of the cache that can be removed.
func (h *Host) swept(path, why string, parts ...string) Swept {
	rel, _ := filepath.Rel(h.o.Cache, path)
	return Swept{Path: filepath.ToSlash(rel), Why: why, parts: parts}
}

// sealed returns the copies that are no longer approved or are unfinished.
func (h *Host) sealed(o *SweepOptions) []Swept {
	if o.Needed == nil {
		return nil
	}
	var out []Swept
	root := filepath.Join(h.o.Cache, sealedFolder)
	for _, d := range inFolder(root) {
		dir := filepath.Join(root, d.Name())
		digest, ok := sealedDigest(d.Name())
		switch {
		case !ok || !d.IsDir(): // not ours
		case !o.Needed(digest):
			out = append(out, h.swept(dir, "no approval needs this copy", dir))
		default:
			for _, left := range inFolder(dir) {
				if strings.HasPrefix(left.Name(), ".new-") || strings.HasPrefix(left.Name(), ".old-") {
					half := filepath.Join(dir, left.Name())
					out = append(out, h.swept(half, "left by a copy that was broken off", half))
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
func (h *Host) temporary(o *SweepOptions) []Swept {
	var out []Swept
	for _, dir := range h.oldTemps(o.now()) {
		out = append(out, h.swept(dir, "temporary files of a skill that did not run for "+h.o.KeepTemp.String(), dir))
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
func (h *Host) environments(o *SweepOptions) []Swept {
	var out []Swept
	before := o.now().Add(-cmp.Or(o.Unused, DefaultUnused))
	for _, l := range h.envs.Unused(before) {
		out = append(out, h.swept(l.Path, l.Why, l.Parts...))
	}
	return out
}

// inFolder returns the entries of a folder, by name; none if it cannot be read.
func inFolder(dir string) []fs.DirEntry {
	entries, _ := os.ReadDir(dir)
	return slices.DeleteFunc(entries, func(d fs.DirEntry) bool { return d.Type()&fs.ModeSymlink != 0 })
}
