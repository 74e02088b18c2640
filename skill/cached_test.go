package skill_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
)

// memory is the files of a skill that are in no folder.
type memory struct{ fstest.MapFS }

func (memory) Close() error { return nil }

// inMemory yields one skill, dice, whose script is the text.
func inMemory(script *string) skill.Source {
	return skill.SourceFunc(func(context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			head := []byte("---\nname: dice\ndescription: Rolls dice.\n---\nRoll them.\n")
			yield(skill.Found{Path: "games/dice", Head: head, Open: func(context.Context) (skill.Tree, error) {
				return memory{fstest.MapFS{"SKILL.md": {Data: head, Mode: 0o644}, "scripts/roll.sh": {Data: []byte(*script), Mode: 0o644}}}, nil
			}}, nil)
		}
	})
}

// A skill of a source without folders has one where its files are what they were said to be, at each use.
func TestCached(t *testing.T) {
	script := "#!/bin/sh\necho 4\n"
	cache := skilltest.TempDir(t)
	source := skill.Cached(skill.Merge(inMemory(&script), skill.Dir(t.TempDir(), nil)), cache)
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "memory", Source: source}}})
	if err != nil {
		t.Fatal(err)
	}
	load := func() (dir, digest string) {
		t.Helper()
		e, err := c.Lookup("dice")
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if digest, err = s.Digest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if dir, err = s.Dir(t.Context()); err != nil {
			t.Fatal(err)
		}
		return dir, digest
	}
	dir, digest := load()
	file := filepath.Join(dir, "scripts", "roll.sh")
	if got, err := os.ReadFile(file); err != nil || string(got) != script {
		t.Fatalf("%q, %v", got, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if !strings.HasPrefix(dir, cache) || filepath.Base(dir) != "dice" || !strings.Contains(dir, strings.TrimPrefix(digest, "sha256:")) {
		t.Errorf("folder %s of %s", dir, digest)
	}

	// Somebody changes the copy.
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho 6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	load()
	if got, err := os.ReadFile(file); err != nil || string(got) != script {
		t.Errorf("after a change: %q, %v", got, err)
	}

	// The source has another content.
	script = "#!/bin/sh\necho 5\n"
	if other, _ := load(); other == dir {
		t.Error("another content in the same folder")
	}
}

// What has a folder keeps it, and what cannot have one says so.
func TestCachedKeeps(t *testing.T) {
	root, script := t.TempDir(), "x"
	if err := os.MkdirAll(filepath.Join(root, "own"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "own", "SKILL.md"), []byte("---\nname: own\ndescription: Is in a folder.\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"own/SKILL.md": {Data: []byte("---\nname: own\ndescription: Is in memory.\n---\n"), Mode: 0o644}}
	embedded := skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] { return skill.FS(files, nil).Skills(ctx) })
	for name, tt := range map[string]struct {
		source skill.Source
		below  string // the folder; "" for an error
	}{
		"a folder":            {skill.Cached(skill.Dir(root, nil), skilltest.TempDir(t)), root},
		"embedded":            {skill.Cached(skill.FS(files, nil), skilltest.TempDir(t)), "/"},
		"found in memory":     {skill.Cached(embedded, skilltest.TempDir(t)), "/"},
		"twice":               {skill.Cached(skill.Cached(embedded, skilltest.TempDir(t)), "no/cache"), "/"},
		"a relative folder":   {skill.Cached(embedded, "cache"), ""},
		"without Cached":      {embedded, ""},
		"in memory, relative": {skill.Cached(inMemory(&script), "cache"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "x", Source: tt.source}}})
			if err != nil {
				t.Fatal(err)
			}
			for e := range c.All() {
				s, err := e.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				dir, err := s.Dir(t.Context())
				if (err == nil) != (tt.below != "") || !strings.HasPrefix(dir, tt.below) {
					t.Errorf("%s, %v", dir, err)
				}
			}
		})
	}
}
