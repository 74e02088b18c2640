// Package skilltest has a test suite for implementations of skill.Source, and writes skills from a text for tests.
//
// [Source] checks the rules that the interface cannot express. [FromTxtar] writes skills from a txtar archive into a
// temporary folder. [TempDir] is a folder for caches.
//
// The package is for tests only. Its functions may be called from parallel tests.
package skilltest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// rule is one rule for sources. Check returns an error that describes the violation, or nil.
type rule struct {
	Name  string
	Why   string // what goes wrong elsewhere if the rule is broken
	Check func(context.Context, skill.Source) error
}

// sourceRules returns the rules that Source checks, for callers that run them without it.
func sourceRules() []rule {
	return []rule{
		{"some-skill", "a suite over an empty source proves nothing: give it at least one skill", someSkill},
		{"path-valid", "paths appear in mounts and messages: each must be a unique slash path below the root", pathValid},
		{"file-name", "a manifest is called SKILL.md, or skill.md if there is no SKILL.md", fileName},
		{"head-is-beginning", "the catalogue parses Head instead of the file: it must be the beginning of the file, with the whole front matter, or have the same if it was told", headIsBeginning},
		{"confined", "a skill must read only its own files, for any path", confined},
		{"location", "scripts run in a skill's location: it must be an absolute folder with the same manifest", location},
		{"repeatable", "the same content must yield the same skills, or prompts change and caches are lost", repeatable},
		{"stops-early", "a caller may stop after any skill", stopsEarly},
		{"context", "the iteration must end when ctx is done", contextEnds},
		{"concurrent", "catalogues are opened and refreshed in several goroutines", concurrent},
		{"catalogue", "every skill that is found must load, and a refresh must not find a change where there is none", catalogue},
	}
}

// Source runs the suite: one subtest for each rule, each with a new source. Run it with -race.
func Source(t *testing.T, newSource func(t *testing.T) skill.Source) {
	t.Helper()
	for _, r := range sourceRules() {
		t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(t.Context(), newSource(t)); err != nil {
				t.Errorf("%v\n(%s)", err, r.Why)
			}
		})
	}
}

// each calls f for every skill without an error.
func each(ctx context.Context, s skill.Source, f func(skill.Found) error) error {
	for found, err := range s.Skills(ctx) {
		if err != nil {
			continue
		}
		found.File = cmp.Or(found.File, "SKILL.md")
		if err := f(found); err != nil {
			return fmt.Errorf("skill %q: %w", found.Path, err)
		}
	}
	return ctx.Err()
}

func someSkill(ctx context.Context, s skill.Source) error {
	n := 0
	err := each(ctx, s, func(skill.Found) error { n++; return nil })
	if err == nil && n == 0 {
		err = errors.New("no skill was found")
	}
	return err
}

func pathValid(ctx context.Context, s skill.Source) error {
	seen := map[string]bool{}
	return each(ctx, s, func(f skill.Found) error {
		if !fs.ValidPath(f.Path) {
			return errors.New("invalid path, see io/fs.ValidPath")
		}
		if seen[f.Path] {
			return errors.New("duplicate path")
		}
		seen[f.Path] = true
		return nil
	})
}

func fileName(ctx context.Context, s skill.Source) error {
	return each(ctx, s, func(f skill.Found) error {
		if f.File != "SKILL.md" && f.File != "skill.md" {
			return fmt.Errorf("invalid manifest name %q", f.File)
		}
		return nil
	})
}

// onTree opens each skill.
func onTree(ctx context.Context, s skill.Source, f func(skill.Found, skill.Tree) error) error {
	return each(ctx, s, func(found skill.Found) (err error) {
		if found.Open == nil {
			return errors.New("found.Open is nil")
		}
		t, err := found.Open(ctx)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		return f(found, t)
	})
}

func headIsBeginning(ctx context.Context, s skill.Source) error {
	return onTree(ctx, s, func(f skill.Found, t skill.Tree) error {
		text, err := fs.ReadFile(t, f.File)
		if err != nil {
			return err
		}
		if f.Told {
			return sameFields(text, f.Head)
		}
		if !bytes.HasPrefix(text, f.Head) {
			return fmt.Errorf("head %.40q is not the beginning of the file %.40q", f.Head, text)
		}
		if _, problems := manifest.Parse(text, nil); fatal(problems) {
			return nil
		}
		if _, problems := manifest.Parse(f.Head, nil); fatal(problems) {
			return fmt.Errorf("head of %d bytes does not contain the whole front matter", len(f.Head))
		}
		return nil
	})
}

// sameFields compares front matter that a place told with that of the file.
func sameFields(text, told []byte) error {
	a, _ := manifest.Parse(text, nil)
	b, problems := manifest.Parse(told, nil)
	if fatal(problems) || a.Name != b.Name || a.Description != b.Description || a.Version != b.Version || !slices.Equal(a.AllowedTools.Rules, b.AllowedTools.Rules) {
		return fmt.Errorf("the front matter %.80q that was told is not that of the file %.80q", told, text)
	}
	return nil
}

func fatal(list []manifest.Problem) bool {
	return slices.ContainsFunc(list, func(p manifest.Problem) bool { return p.Fatal })
}

func confined(ctx context.Context, s skill.Source) error {
	return onTree(ctx, s, func(_ skill.Found, t skill.Tree) error {
		for _, name := range []string{"..", "../" + "SKILL.md", "/etc/passwd", "a/../../SKILL.md", "", "./SKILL.md", "SKILL.md/"} {
			if file, err := t.Open(name); err == nil {
				file.Close()
				return fmt.Errorf("%q can be opened", name)
			}
		}
		return nil
	})
}

func location(ctx context.Context, s skill.Source) error {
	return onTree(ctx, s, func(f skill.Found, t skill.Tree) error {
		l, ok := t.(skill.Locator)
		if !ok {
			return nil
		}
		dir, err := l.Location(ctx)
		if err != nil {
			return nil // it cannot be stored on a disk here
		}
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("location %q is not absolute", dir)
		}
		there, err := readHead(filepath.Join(dir, f.File), len(f.Head))
		if err != nil || !bytes.Equal(there, f.Head) {
			return fmt.Errorf("location %q does not contain the manifest: %v", dir, err)
		}
		return nil
	})
}

// snapshot returns the results of an iteration as text.
func snapshot(ctx context.Context, s skill.Source) []string {
	var out []string
	for f, err := range s.Skills(ctx) {
		out = append(out, fmt.Sprintf("%s %s %v %x %v", f.Path, f.File, f.Stamp, f.Head, err))
	}
	return out
}

func repeatable(ctx context.Context, s skill.Source) error {
	first, second := snapshot(ctx, s), snapshot(ctx, s)
	if !slices.Equal(first, second) {
		return errors.New("a second iteration differs from the first")
	}
	return nil
}

func stopsEarly(ctx context.Context, s skill.Source) error {
	for range s.Skills(ctx) {
		break
	}
	return nil
}

func contextEnds(ctx context.Context, s skill.Source) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	n := 0
	for _, err := range s.Skills(ctx) {
		if n++; err == nil && n > 1 {
			return errors.New("skills are yielded after ctx is done")
		}
	}
	return nil
}

func concurrent(ctx context.Context, s skill.Source) error {
	want := snapshot(ctx, s)
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			if !slices.Equal(snapshot(ctx, s), want) {
				errs[i] = errors.New("a concurrent iteration differs")
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func catalogue(ctx context.Context, s skill.Source) error {
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "suite", Source: s}}})
	if err != nil {
		return err
	}
	for e := range c.Visible() {
		loaded, err := e.Load(ctx)
		if err != nil {
			return fmt.Errorf("skill %q does not load: %w", e.Name(), err)
		}
		_, err = loaded.Files(ctx)
		if err = errors.Join(err, loaded.Close()); err != nil {
			return fmt.Errorf("skill %q: %w", e.Name(), err)
		}
	}
	again, err := c.Refresh(ctx)
	if err == nil && again != c {
		err = errors.New("a refresh reports a change, but nothing changed")
	}
	return err
}
