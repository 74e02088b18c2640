package unpack

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// folder opens an empty folder.
func folder(t testing.TB) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// tree returns what is in a folder: the mode and the content of each file.
func tree(t testing.TB, root *os.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := root.ReadFile(name)
		out[name] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused checks that an error is an *Error that names an entry and has a text in its reason.
func refused(t testing.TB, err error, name, why string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Name != name || !strings.Contains(e.Reason, why) {
		t.Errorf("got %v, want a refusal of %.100q: %s", err, name, why)
	}
}

func TestWriter(t *testing.T) {
	root := folder(t)
	w := NewWriter(root, nil)
	for _, err := range []error{
		w.File("SKILL.md", false, strings.NewReader("text"), 4),
		w.Folder("empty"),
		w.Folder("scripts"),
		w.File("scripts/run.sh", true, strings.NewReader("run"), 3),
		w.File("scripts/sub/日本語 name", false, strings.NewReader(""), 0),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"SKILL.md": "-rw-r--r-- text", "scripts/run.sh": "-rwxr-xr-x run", "scripts/sub/日本語 name": "-rw-r--r-- "}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Error(diff)
	}
	if _, err := root.Stat("empty"); err == nil {
		t.Error("an empty folder was made")
	}
}

// security 2.7 #113, security 2.2 #24, security 2.2 #29, security 2.6 #100
func TestNames(t *testing.T) {
	bad := []string{"../x", "a/../../x", "a/../x", "/etc/passwd", "//x", "C:/x", `C:\x`, `..\..\x`, "", ".", "a//b", "a/./b", "a/", "./a", "a\x00b", "a\nb",
		"a\x1b[2J", "\xff", "con", "sub/NUL.txt", "SKILL.md:evil", "a. /b", "a./b", "a /b", ".git/hooks/x", "sub/.GIT/config", "git~1/x", ".g\u200cit/x", ".git",
		strings.Repeat("n", 256), strings.Repeat("d/", 64) + "f", strings.Repeat(strings.Repeat("n", 200)+"/", 6) + "f", strings.Repeat("d/", 5000) + "f"}
	for _, name := range bad {
		root := folder(t)
		w := NewWriter(root, nil)
		refused(t, w.File(name, false, strings.NewReader("x"), 1), name, "")
		if got := tree(t, root); len(got) > 0 {
			t.Errorf("%.50q wrote %v", name, got)
		}
		refused(t, NewWriter(root, nil).Folder(name), name, "")
	}
}

// security 2.2 #25, security 2.7 #117
func TestClashes(t *testing.T) {
	tests := []struct{ first, second, why string }{
		{"a", "a", "is there twice"},
		{"Foo", "foo", `is the same as "Foo"`},
		{"é", "e\u0301", "is the same as"},
		{"ſub", "sub", "is the same as"},
		{"Sub/a", "sub/b", `is the same as "Sub"`},
		{"a", "a/b", "is a file and a folder"},
		{"a/b", "a", "is a file and a folder"},
		{"a", "A/b", `is the same as "a"`},
	}
	for _, tt := range tests {
		w := NewWriter(folder(t), nil)
		if err := w.File(tt.first, false, strings.NewReader(""), 0); err != nil {
			t.Fatal(err)
		}
		err := w.File(tt.second, false, strings.NewReader(""), 0)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, tt.why) {
			t.Errorf("%q after %q: got %v, want %s", tt.second, tt.first, err, tt.why)
		}
		if again := w.File("other", false, strings.NewReader(""), 0); again != err || w.Close() != err {
			t.Errorf("after the refusal: %v", again)
		}
	}
}

// security 2.7 #116, security 2.7 #121, security 2.3 #41
func TestLimits(t *testing.T) {
	o := &Options{MaxFiles: 4, MaxBytes: 10, MaxFile: 6}
	tests := []struct {
		name  string
		files []string
		size  int64 // of the last one; 0 for its own
		why   string
	}{
		{"files", []string{"a", "b", "c", "d", "e"}, 0, "more than the 4 files"},
		{"folders", []string{"a/b/c", "d/e"}, 0, "more than the 4 files"},
		{"one file", []string{"a"}, 7, "more than the 6 that one file may have"},
		{"all files", []string{"a", "b"}, 5, ""},
		{"short", []string{"a"}, 2, "ends after 1 of its 2 bytes"},
		{"long", []string{"abc"}, 1, "more than the 1 bytes that it declares"},
		{"negative", []string{"a"}, -1, "has no size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWriter(folder(t), o)
			for i, name := range tt.files {
				size := int64(len(name))
				if i == len(tt.files)-1 && tt.size != 0 {
					size = tt.size
				}
				if err := w.File(name, false, strings.NewReader(name), size); err != nil {
					refused(t, err, tt.files[len(tt.files)-1], tt.why)
					return
				}
			}
			t.Error("accepted")
		})
	}
	w := NewWriter(folder(t), o)
	if err := errors.Join(w.File("a", false, strings.NewReader("12345"), 5), w.File("b", false, strings.NewReader("12345"), 5)); err != nil {
		t.Fatal(err)
	}
	refused(t, w.File("c", false, strings.NewReader("1"), 1), "c", "exceeds the 10 bytes")
}

// A link that another process puts into the folder leads nowhere.
func TestLinkInFolder(t *testing.T) {
	root, outside := folder(t), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root.Name(), "ln")); err != nil {
		t.Fatal(err)
	}
	if err := NewWriter(root, nil).File("ln/x", false, strings.NewReader(""), 0); err == nil {
		t.Error("written through a link")
	}
	if list, _ := os.ReadDir(outside); len(list) > 0 {
		t.Errorf("outside: %v", list)
	}
}

func TestCopy(t *testing.T) {
	from := fstest.MapFS{
		"SKILL.md":       {Data: []byte("text"), Mode: 0o664},
		"scripts/run.sh": {Data: []byte("run"), Mode: 0o4711},
		"empty":          {Mode: fs.ModeDir | 0o777},
	}
	root := folder(t)
	w := NewWriter(root, nil)
	if err := errors.Join(Copy(t.Context(), from, w), w.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"SKILL.md": "-rw-r--r-- text", "scripts/run.sh": "-rwxr-xr-x run"}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

// security 2.7 #114
func TestCopyRefuses(t *testing.T) {
	for mode, why := range map[fs.FileMode]string{
		fs.ModeSymlink: "is a link", fs.ModeNamedPipe: "is a named pipe", fs.ModeDevice | fs.ModeCharDevice: "is a device",
		fs.ModeSocket: "is a socket", fs.ModeIrregular: "is a special file",
	} {
		from := fstest.MapFS{"sub/x": {Data: []byte("SKILL.md"), Mode: mode | 0o644}}
		refused(t, Copy(t.Context(), from, NewWriter(folder(t), nil)), "sub/x", why)
	}
	refused(t, Copy(t.Context(), fstest.MapFS{"sub/.git/config": {}}, NewWriter(folder(t), nil)), "sub/.git", "is in a .git folder")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(ctx, fstest.MapFS{"a": {}}, NewWriter(folder(t), nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// hostile is a folder whose listing has names that are not components.
type hostile struct {
	fstest.MapFS
	name string
}

func (h hostile) Open(name string) (fs.File, error) {
	f, err := h.MapFS.Open("a")
	if name == "." {
		return hostileFolder{f, h.name}, nil
	}
	return f, err
}

type hostileFolder struct {
	fs.File
	name string
}

func (h hostileFolder) ReadDir(int) ([]fs.DirEntry, error) {
	return []fs.DirEntry{hostileEntry(h)}, io.EOF
}

type hostileEntry hostileFolder

func (h hostileEntry) Name() string               { return h.name }
func (h hostileEntry) IsDir() bool                { return false }
func (h hostileEntry) Type() fs.FileMode          { return 0 }
func (h hostileEntry) Info() (fs.FileInfo, error) { return h.Stat() }

// security 2.6 #100
func TestCopyHostileNames(t *testing.T) {
	for _, name := range []string{"..", ".", "", "a/b", "../x", "/x", "a\\b", ".git "} {
		refused(t, Copy(t.Context(), hostile{fstest.MapFS{"a": {}}, name}, NewWriter(folder(t), nil)), name, "")
	}
}

// What has an odd name is left out where that is asked for: of names that are one on some system, the first stays.
func TestLeaveOdd(t *testing.T) {
	root := folder(t)
	w := NewWriter(root, &Options{LeaveOdd: true})
	from := fstest.MapFS{}
	for _, name := range []string{"NOTES.md", "Notes.md", "a/x", "A/y", "aux.txt", "b:c/d", "dot.", "e/\u200bf", "plain"} {
		from[name] = &fstest.MapFile{Data: []byte("x")}
	}
	if err := w.End(Copy(t.Context(), from, w)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A/y", "NOTES.md", "plain"}, slices.Sorted(maps.Keys(tree(t, root)))); diff != "" {
		t.Error(diff)
	}
	want := []string{
		`Notes.md is the same as "NOTES.md" where case and accents are not told apart`,
		`a is the same as "A" where case and accents are not told apart`,
		"aux.txt has a name that is that of a device on Windows",
		"b:c has a name that has a character that some systems forbid",
		"dot. has a name that ends with a full stop or a space",
		"e/\u200bf has a name that has an invisible character",
	}
	if diff := cmp.Diff(want, w.LeftOut()); diff != "" {
		t.Error(diff)
	}
	w = NewWriter(folder(t), &Options{LeaveOdd: true})
	refused(t, Copy(t.Context(), fstest.MapFS{"x/.GIT/config": {}}, w), "x/.GIT", "is in a .git folder")
}

func BenchmarkCopy1000(b *testing.B) {
	from := fstest.MapFS{}
	for i := range 1000 {
		from["skill/references/"+strings.Repeat("d/", i%5)+"f"+string(rune('a'+i%26))+strings.Repeat("x", i/26)] = &fstest.MapFile{Data: make([]byte, 4000)}
	}
	for _, volatile := range []bool{true, false} {
		b.Run(map[bool]string{true: "volatile", false: "flushed"}[volatile], func(b *testing.B) {
			for b.Loop() {
				w := NewWriter(folder(b), &Options{Volatile: volatile})
				if err := errors.Join(Copy(b.Context(), from, w), w.Close()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
