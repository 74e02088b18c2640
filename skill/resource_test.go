package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
)

func TestReadRefuses(t *testing.T) {
	outside := disk(t, t.TempDir(), map[string]string{"secret": "secret"})
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/references/a.md": "A", "s/scripts/run.py": "", "t/SKILL.md": "",
		"s/out": "-> " + outside, "s/secret.md": "-> " + filepath.Join(outside, "secret"), "s/up": "-> ../t", "s/loop": "-> loop", "s/here.md": "-> references/a.md"})
	s := loaded(t, onDir(t, root), "s")
	rows := []struct{ name, path string }{
		{"security 2.4 #45: up", "../t/SKILL.md"},
		{"security 2.4 #45: down and up", "references/../../t/SKILL.md"},
		{"security 2.4 #45: up inside", "references/../SKILL.md"},
		{"R48: far up", "../../../etc/passwd"},
		{"R48: absolute", "/etc/passwd"},
		{"R51: drive letter", `C:\x`},
		{"R51: drive letter, slash", "C:/x"},
		{"security 2.4 #45: backslash", `references\a.md`},
		{"security 2.4 #45: backslash up", `..\t\SKILL.md`},
		{"security 2.4 #45: encoded", "%2e%2e/t/SKILL.md"},
		{"security 2.4 #45: encoded twice", "%252e%252e/t/SKILL.md"},
		{"security 2.4 #45: encoded slash", "references%2Fa.md"},
		{"security 2.4 #45: NUL", "SKILL.md\x00.txt"},
		{"control character", "SKILL.md\n"},
		{"security 2.4 #45: dot", "./SKILL.md"},
		{"security 2.4 #45: dot inside", "references/./a.md"},
		{"security 2.4 #45: two slashes", "references//a.md"},
		{"security 2.4 #45: slash at the end", "references/"},
		{"security 2.4 #45: empty", ""},
		{"the skill itself", "."},
		{"a folder", "references"},
		{"not UTF-8", "a\xff"},
		{"security 2.2 #24: device", "con"},
		{"security 2.2 #24: device with extension", "references/NUL.txt"},
		{"security 2.2 #24: dot at the end", "SKILL.md."},
		{"security 2.2 #24: space at the end", "SKILL.md "},
		{"security 2.2 #24: stream", "SKILL.md:evil"},
		{"security 2.2 #29: long part", strings.Repeat("n", 256)},
		{"security 2.2 #29: many parts", strings.Repeat("n/", 5000) + "n"},
		{"R48: link out, folder", "out/secret"},
		{"R48: link out, file", "secret.md"},
		{"link to a neighbour", "up/SKILL.md"},
		{"security 2.3 #38: loop", "loop"},
		{"not there", "references/none.md"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			res, err := s.Read(r.path)
			var re *ResourceError
			if !errors.As(err, &re) || re.Path != r.path {
				t.Fatalf("got %v, %v, want a *ResourceError", res, err)
			}
			if strings.Contains(r.name, "#45") && !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("got %v, want it refused before anything is opened", err)
			}
			if strings.Contains(err.Error(), outside) || strings.Contains(err.Error(), root) {
				t.Errorf("the error names a path of the machine: %v", err)
			}
		})
	}
	// security 2.3 #32: inside to inside is a file like any other.
	for path, want := range map[string]string{"references/a.md": "A", "here.md": "A"} {
		if got, err := s.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s: got %q %v", path, got, err)
		}
	}
}

// R94 in spirit: a mistyped path gets the files that come near.
func TestReadSuggests(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/references/api.md": "", "s/references/guide.md": "", "s/100% done.md": "x"})
	s := loaded(t, onDir(t, root), "s")
	for path, want := range map[string]string{"api.md": "references/api.md", "References/API.md": "references/api.md", "references/giude.md": "references/guide.md references/api.md",
		`references\api.md`: "references/api.md", "zzzzzz": ""} {
		_, err := s.Read(path)
		var re *ResourceError
		if !errors.As(err, &re) || strings.Join(re.Suggest, " ") != want {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if _, err := s.Read("100% done.md"); err != nil {
		t.Errorf("a per cent sign is not a code: %v", err)
	}
}

// security 2.4 #48, #49: what is not text says so.
func TestReadBinary(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/a.md": "text", "s/b.bin": "PK\x03\x04\x00", "s/c.txt": "caf\xe9", "s/d.md": ""})
	s := loaded(t, onDir(t, root), "s")
	rows := map[string]string{"a.md": "text/markdown false 4", "b.bin": "application/octet-stream true 5", "c.txt": "application/octet-stream true 4", "d.md": "text/markdown false 0"}
	for path, want := range rows {
		res, err := s.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(res.ContentType, " ", res.Binary, " ", res.Size); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// security 2.3 #40, #41: too big, sparse, or growing while it is read.
func TestReadBounded(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/big": "x", "s/fits": "x"})
	for name, size := range map[string]int64{"big": 1 << 40, "fits": MaxResource} {
		if err := os.Truncate(filepath.Join(root, "s", name), size); err != nil {
			t.Fatal(err)
		}
	}
	s := loaded(t, onDir(t, root), "s")
	_, err := s.ReadFile("big")
	if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "1099511627776 bytes, at most 10485760") {
		t.Errorf("got %v", err)
	}
	if b, err := s.ReadFile("fits"); len(b) != MaxResource || err != nil {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if _, err := readGrown(iotest.HalfReader(bytes.NewReader(make([]byte, 101))), 10, 100); !errors.Is(err, ErrTooBig) {
		t.Errorf("a file that grew: got %v", err)
	}
}

// security 2.3 #34: the skill stays the folder that was loaded.
func TestSwappedFolder(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "a/f": "old", "b/SKILL.md": "", "b/f": "new"})
	c := onDir(t, root)
	s := loaded(t, c, "a")
	digest := func() string { d, _ := find(t, c, "a").Digest(t.Context()); return d }
	before := digest()
	for _, mv := range [][2]string{{"a", "x"}, {"b", "a"}} {
		if err := os.Rename(filepath.Join(root, mv[0]), filepath.Join(root, mv[1])); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.ReadFile("f"); string(got) != "old" {
		t.Errorf("got %q %v, want the old file", got, err)
	}
	if digest() == before {
		t.Error("the digest of another folder is the same")
	}
}

// security 2.3 #33: a folder that was swapped for a link is not followed out of the root.
func TestSwappedForLink(t *testing.T) {
	outside := disk(t, t.TempDir(), map[string]string{"SKILL.md": skillText("a", "")})
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": ""})
	c := onDir(t, root)
	if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	disk(t, root, map[string]string{"a": "-> " + outside})
	if s, err := find(t, c, "a").Load(t.Context()); err == nil {
		t.Errorf("loaded %q", s.Text())
	}
}

func TestFiles(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/z": "", "s/b/c": "12", "s/.git/config": "x", "s/in": "-> b/c", "s/out": "-> /etc/passwd", "s/broken": "-> none", "s/d": "-> b", "s/.hidden": ""})
	s := loaded(t, onDir(t, root), "s")
	files, partial, err := s.List(t.Context())
	if err != nil || partial {
		t.Fatal(err, partial)
	}
	var got []string
	for _, f := range files {
		if f.Path != "SKILL.md" {
			got = append(got, fmt.Sprint(f.Path, " ", f.Size))
		}
	}
	wantLines(t, "files", got, ".hidden 0", "b/c 2", "in 2", "z 0")

	for i := range maxFiles + 5 {
		disk(t, root, map[string]string{fmt.Sprintf("s/many/%04d", i): ""})
	}
	files, partial, err = s.List(t.Context())
	if len(files) != maxFiles || !partial || err != nil {
		t.Errorf("got %d files, partial %v, %v", len(files), partial, err)
	}
}

// After Digest the list has the same files, without a second look at the folder.
func TestFilesOfDigest(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"s/SKILL.md": "", "s/z": "", "s/b/c": "12", "s/b-c": "1", "s/.git/config": "x", "s/in": "-> b/c", "s/d": "-> b", "s/.env": "K=1"})
	s := loaded(t, onDir(t, root), "s")
	before, _, err := s.List(t.Context())
	if err != nil || len(before) != 5 {
		t.Fatal(before, err)
	}
	if _, err := s.Digest(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk(t, root, map[string]string{"s/late": ""})
	if after, partial, err := s.List(t.Context()); !slices.Equal(after, before) || partial || err != nil {
		t.Errorf("got %v %v %v, want %v", after, partial, err, before)
	}
	many := map[string]string{"s/SKILL.md": ""}
	for i := range maxFiles + 5 {
		many[fmt.Sprintf("s/many/%04d", i)] = ""
	}
	s = loaded(t, onDir(t, disk(t, t.TempDir(), many)), "s")
	if _, err := s.Digest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, partial, err := s.List(t.Context()); len(files) != maxFiles || !partial || err != nil {
		t.Errorf("got %d files, partial %v, %v", len(files), partial, err)
	}
}

// A skill is parsed when it is loaded, and its manifest is what it says now.
func TestLoad(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "b/SKILL.md": "---\n"})
	c := onDir(t, root)
	var be *BrokenError
	if _, err := find(t, c, "b").Load(t.Context()); !errors.As(err, &be) || len(be.Problems) == 0 {
		t.Errorf("a broken skill: got %v", err)
	}
	disk(t, root, map[string]string{"a/SKILL.md": "license: MIT"})
	s := loaded(t, c, "a")
	if s.Manifest().License != "MIT" || s.Manifest().Body != "Body of a." || string(s.Text()) != skillText("a", "license: MIT") {
		t.Errorf("got %+v", s.Manifest())
	}
	if dir, err := s.Dir(t.Context()); dir != filepath.Join(root, "a") || err != nil {
		t.Errorf("dir %q %v", dir, err)
	}
	disk(t, root, map[string]string{"a/SKILL.md": "---\n"})
	if _, err := find(t, c, "a").Load(t.Context()); !errors.As(err, &be) {
		t.Errorf("broken meanwhile: got %v", err)
	}
	s.Close()
	if _, err := s.ReadFile("SKILL.md"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
}

// FuzzReadFile: no path reads anything but a file of the skill.
func FuzzReadFile(f *testing.F) {
	outside := disk(f, f.TempDir(), map[string]string{"secret": "secret", "s/SKILL.md": "", "s/a": "inside", "s/out": "-> ..", "s/b/c": "inside"})
	s := loaded(f, onDir(f, outside), "s")
	for _, seed := range []string{"a", "b/c", "../secret", "out/secret", "./a", "b/../a", `..\secret`, "%2e%2e/secret", "SKILL.md", "\x00", strings.Repeat("a/", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		data, err := s.ReadFile(name)
		if err == nil && string(data) != "inside" && name != "SKILL.md" {
			t.Errorf("%q reads %q", name, data)
		}
		if err == nil && !fs.ValidPath(name) {
			t.Errorf("%q is read", name)
		}
	})
}

func embedded() fstest.MapFS {
	return fstest.MapFS{"core/SKILL.md": {Data: []byte(skillText("core", ""))}, "core/scripts/a.py": {Data: []byte("print()")}, "core/references/x/y.md": {Data: []byte("y")},
		"__init__.py": {Data: nil}, ".hidden/SKILL.md": {Data: []byte(skillText("hidden", ""))}, "empty/README": {Data: nil}}
}

// DESIGN: bundled skills are written once, under their digest, when a path is asked for.
func TestEmbedded(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	open := func() *Catalog {
		return opened(t, &Options{Layers: []Layer{{Name: "bundled", Source: FS(embedded(), &FSOptions{Cache: cache}), Trust: TrustBundled}}})
	}
	c := open()
	wantLines(t, "skills", states(c), "core bundled:core enabled")
	s := loaded(t, c, "core")
	if _, err := os.Stat(cache); err == nil {
		t.Error("the cache is written before a path is asked for")
	}
	if again, _ := c.Refresh(t.Context()); again != c {
		t.Error("refresh gives another catalogue")
	}
	location := locationOf(t, find(t, c, "core"))
	dir, err := s.Dir(t.Context())
	if err != nil || location != filepath.Join(dir, "SKILL.md") || filepath.Base(dir) != "core" {
		t.Fatalf("location %q, dir %q, %v", location, dir, err)
	}
	digest, _ := s.Digest(t.Context())
	if want := strings.TrimPrefix(digest, "sha256:")[:12]; filepath.Base(filepath.Dir(dir)) != want { // R85: short
		t.Errorf("%q is not below %q", dir, want)
	}
	info, err := os.Stat(filepath.Join(dir, "scripts"))
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// Changes there are not used.
	script := filepath.Join(dir, "scripts", "a.py")
	os.Chmod(script, 0o644)
	if err := os.WriteFile(script, []byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := locationOf(t, find(t, open(), "core")); got != location {
		t.Errorf("location %q, want %q", got, location)
	}
	if text, err := os.ReadFile(script); string(text) != "print()" {
		t.Errorf("got %q %v", text, err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	chmodAll(t, cache)
}

// Many at once write the cache, and each gets the whole skill.
func TestEmbeddedRace(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	done := make(chan error)
	const n = 8
	for range n {
		go func() {
			dir, err := FS(embedded(), &FSOptions{Cache: cache}).(*fsSource).location(t.Context(), "core")
			if err == nil {
				_, err = os.ReadFile(filepath.Join(dir, "references", "x", "y.md"))
			}
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	chmodAll(t, cache)
}

// Without a cache an embedded skill has no path, and its files are read all the same.
func TestEmbeddedWithoutCache(t *testing.T) {
	c := opened(t, &Options{Layers: []Layer{{Name: "bundled", Source: FS(embedded(), nil), Trust: TrustBundled}}})
	if got := locationOf(t, find(t, c, "core")); got != "" {
		t.Errorf("location %q", got)
	}
	s := loaded(t, c, "core")
	if dir, err := s.Dir(t.Context()); err == nil {
		t.Errorf("dir %q", dir)
	}
	if text, err := s.ReadFile("scripts/a.py"); string(text) != "print()" {
		t.Errorf("got %q %v", text, err)
	}
}

// chmodAll lets the test remove what was written read-only.
func chmodAll(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(p, 0o700)
		}
		return nil
	})
}
