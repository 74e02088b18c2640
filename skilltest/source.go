// Package skilltest helps to test what is built around skills: suites for those who implement an
// interface of this module, and skills from a text.
//
// [Source] holds an implementation of skill.Source to the rules that its interface cannot say.
// [FromTxtar] writes skills from an archive in a test's source into a temporary folder.
//
// The package is for tests alone. Its functions may be called from parallel tests.
package skilltest

import (
	"bytes"
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

// Rule is one thing that a source must hold to. Check returns nil or what was seen.
type Rule struct {
	Name  string
	Why   string // what goes wrong elsewhere when the rule is broken
	Check func(context.Context, skill.Source) error
}

// SourceRules returns the rules of Source, for those who want to run them by themselves.
func SourceRules() []Rule {
	return []Rule{
		{"some-skill", "a suite over an empty source proves nothing: give it at least one skill", someSkill},
		{"path-valid", "paths become mounts and messages: each must be a slash path below the root, and there once", pathValid},
		{"file-name", "a manifest is called SKILL.md, or skill.md where there is no other", fileName},
		{"head-is-beginning", "the catalogue parses Head for the file: it must be the file's beginning, with the whole front matter", headIsBeginning},
		{"confined", "a skill reads its own files alone, whatever path it is asked for", confined},
		{"location", "what has a location is run from there: it must be an absolute folder with the same manifest", location},
		{"repeatable", "the same content must give the same skills, or prompts change and caches are lost", repeatable},
		{"stops-early", "a caller may stop after any skill", stopsEarly},
		{"context", "an ended context must end the iteration", contextEnds},
		{"concurrent", "catalogues are opened and refreshed from several goroutines", concurrent},
		{"catalogue", "every skill that is found must load, and a refresh without a change must find none", catalogue},
	}
}

// Source runs the suite, one sub-test for each rule, on a new source each time. Run it with -race.
func Source(t *testing.T, newSource func(t *testing.T) skill.Source) {
	t.Helper()
	for _, r := range SourceRules() {
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
			return errors.New("path is not valid, see io/fs.ValidPath")
		}
		if seen[f.Path] {
			return errors.New("path was there before")
		}
		seen[f.Path] = true
		return nil
	})
}

func fileName(ctx context.Context, s skill.Source) error {
	return each(ctx, s, func(f skill.Found) error {
		if f.File != "SKILL.md" && f.File != "skill.md" {
			return fmt.Errorf("manifest is called %q", f.File)
		}
		return nil
	})
}

// onTree opens each skill.
func onTree(ctx context.Context, s skill.Source, f func(skill.Found, skill.Tree) error) error {
	return each(ctx, s, func(found skill.Found) (err error) {
		if found.Open == nil {
			return errors.New("it has no Open")
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
		if !bytes.HasPrefix(text, f.Head) {
			return fmt.Errorf("head %.40q is not how the file begins: %.40q", f.Head, text)
		}
		if _, problems := manifest.Parse(text, nil); fatal(problems) {
			return nil
		}
		if _, problems := manifest.Parse(f.Head, nil); fatal(problems) {
			return fmt.Errorf("head of %d bytes does not hold the whole front matter", len(f.Head))
		}
		return nil
	})
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
			return nil // it cannot be put on a disk here
		}
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("location %q is not absolute", dir)
		}
		there, err := readHead(filepath.Join(dir, f.File), len(f.Head))
		if err != nil || !bytes.Equal(there, f.Head) {
			return fmt.Errorf("location %q does not hold the manifest: %v", dir, err)
		}
		return nil
	})
}

// snapshot is what an iteration says, as text.
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
			return errors.New("skills are yielded long after the context has ended")
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
				errs[i] = errors.New("an iteration beside others differs")
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
		err = errors.New("a refresh finds a change where there is none")
	}
	return err
}
