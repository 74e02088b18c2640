package skilltest

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

const shelf = `
-- a/SKILL.md --
---
name: a
description: Does one thing.
---
Text.
-- a/scripts/run.sh --
#!/bin/sh
exit 0
-- g/b/SKILL.md --
---
name: b
description: Does another.
---
-- broken/SKILL.md --
no front matter
`

// The sources of package skill follow the rules.
func TestOwnSources(t *testing.T) {
	t.Run("Dir", func(t *testing.T) {
		Source(t, func(t *testing.T) skill.Source { return skill.Dir(FromTxtar(t, shelf), nil) })
	})
	t.Run("FS", func(t *testing.T) {
		Source(t, func(t *testing.T) skill.Source { return skill.FS(os.DirFS(FromTxtar(t, shelf)), nil) })
	})
	t.Run("Merge", func(t *testing.T) {
		Source(t, func(t *testing.T) skill.Source {
			one := fstest.MapFS{"z/SKILL.md": {Data: []byte("---\nname: z\ndescription: Z.\n---\n")}}
			return skill.Merge(skill.FS(one, nil), skill.Dir(FromTxtar(t, shelf), nil))
		})
	})
	t.Run("Merge of equal paths", func(t *testing.T) {
		Source(t, func(t *testing.T) skill.Source {
			return skill.Merge(skill.Dir(FromTxtar(t, shelf), nil), skill.Dir(FromTxtar(t, shelf), nil))
		})
	})
}

func TestFromTxtar(t *testing.T) {
	root := FromTxtar(t, shelf)
	info, err := os.Stat(filepath.Join(root, "a", "scripts", "run.sh"))
	if err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("got %v, %v, want an executable", info, err)
	}
}

// tree is a file system that is not confined.
type tree struct{ dir string }

func (t tree) Open(name string) (fs.File, error)        { return os.Open(filepath.Join(t.dir, name)) }
func (t tree) Close() error                             { return nil }
func (t tree) Location(context.Context) (string, error) { return "relative", nil }
func fixed(f ...skill.Found) skill.SourceFunc {
	return func(context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			for _, x := range f {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

// Each rule fails on a source that breaks it.
func TestRulesFail(t *testing.T) {
	root := FromTxtar(t, shelf)
	text := "---\nname: a\ndescription: Does one thing.\n---\nText.\n"
	open := func(context.Context) (skill.Tree, error) { return tree{filepath.Join(root, "a")}, nil }
	good := skill.Found{Path: "a", File: "SKILL.md", Head: []byte(text), Open: open}
	with := func(change func(*skill.Found)) skill.SourceFunc {
		f := good
		change(&f)
		return fixed(f)
	}
	calls := 0
	rows := map[string]skill.Source{
		"some-skill":        fixed(),
		"path-valid":        fixed(good, good),
		"file-name":         with(func(f *skill.Found) { f.File = "README.md" }),
		"head-is-beginning": with(func(f *skill.Found) { f.Head = f.Head[:20] }),
		"confined":          fixed(good),
		"location":          fixed(good),
		"repeatable": skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
			calls++
			return fixed([]skill.Found{good, good}[:1+calls%2]...)(ctx)
		}),
		"context": fixed(good, good, good),
		"catalogue": with(func(f *skill.Found) {
			f.Open = func(context.Context) (skill.Tree, error) { return nil, fs.ErrNotExist }
		}),
	}
	sound := with(func(f *skill.Found) { f.File = "" }) // means SKILL.md
	for _, r := range sourceRules() {
		if err := r.Check(t.Context(), sound); err != nil && (r.Name == "file-name" || r.Name == "head-is-beginning") {
			t.Errorf("%s of a source without names of files: %v", r.Name, err)
		}
		bad, ok := rows[r.Name]
		if !ok {
			continue // a violation shows as a panic or a race
		}
		if err := r.Check(t.Context(), bad); err == nil {
			t.Errorf("%s reports no error", r.Name)
		} else if strings.TrimSpace(r.Why) == "" {
			t.Errorf("%s has no explanation", r.Name)
		}
	}
}
