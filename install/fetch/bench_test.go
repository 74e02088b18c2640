package fetch_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/gittest"
	"github.com/agent-base/agent-base/internal/unpack"
)

// skillTree returns the files of n skills with ten files each.
func skillTree(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		dir := fmt.Sprintf("skills/skill-%03d/", i)
		files[dir+"SKILL.md"] = fmt.Sprintf("---\nname: skill-%03d\ndescription: Does the work number %d.\n---\n", i, i) + strings.Repeat(fmt.Sprintf("Line of skill %d.\n", i), 200)
		for j := range 9 {
			files[fmt.Sprintf("%sreferences/file-%d.md", dir, j)] = strings.Repeat(fmt.Sprintf("Line of skill %d, file %d.\n", i, j), 300)
		}
	}
	return files
}

// installInto copies the wanted files of a repository into a folder, as an installation does.
func installInto(ctx context.Context, f install.Fetcher, url, work, below string) error {
	dir, out := filepath.Join(work, "fetched"), filepath.Join(work, "out")
	for _, d := range []string{dir, out} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	s, err := f.Fetch(ctx, &install.Request{Source: source.Ref{Kind: source.Git, URL: url}, Dir: dir, All: below == "skills/"})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Need(ctx, func(p string) bool { return strings.HasSuffix(p, "/SKILL.md") }); err != nil {
		return err
	}
	if err := s.Need(ctx, func(p string) bool { return strings.HasPrefix(p, below) }); err != nil {
		return err
	}
	fsys, err := fs.Sub(s.FS, strings.TrimSuffix(below, "/"))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return err
	}
	defer root.Close()
	w := unpack.NewWriter(root, &unpack.Options{Volatile: true, MaxFiles: 10_000}) // a clone is not flushed to the disk either
	if err := unpack.Copy(ctx, fsys, w); err != nil {
		return err
	}
	return w.Close()
}

// One skill of many and a whole repository, next to a shallow clone. The figures are in docs/performance.md.
func BenchmarkGit(b *testing.B) {
	for _, bb := range []struct {
		name   string
		skills int
		below  string
	}{{"one of 400", 400, "skills/skill-123/"}, {"all of 1000 files", 100, "skills/"}} {
		repo := gittest.New(b)
		repo.Commit(skillTree(bb.skills))
		b.Run(bb.name+"/fetch", func(b *testing.B) {
			f := gitFetcher(b)
			for b.Loop() {
				work := b.TempDir()
				if err := installInto(b.Context(), f, repo.URL(), work, bb.below); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bb.name+"/clone", func(b *testing.B) {
			program, env := gittest.Program(b), gittest.Env(b)
			for b.Loop() {
				cmd := exec.Command(program, "clone", "--quiet", "--depth=1", repo.URL(), filepath.Join(b.TempDir(), "copy"))
				cmd.Env = env
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A check of a repository that has not changed.
func BenchmarkGitKnown(b *testing.B) {
	repo := gittest.New(b)
	id := repo.Commit(skillTree(50))
	f := gitFetcher(b)
	for b.Loop() {
		s, err := f.Fetch(b.Context(), &install.Request{Source: source.Ref{Kind: source.Git, URL: repo.URL()}, Known: id})
		if err != nil || s.FS != nil {
			b.Fatal(s, err)
		}
	}
}
