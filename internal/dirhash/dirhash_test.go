package dirhash

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

//go:embed testdata/skill
var embedded embed.FS

// rooted opens dir as the engine does.
func rooted(t interface {
	Fatal(...any)
	Cleanup(func())
}, dir string) fs.FS {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root.FS()
}

// command runs Command in dir.
func command(dir string) (string, error) {
	c := exec.Command("sh", "-c", Command)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return Prefix + strings.TrimSpace(string(out)), err
}

func check(t *testing.T, dir string) Sum {
	t.Helper()
	got, err := Dir(t.Context(), rooted(t, dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := command(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Dir(t.Context(), rooted(t, dir), &Options{Whole: true})
	if err != nil || whole.Digest != want || got.Digest != want && got.Left == 0 {
		t.Errorf("Dir says %s, of the whole %s, %v, the command %s, of %+v without %d", got.Digest, whole.Digest, err, want, got.Files, got.Left)
	}
	return got
}

// A folder without leftovers keeps the digest that it had before there was such a rule. What is pinned here was computed then.
func TestDigestsStay(t *testing.T) {
	const want = "sha256:8e1790a8cd4ae42f85ebced99039333d3fa45e993602955f0895da1d9388521d"
	files := fstest.MapFS{
		"SKILL.md": {Data: []byte("a skill\n")}, "scripts/run.py": {Data: []byte("print(1)\n")}, "scripts/lone.pyc": {Data: []byte("module")},
		".env": {Data: []byte("K=1\n")}, "lib/node_modules/x/index.js": {Data: []byte("x\n")}, "env/a": {}, ".github/x.yml": {Data: []byte("y")},
		"Foo.pm": {Data: []byte("1;")}, "Foo.pmc": {Data: []byte("2;")}, "link": {Data: []byte("SKILL.md"), Mode: fs.ModeSymlink}, ".git/config": {Data: []byte("z")},
	}
	got, err := Dir(t.Context(), files, nil)
	if err != nil || got.Digest != want {
		t.Errorf("got %s, %v; want %s", got.Digest, err, want)
	}
}

// What belongs to no skill changes no digest; the digest of the whole is still recognised while nothing changed.
func TestLeftovers(t *testing.T) {
	skill := func() fstest.MapFS {
		return fstest.MapFS{"SKILL.md": {Data: []byte("a")}, "x/b.py": {Data: []byte("b")}}
	}
	same, err := Dir(t.Context(), skill(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/x", "x/.git/c", "x/.git", "x/__pycache__/b.cpython-314.pyc", "x/b.pyc", ".DS_Store", "a~", ".venv/bin/python"} {
		files := skill()
		files[name] = &fstest.MapFile{Data: []byte("left")}
		got, err := Dir(t.Context(), files, nil)
		if err != nil || got.Digest != same.Digest || got.Left != 1 {
			t.Errorf("%s: %+v, %v; want the digest %s", name, got, err, same.Digest)
		}
		whole, err := Dir(t.Context(), files, &Options{Whole: true})
		if err != nil || (whole.Digest == same.Digest) != strings.HasPrefix(name, ".git/") {
			t.Errorf("%s: the whole is %s, %v", name, whole.Digest, err)
		}
		for _, digest := range []string{same.Digest, whole.Digest} {
			if ok, sum, err := Is(t.Context(), files, "other", digest); !ok || err != nil || sum.Digest != same.Digest {
				t.Errorf("%s: it does not have the content %s: %+v, %v", name, digest, sum, err)
			}
		}
		files["SKILL.md"] = &fstest.MapFile{Data: []byte("c")}
		for _, digest := range []string{same.Digest, whole.Digest, ""} {
			if ok, _, err := Is(t.Context(), files, digest); ok || err != nil {
				t.Errorf("%s: it was changed and has the content %q, %v", name, digest, err)
			}
		}
	}
	if got := Of(same.Files, nil); got != same.Digest {
		t.Errorf("Of says %s, want %s", got, same.Digest)
	}
	if got := Of([]File{{Path: "l", Link: true}}, nil); got != "" {
		t.Errorf("Of a link is %s", got)
	}
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(text, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// C26: the digest is what a user's shell says, whatever the names.
func TestCommandAgrees(t *testing.T) {
	names := map[string][]string{
		"empty":       {},
		"one":         {"SKILL.md"},
		"order":       {"a/b", "a-b", "a.b", "aa", "A", "a b", "b", "c/d/e", "c-d"},
		"spaces":      {" ", " a ", "a\tb", "-n", "--help", "-"},
		"line feed":   {"a\nb", "a\r\nb", "\n", "a\n0000  ./b"},
		"backslash":   {`a\b`, `\`, `\n`, `a\\`},
		"quotes":      {"a'b", `a"b`, "$(touch x)", "`id`", "*", "?", "[a]", "%s", "%l"},
		"unicode":     {"ä", "a\u0308", "日本語", "\u202egpj", "\ufeff"},
		"hidden":      {".git/config", ".gitignore", "sub/.git/config", ".hidden", "scripts/__pycache__/a.cpython-314.pyc"},
		"git file":    {".git", "x"},
		"long":        {strings.Repeat("n", 255), strings.Repeat("d/", 90) + "f"},
		"looks alike": {"link  ", "link/x", strings.Repeat("0", 64) + "  x"},
	}
	for name, files := range names {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, f := range files {
				put(t, dir, f, strings.Repeat("x", i*7))
			}
			got := check(t, dir)
			for _, f := range got.Files {
				if strings.HasPrefix(f.Path, ".git/") {
					t.Errorf("%q is in the digest", f.Path)
				}
			}
		})
	}
}

func TestCommandAgreesOnLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "scripts/run.py", "print()")
	put(t, dir, "references/a/b.md", "text")
	link(t, dir, "run", "scripts/run.py")
	link(t, dir, "all", "references")
	link(t, dir, "references/a/c", "../../scripts/run.py")
	link(t, dir, "dangling", "none")
	link(t, dir, "itself", "itself")
	link(t, dir, "here", ".")
	link(t, dir, "a", "x")
	link(t, dir, "a-b", "x")
	link(t, dir, "odd\nname", "./odd\ntext//x")
	got := check(t, dir)
	var links int
	for _, f := range got.Files {
		if f.Link {
			links++
		}
	}
	if links != 9 {
		t.Errorf("%d links, want 9: %+v", links, got.Files)
	}
}

// Trees of random names and contents have the digest that the command gives.
func TestCommandAgreesOnRandomTrees(t *testing.T) {
	base := t.TempDir()
	name := rapid.StringMatching(`[a-c.\-\\\n 'ä]{1,4}(/[a-b.\-\\\n]{1,3}){0,2}`)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(rt, "files") {
			f := name.Draw(rt, "name")
			if !fs.ValidPath(f) {
				continue
			}
			full := filepath.Join(dir, f)
			os.MkdirAll(filepath.Dir(full), 0o755) // may fail if a file has the name: then no file is added
			if rapid.Bool().Draw(rt, "link") {
				os.Symlink(rapid.StringMatching(`[a-c./]{0,3}[a-c]`).Filter(func(s string) bool { return contained(f, s) }).Draw(rt, "text"), full)
				continue
			}
			os.WriteFile(full, []byte(rapid.String().Draw(rt, "content")), 0o644)
		}
		got, err := Dir(t.Context(), rooted(rt, dir), nil)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := command(dir)
		if err != nil || got.Digest != want {
			rt.Fatalf("Dir says %s, the command %s, %v", got.Digest, want, err)
		}
	})
}

// An embedded skill and its copy on disk are the same content.
func TestEmbeddedEqualsItsCopy(t *testing.T) {
	in, err := fs.Sub(embedded, "testdata/skill")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Dir(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, in); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := check(t, dir); !cmp.Equal(got.Files, want.Files) || got.Digest != want.Digest {
		t.Errorf("the copy is %+v, want %+v", got, want)
	}
}

func TestDigestChanges(t *testing.T) {
	base := fstest.MapFS{"SKILL.md": {Data: []byte("a")}, "x/b": {Data: []byte("b")}}
	same, err := Dir(t.Context(), base, nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(fstest.MapFS)
		differ bool
	}{
		{"nothing", func(fstest.MapFS) {}, false},
		{"mode", func(m fstest.MapFS) { m["x/b"] = &fstest.MapFile{Data: []byte("b"), Mode: 0o755} }, false},
		{"git", func(m fstest.MapFS) { m[".git/x"] = &fstest.MapFile{} }, false},
		{"content", func(m fstest.MapFS) { m["x/b"] = &fstest.MapFile{Data: []byte("c")} }, true},
		{"added", func(m fstest.MapFS) { m["x/c"] = &fstest.MapFile{} }, true},
		{"byte code without a source", func(m fstest.MapFS) { m["x/c.pyc"] = &fstest.MapFile{} }, true},
		{"byte code of Perl", func(m fstest.MapFS) { m["x/c.pm"] = &fstest.MapFile{}; m["x/c.pmc"] = &fstest.MapFile{} }, true},
		{"packages without a lock", func(m fstest.MapFS) { m["node_modules/x"] = &fstest.MapFile{} }, true},
		{"removed", func(m fstest.MapFS) { delete(m, "x/b") }, true},
		{"renamed", func(m fstest.MapFS) { m["x/c"] = m["x/b"]; delete(m, "x/b") }, true},
		{"a link instead", func(m fstest.MapFS) { m["x/b"] = &fstest.MapFile{Data: []byte("b"), Mode: fs.ModeSymlink} }, true},
		{"contents swapped", func(m fstest.MapFS) { m["x/b"], m["SKILL.md"] = m["SKILL.md"], m["x/b"] }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := fstest.MapFS{}
			for k, v := range base {
				m[k] = v
			}
			tt.change(m)
			got, err := Dir(t.Context(), m, nil)
			if err != nil || (got.Digest != same.Digest) != tt.differ {
				t.Errorf("digest %s, %v; before %s", got.Digest, err, same.Digest)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		o    *Options
		want string
	}{
		{"link to a file outside", func(t *testing.T, d string) { link(t, d, "a/l", "../../x") }, nil, `"a/l" leads out of the skill, to "../../x"`},
		{"absolute link", func(t *testing.T, d string) { link(t, d, "l", "/etc/passwd") }, nil, `"/etc/passwd"`},
		{"link to the parent", func(t *testing.T, d string) { link(t, d, "l", "..") }, nil, "leads out"},
		{"out through another link", func(t *testing.T, d string) { link(t, d, "a/l", "b/../../.."); link(t, d, "a/b", "../..") }, nil, "leads out"},
		{"link with a backslash", func(t *testing.T, d string) { link(t, d, "l", `..\x`) }, nil, "leads out"},
		{"too many files", func(t *testing.T, d string) { put(t, d, "a", ""); put(t, d, "b/c", "") }, &Options{MaxFiles: 2}, "more than 2 files"},
		{"too many bytes", func(t *testing.T, d string) { put(t, d, "a", "123"); put(t, d, "b", "456") }, &Options{MaxBytes: 5}, `exceed 5 bytes in total (at "b")`},
		{"too deep", func(t *testing.T, d string) { put(t, d, strings.Repeat("d/", 120)+"f", "") }, nil, "deeper than 100"},
		{"not UTF-8", func(t *testing.T, d string) { put(t, d, "a\xff", "") }, nil, `"a\xff" is not UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, dir)
			got, err := Dir(t.Context(), rooted(t, dir), tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Dir = %+v, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	m := fstest.MapFS{"a": {Data: []byte("12345")}, "b/c": {}}
	if _, err := Dir(t.Context(), m, &Options{MaxFiles: 3, MaxBytes: 5}); err != nil {
		t.Error(err)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dir(ctx, fstest.MapFS{"a": {}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestDiff(t *testing.T) {
	old := []File{{Path: "same", SHA256: "1"}, {Path: "gone", SHA256: "2"}, {Path: "edited", SHA256: "3"}, {Path: "link", SHA256: "4"}}
	now := []File{{Path: "link", SHA256: "4", Link: true}, {Path: "same", SHA256: "1", Size: 9}, {Path: "edited", SHA256: "x"}, {Path: "fresh", SHA256: "5"}}
	want := []Change{{"edited", Changed}, {"fresh", Added}, {"gone", Removed}, {"link", Changed}}
	if diff := cmp.Diff(want, Diff(old, now)); diff != "" {
		t.Error(diff)
	}
	if got := Diff(now, now); got != nil {
		t.Errorf("a list and itself: %v", got)
	}
	if got := fmt.Sprint(Added, Removed, Changed); got != "added removed changed" {
		t.Errorf("kinds are %q", got)
	}
}

// A link that counts as contained stays below the root by its letters too, and one to a plain neighbour does count.
func FuzzContained(f *testing.F) {
	f.Add("a/b", "../c")
	f.Add("a", "..")
	f.Add("a/b/c", "x/../../../..")
	f.Add("l", "./a//b/.")
	f.Fuzz(func(t *testing.T, name, text string) {
		if !fs.ValidPath(name) || name == "." {
			return
		}
		if end := path.Join(path.Dir(name), text); contained(name, text) && end != "." && !fs.ValidPath(strings.ToValidUTF8(end, "_")) {
			t.Errorf("%q to %q ends at %q", name, text, end)
		}
		if fs.ValidPath(text) && !strings.Contains(text, `\`) && !contained(name, text) {
			t.Errorf("%q to %q is refused", name, text)
		}
	})
}
