package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// both opens a folder as either kind of file system.
func both(t *testing.T, dir string) (fast, slow FS) {
	t.Helper()
	fast, err := OpenFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fast.Close() })
	slow, err = openPortableFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slow.Close() })
	return fast, slow
}

// seen returns all that a file system reports about a path; of an error only that it occurred.
func seen(f FS, name string) string {
	tell := func(info fs.FileInfo, err error) string {
		if err != nil {
			return "error"
		}
		return fmt.Sprintf("%s %v %d %v", info.Name(), info.Mode(), info.Size(), info.ModTime())
	}
	out := "stat " + tell(f.Stat(name))
	list, err := f.ReadDir(name)
	out += fmt.Sprintf("\nlist %v", err != nil)
	for _, d := range list {
		out += fmt.Sprintf("\n  %s %v %s", d.Name(), d.Type(), tell(d.Info()))
	}
	file, err := f.Open(name)
	if err != nil {
		return out + "\nopen error"
	}
	defer file.Close()
	out += "\nopen " + tell(file.Stat())
	content, err := fs.ReadFile(f, name)
	out += fmt.Sprintf("\nread %q %v", content, err != nil)
	if sub, err := f.In(name); err == nil {
		defer sub.Close()
		out += "\nin " + tell(sub.Stat("."))
	}
	return out
}

// Both file systems tell the same of trees of folders, files and links at random, and neither lets
// anything of the outside be seen.
func TestFSAgrees(t *testing.T) { // security 2.2
	names := []string{"a", "b", ".hidden", "SKILL.md", "x y", "é"}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 11))
		outer := t.TempDir()
		os.WriteFile(filepath.Join(outer, "outside"), []byte("secret"), 0o644)
		root := filepath.Join(outer, "in")
		os.Mkdir(root, 0o755)
		grow(r, root, names, func(p string) {
			if os.WriteFile(p, []byte(p[len(root):]), 0o600) != nil {
				return // a folder has the name
			}
			os.Chmod(p, []fs.FileMode{0o644, 0o755 | fs.ModeSetuid, 0o400 | fs.ModeSetgid | fs.ModeSticky}[r.IntN(3)])
		})
		fast, slow := both(t, root)
		paths := []string{".", "", "..", "/", "a/..", "../in", "a/", "a//b", "none/none", "a\x00", "/etc/hostname", filepath.Join(root, "a")}
		for _, x := range names {
			paths = append(paths, x)
			for _, y := range names {
				paths = append(paths, x+"/"+y, x+"/"+y+"/a")
			}
		}
		for _, p := range paths {
			if diff := cmp.Diff(seen(slow, p), seen(fast, p)); diff != "" {
				t.Fatalf("seed %d, %q (-os.Root +fast):\n%s", seed, p, diff)
			}
			if b, _ := fs.ReadFile(fast, p); string(b) == "secret" {
				t.Fatalf("seed %d: %q leads out", seed, p)
			}
		}
	}
}

func TestFSKeepsTheRules(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"SKILL.md": "text", "scripts/run.py": "pass", "references/a/b.md": "b", "empty/": ""})
	for _, f := range func() []FS { x, y := both(t, root); return []FS{x, y} }() {
		if err := fstest.TestFS(f, "SKILL.md", "scripts/run.py", "references/a/b.md", "empty"); err != nil {
			t.Errorf("%T: %v", f, err)
		}
	}
}

// What is put in the place of a folder after it was listed is not followed.
func TestFSEntrySwapped(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"a/": "", "file": "text"})
	fast, slow := both(t, root)
	for _, f := range []FS{fast, slow} {
		list, err := f.ReadDir(".")
		if err != nil || len(list) != 2 || list[0].Name() != "a" {
			t.Fatalf("%T: ReadDir = %v, %v", f, list, err)
		}
		if err := os.Remove(filepath.Join(root, "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("file", filepath.Join(root, "a")); err != nil {
			t.Fatal(err)
		}
		if info, err := list[0].Info(); err == nil && info.Mode().Type() != fs.ModeSymlink && !info.IsDir() {
			t.Errorf("%T: Info follows the link: %v", f, info.Mode())
		}
		os.Remove(filepath.Join(root, "a"))
		os.Mkdir(filepath.Join(root, "a"), 0o755)
	}
}

// A folder is read once; a folder that could not be read is tried again.
func TestReadOnce(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	once := ReadOnce(f)
	defer once.Close()
	if _, err := once.ReadDir("sub"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if list, err := once.ReadDir("sub"); len(list) != 0 || err != nil {
			t.Errorf("reading %d: got %v, %v, want an empty folder", i, list, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "sub", "late"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := once.Stat("sub/late"); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

// What lies in a folder that was not there is not looked for again.
func TestRemember(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"sub/file": "text"})
	f, err := OpenFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	known := Remember(f)
	defer known.Close()
	for _, late := range []bool{false, true} {
		for name, want := range map[string]error{
			"sub/file": nil, "sub": nil, ".": nil, "gone/file": fs.ErrNotExist, "gone/sub/file": fs.ErrNotExist, "../sub": fs.ErrInvalid, "sub/../sub": fs.ErrInvalid,
		} {
			if _, err := known.Stat(name); !errors.Is(err, want) {
				t.Errorf("Stat(%q), late %t: got %v, want %v", name, late, err, want)
			}
		}
		put(t, dir, map[string]string{"gone/file": "text", "gone/sub/file": "text", "sub/late": "text"})
	}
	if _, err := known.Stat("sub/late"); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

// What the listing of the folder does not have is not looked for. Names that a file system may fold are.
func TestReadOnceAbsent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"sub/file": "text"})
	f, err := OpenFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	once := ReadOnce(f)
	defer once.Close()
	if _, err := once.ReadDir("."); err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"late": "text", "Sub": "text", "é": "text", "sub/late": "text"})
	for name, want := range map[string]error{
		"sub/file": nil, "sub/late": nil, "Sub": nil, "é": nil, ".": nil,
		"late": fs.ErrNotExist, "late/file": fs.ErrNotExist, "../sub": fs.ErrInvalid,
	} {
		if _, err := once.Stat(name); !errors.Is(err, want) {
			t.Errorf("Stat(%q): got %v, want %v", name, err, want)
		}
		file, err := once.Open(name)
		if !errors.Is(err, want) {
			t.Errorf("Open(%q): got %v, want %v", name, err, want)
		}
		if err == nil {
			file.Close()
		}
	}
}

// A folder can be listed any number of times, also by several goroutines.
func TestFSListsAgain(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"a/": "", "a/b": "text", "c": "text"})
	fast, _ := both(t, root)
	sub, err := fast.In("a")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for f, want := range map[FS]int{fast: 2, sub: 1} {
				if list, err := f.ReadDir("."); len(list) != want || err != nil {
					t.Errorf("got %v, %v, want %d entries", list, err, want)
				}
			}
		})
	}
	group.Wait()
}
