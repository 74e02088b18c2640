package walk

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// grow makes a tree of folders, files and links at random; file writes one of the files.
func grow(r *rand.Rand, root string, names []string, file func(path string)) {
	targets := []string{".", "..", "a", "b/a", "../a", "/etc", "/etc/hostname", "SKILL.md", "../SKILL.md", "none", "../../b", "../../../outside"}
	for range 4 + r.IntN(20) {
		p := root
		for range 1 + r.IntN(4) {
			p = filepath.Join(p, names[r.IntN(len(names))])
		}
		if os.MkdirAll(filepath.Dir(p), 0o755) != nil {
			continue // a file or a link is in the way
		}
		switch r.IntN(4) {
		case 0:
			os.Symlink(targets[r.IntN(len(targets))], p)
		case 1:
			os.Mkdir(p, 0o755)
		default:
			file(p)
		}
	}
}

// Both backends give the same answers on trees of folders, files and links at random.
func TestBackendsAgree(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		root := t.TempDir()
		grow(r, root, []string{"a", "skills", "assets", ".hidden", ".claude", "Skill.md", "node_modules", "SKILL.md", "skill.md", "x y", "é"}, func(p string) {
			os.WriteFile(filepath.Join(filepath.Dir(p), Manifest), []byte(p[len(root):]), 0o644)
		})
		o := Options{Nested: r.IntN(4) > 0, Links: Links(r.IntN(2)), MaxDirs: 1 + r.IntN(30)}
		got := walked(t, root, o, nil)
		walked(t, root, o, got.stamp)
		o.Bare = true
		bare := walked(t, root, o, nil)
		for dir, stamp := range got.stamp {
			if bare.stamp[dir] != stamp {
				t.Errorf("%s: stamp %v when it is read, %v when it is not", dir, stamp, bare.stamp[dir])
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
