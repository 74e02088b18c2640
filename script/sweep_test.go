package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/script/runner"
)

var (
	wanted = "sha256-" + strings.Repeat("a", 64)
	gone   = "sha256-" + strings.Repeat("b", 64)
)

// litter fills a host's cache with all that Sweep knows and some that it does not. "old" was not used for 31 days,
// "new" for 29.
func litter(t *testing.T, h *rig, now time.Time) {
	t.Helper()
	tree{
		"python/old.json": `{"folder":"old-1"}`, "python/old-1/bin/python": "1234567", "python/old.lock": "",
		"python/new.json": `{"folder":"new-2"}`, "python/new-2/bin/python": "x", "python/new.lock": "", "python/new-1/former": "abc",
		"python/bad.json": `{"folder":"../../keep"}`, "python/x-work-3/stub.py": "",
		"sealed/" + wanted + "/s/SKILL.md": "y", "sealed/" + wanted + "/.new-AB/SKILL.md": "z", "sealed/" + wanted + "-x12345678/s/SKILL.md": "y",
		"sealed/" + gone + "/s/scripts/a.sh": "echo", "sealed/" + gone + "-x12345678/s/SKILL.md": "",
		"sealed/other/file": "", "sealed/sha256-short/file": "", "keep/file": "", "uv/x/file": "", "bundled/x/file": "",
	}.Write(t, h.Cache)
	for _, dir := range []string{gone + "/s/scripts", gone + "/s"} {
		if err := os.Chmod(filepath.Join(h.Cache, "sealed", dir), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	for name, days := range map[string]int{"old": 31, "new": 29, "bad": 40} {
		used := now.Add(-time.Duration(days) * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(h.Cache, "python", name+".json"), used, used); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(h.Cache, "keep"), filepath.Join(h.Cache, "python", "linked-1")); err != nil {
		t.Fatal(err)
	}
}

// Unneeded files are removed, read-only or not. Needed and unknown files and the targets of links stay.
func TestSweep(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	h := host(t)
	litter(t, h, now)
	o := &SweepOptions{Now: func() time.Time { return now }, Needed: func(digest string) bool { return digest == "sha256:"+strings.Repeat("a", 64) }, DryRun: true}
	want := []string{
		"sealed/" + wanted + "/.new-AB 1 left by a copy that was broken off",
		"sealed/" + gone + " 4 no approval needs this copy",
		"sealed/" + gone + "-x12345678 0 no approval needs this copy",
		"python/bad.json 23 not used since 2026-03-22",
		"python/old.json 25 not used since 2026-03-31",
		"python/new-1 3 left by an earlier preparation",
		"python/x-work-3 0 left by an earlier preparation",
		"uv/x 0 downloads of packages, of which environments have copies", // C69
	}
	for _, dry := range []bool{true, false} {
		o.DryRun = dry
		found, err := h.Sweep(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found {
			got = append(got, fmt.Sprintf("%s %d %s", s.Path, s.Bytes, s.Why))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("dry %t: got\n%s\nwant\n%s", dry, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, name := range []string{"python/old.json", "python/old-1", "python/old.lock", "python/new-1", "python/x-work-3",
			"uv/x", "sealed/" + gone, "sealed/" + wanted + "/.new-AB"} {
			if _, err := os.Lstat(filepath.Join(h.Cache, name)); (err == nil) != dry {
				t.Errorf("dry %t: %s: %v", dry, name, err)
			}
		}
	}
	for _, name := range []string{"python/new.json", "python/new-2/bin/python", "python/new.lock", "sealed/" + wanted + "/s/SKILL.md",
		"sealed/" + wanted + "-x12345678/s/SKILL.md", "sealed/other/file", "sealed/sha256-short/file", "keep/file", "bundled/x/file"} {
		if _, err := os.Lstat(filepath.Join(h.Cache, name)); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
	if found, err := h.Sweep(t.Context(), o); len(found) != 0 || err != nil {
		t.Errorf("a second time: %v, %v", found, err)
	}
	empty := host(t)
	empty.Cache = filepath.Join(t.TempDir(), "none")
	if found, err := empty.Sweep(t.Context(), o); len(found) != 0 || err != nil {
		t.Errorf("without a cache: %v, %v", found, err)
	}
	if _, err := os.Stat(empty.Cache); err == nil {
		t.Error("a sweep makes a cache")
	}
}

// Nothing goes while a script runs, and a run waits for a sweep.
func TestSweepWaits(t *testing.T) {
	h := host(t)
	s := open(t, "", tree{"scripts/a.sh": "echo '{}'"})
	now := time.Now()
	o := &SweepOptions{Now: func() time.Time { return now }, Wait: time.Millisecond}
	var inRun error
	h.Runner = runner.RunnerFunc(func(context.Context, *runner.Command) (*runner.Output, error) {
		_, inRun = h.Sweep(t.Context(), o)
		return &runner.Output{Stdout: []byte("{}")}, nil
	})
	if _, err := runAs(t, h, s, "a", nil); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(inRun, ErrInUse) {
		t.Errorf("while a script runs: %v, want ErrInUse", inRun)
	}
	if _, err := h.Sweep(t.Context(), o); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	unlock, err := lockfile.Lock(t.Context(), filepath.Join(h.Cache, "use.lock"), time.Second) // as a sweep does
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	inRun = nil
	if _, err := h.Run(ctx, s, Script{Name: "a", File: "scripts/a.sh"}, nil); !errors.Is(err, context.DeadlineExceeded) || inRun != nil {
		t.Errorf("during a sweep a run begins: %v, %v", err, inRun)
	}
}

// Without options Sweep removes environments that were not used for a while by the real clock, and keeps every copy.
func TestSweepWithoutOptions(t *testing.T) {
	for name, o := range map[string]*SweepOptions{"nil": nil, "zero": {}} {
		h := host(t)
		litter(t, h, time.Now())
		found, err := h.Sweep(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found {
			got = append(got, s.Path)
		}
		want := []string{"python/bad.json", "python/old.json", "python/new-1", "python/x-work-3", "uv/x"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
