package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/test/documenttest"
	"github.com/agent-base/agent-base/trace"
)

// open returns the file, or one with a defect that the place names after a NUL.
func open(place string, record func(context.Context, trace.Event) error) document.Store {
	f := File{Path: place, Wait: time.Minute, Record: record}
	if path, defect, ok := strings.Cut(place, "|"); ok {
		f.Path = path
		return &defective{f, defect}
	}
	return &f
}

// defective is a file with a defect that the suite must find.
type defective struct {
	File
	defect string
}

func (d *defective) Transform(ctx context.Context, edit document.Edit) error {
	if d.defect == "no lock" {
		d.Lock = fmt.Sprintf("%s.%d.lock", d.Path, rand.Int())
		defer os.Remove(d.Lock)
		err := d.File.Transform(ctx, edit)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) { // another one took its temporary file
			err = nil
		}
		return err
	}
	unlock, err := Lock(ctx, d.Path+".lock", time.Minute)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := d.Read()
	if err != nil {
		return err
	}
	c, err := edit(old)
	if err != nil {
		return err
	}
	f, err := os.Create(d.Path) // in place
	for part := range slices.Chunk(c.Content, 500) {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	return errors.Join(err, f.Close())
}

func TestMain(m *testing.M) {
	documenttest.Main(open)
	os.Exit(m.Run())
}

// R137, R138 and C44: processes lose none of their updates. One that is killed at any point leaves the old content or the new one, and
// frees its lock. A file without its lock, or written in place, is found.
func TestDocument(t *testing.T) {
	place := func(t *testing.T) string { return filepath.Join(t.TempDir(), "n") }
	documenttest.Run(t, place, open)
	for _, defect := range []string{"no lock", "in place"} {
		if found := documenttest.Writers(t, place(t)+"|"+defect, open); found == "" {
			t.Errorf("%s: nothing was found", defect)
		} else {
			t.Logf("%s: %s", defect, found)
		}
	}
}

func TestTransform(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name, old string
		edit      func([]byte) ([]byte, error)
		want      string
		wantErr   string
	}{
		{"new file", "", to("a"), "a", ""},
		{"replaced", "x", to("a"), "a", ""},
		{"emptied", "x", to(""), "", ""},
		{"nil leaves it", "x", func([]byte) ([]byte, error) { return nil, nil }, "x", ""},
		{"changed in place", "x", func(b []byte) ([]byte, error) { b[0] = 'y'; return b, nil }, "y", ""},
		{"error of edit", "x", func([]byte) ([]byte, error) { return []byte("a"), boom }, "x", "boom"},
		{"new content too large", "x", to(strings.Repeat("a", 101)), "x", "101 bytes, more than 100"},
		{"what cannot be read again", "x", to("broken"), "x", "could not be read again, so nothing was written: broken"},
		{"old content too large", strings.Repeat("a", 101), to("a"), strings.Repeat("a", 101), "exceeds 100 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "f")
			if tt.old != "" {
				put(t, path, tt.old, 0o640)
			}
			read := func(content []byte) error {
				if string(content) == "broken" {
					return errors.New("broken")
				}
				return nil
			}
			err := transform(t.Context(), path, &File{Max: 100, Check: read}, tt.edit)
			checkError(t, err, tt.wantErr)
			got, err := os.ReadFile(path)
			if err != nil || string(got) != tt.want {
				t.Errorf("content %q, %v; want %q", got, err, tt.want)
			}
			checkFiles(t, filepath.Dir(path), "f", "f.lock")
		})
	}
}

func TestTransformModes(t *testing.T) {
	dir := t.TempDir()
	kept, made := filepath.Join(dir, "kept"), filepath.Join(dir, "sub", "made")
	put(t, kept, "x", 0o644)
	for _, path := range []string{kept, made} {
		if err := transform(t.Context(), path, nil, to("a")); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]fs.FileMode{kept: 0o644, made: 0o600, filepath.Dir(made): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), got, want)
		}
	}
}

func TestNoChangeIsNoWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "same", 0o600)
	before, _ := os.Stat(path)
	if err := transform(t.Context(), path, nil, to("same")); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("the file was replaced by itself")
	}
}

func TestTransformFollowsALink(t *testing.T) {
	dir := t.TempDir()
	path, linked := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "dotfiles", "c.yaml")
	put(t, linked, "x", 0o600)
	if err := os.Symlink(linked, path); err != nil {
		t.Fatal(err)
	}
	if err := transform(t.Context(), path, nil, to("a")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(linked); string(got) != "a" {
		t.Errorf("the link's target holds %q, want %q", got, "a")
	}
	if info, _ := os.Lstat(path); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	os.Remove(linked)
	checkError(t, transform(t.Context(), path, nil, to("a")), "leads nowhere")
}

// security 2.8: a failure at any step leaves the old content and no other file.
func TestEveryStepCanFail(t *testing.T) {
	boom := errors.New("no space left on device")
	var steps []string
	record := func(s string) error { steps = append(steps, s); return nil }
	path := filepath.Join(t.TempDir(), "f")
	if err := transform(t.Context(), path, &File{before: record}, to("a")); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(steps), "[create write chmod sync rename syncdir]"; got != want {
		t.Fatalf("steps %s, want %s", got, want)
	}
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			put(t, path, "old", 0o600)
			fail := func(s string) error {
				if s == step {
					return boom
				}
				return nil
			}
			err := transform(t.Context(), path, &File{before: fail}, to("new"))
			if !errors.Is(err, boom) {
				t.Errorf("error %v, want %v in it", err, boom)
			}
			want := "old"
			if step == "syncdir" {
				want = "new"
				checkError(t, err, "power failure")
			}
			if got, _ := os.ReadFile(path); string(got) != want {
				t.Errorf("content %q, want %q", got, want)
			}
			checkFiles(t, filepath.Dir(path), "f", "f.lock")
		})
	}
}

// A manifest is repaired in place: with its mode, never through a link, and without a trace of a failure.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "SKILL.md"), "old", 0o644)
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := Replace(root, "SKILL.md", []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	checkError(t, Replace(root, "link.md", []byte("no"), 0o644), `"link.md" is a symbolic link`)
	checkError(t, Replace(root, "folder", []byte("no"), 0o644), "not a regular file")
	checkError(t, Replace(root, "missing", []byte("no"), 0o644), "no such file")
	got, _ := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	info, _ := os.Stat(filepath.Join(dir, "SKILL.md"))
	if string(got) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q with mode %o, want new with 640", got, info.Mode().Perm())
	}
	checkFiles(t, dir, "SKILL.md", "folder", "link.md")
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	unlock, err := lock(t.Context(), path, &File{Wait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	err = transform(t.Context(), path, &File{Wait: 5 * time.Millisecond}, to("a"))
	if !errors.Is(err, ErrLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	checkError(t, err, path+".lock")
	checkError(t, err, "wait for the other process")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := transform(ctx, path, nil, to("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	unlock()
	if err := transform(t.Context(), path, nil, to("a")); err != nil {
		t.Errorf("after the lock was freed: %v", err)
	}
}

// Many hold a shared lock at once; an exclusive one waits for all of them, and keeps others out.
func TestShare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	take := func(how func(context.Context, string, time.Duration) (func(), error)) (func(), error) {
		return how(t.Context(), name, time.Millisecond)
	}
	first, err := take(Share)
	if err != nil {
		t.Fatal(err)
	}
	second, err := take(Share)
	if err != nil {
		t.Fatal(err)
	}
	first()
	if _, err := take(Lock); !errors.Is(err, ErrLocked) {
		t.Errorf("one still shares it: error %v, want ErrLocked", err)
	}
	second()
	alone, err := take(Lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take(Share); !errors.Is(err, ErrLocked) {
		t.Errorf("another has it alone: error %v, want ErrLocked", err)
	}
	alone()
	if last, err := take(Share); err != nil {
		t.Error(err)
	} else {
		last()
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "12345", 0o600)
	if got, err := Read(filepath.Join(dir, "f"), 5); string(got) != "12345" || err != nil {
		t.Errorf("Read = %q, %v", got, err)
	}
	_, err := Read(filepath.Join(dir, "f"), 4)
	checkError(t, err, "exceeds 4 bytes")
	_, err = Read(dir, 4)
	checkError(t, err, "not a regular file")
	if _, err = Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
}

// transform is File.Edit for a path and, perhaps, options.
func transform(ctx context.Context, path string, f *File, edit func([]byte) ([]byte, error)) error {
	if f == nil {
		f = &File{}
	}
	f.Path = path
	return f.Edit(ctx, edit)
}

func to(s string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(s), nil }
}

func put(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

func checkFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// A lock without a limit of its own waits as long as its context lasts.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lock")
	unlock, err := Lock(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, name, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = Lock(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := Lock(t.Context(), filepath.Join(name, "x"), 0); err == nil {
		t.Error("locked a file below a file")
	}
}

// If ctx is done, nothing changes, even if the lock is free: no file, no folder, no lock.
func TestEndedContext(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old"), "old", 0o600)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"old", "new", "below/new"} {
		err := transform(ctx, filepath.Join(dir, name), nil, func([]byte) ([]byte, error) {
			t.Errorf("%s is edited", name)
			return []byte("new"), nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want the context's", name, err)
		}
	}
	for _, take := range []func(context.Context, string, time.Duration) (func(), error){Lock, Share} {
		if _, err := take(ctx, filepath.Join(dir, "lock"), time.Second); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
	checkFiles(t, dir, "old")
	if got, err := Read(filepath.Join(dir, "old"), 0); string(got) != "old" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A copy of what there was replaces nothing: not an earlier one of the same name, and not what a link leads to. Then nothing changes.
func TestKeepReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trust.json")
	put(t, path, "first", 0o600)
	becomes := func(content, end string) error {
		f := &File{Path: path}
		return f.Transform(t.Context(), func([]byte) (document.Change, error) {
			return document.Change{Content: []byte(content), Keep: end}, nil
		})
	}
	if err := becomes("second", ".kept"); err != nil {
		t.Fatal(err)
	}
	if err := becomes("third", ".kept"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	put(t, filepath.Join(dir, "other"), "mine", 0o600)
	if err := os.Symlink(filepath.Join(dir, "other"), path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := becomes("third", ".link"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]string{path: "second", path + ".kept": "first", filepath.Join(dir, "other"): "mine"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
}

// A file that did not change since it was read is the same, unless another change may have left no trace.
func TestMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	none := MarkOf(path)
	if !MarkOf(path).Same(none) || none.Same(nil) {
		t.Error("a file that is not there is not the same")
	}
	put(t, path, "a", 0o600)
	if now := MarkOf(path); now.Same(none) || MarkOf(path).Same(now) {
		t.Error("a fresh file is the same")
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	was := MarkOf(path)
	if !MarkOf(path).Same(was) {
		t.Error("the file is not the same")
	}
	if err := errors.Join(os.WriteFile(path, []byte("bc"), 0o600), os.Chtimes(path, old, old)); err != nil || MarkOf(path).Same(was) {
		t.Errorf("a longer file is the same (%v)", err)
	}
}
