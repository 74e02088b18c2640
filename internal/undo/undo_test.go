package undo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/undo"
)

// bench is a workspace with a journal.
type bench struct {
	t   *testing.T
	o   *undo.Options
	j   *undo.Journal
	now time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	b.o = &undo.Options{Dir: filepath.Join(base, "undo"), Workspace: filepath.Join(base, "ws"), Conversation: "talk",
		Now: func() time.Time { b.now = b.now.Add(time.Second); return b.now }}
	if err := os.Mkdir(b.o.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	b.j = undo.New(b.o)
	b.j.Begin("a prompt", 1)
	return b
}

func (b *bench) at(name string) string { return filepath.Join(b.o.Workspace, filepath.FromSlash(name)) }

// put writes a file without a record.
func (b *bench) put(name, content string) {
	b.t.Helper()
	err := os.MkdirAll(filepath.Dir(b.at(name)), 0o755)
	if err = errors.Join(err, os.WriteFile(b.at(name), []byte(content), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

// record records the change of a file.
func (b *bench) record(name, after string) error {
	c := &undo.Change{Path: name, After: []byte(after)}
	if before, err := os.ReadFile(b.at(name)); err == nil {
		info, err := os.Stat(b.at(name))
		if err != nil {
			return err
		}
		c.Existed, c.Before, c.Mode = true, before, info.Mode()
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(b.at(dir)); err != nil {
			c.Folders = append([]string{filepath.ToSlash(dir)}, c.Folders...)
		}
	}
	return b.j.Record(context.Background(), c)
}

// change records a change and makes it.
func (b *bench) change(name, after string) {
	b.t.Helper()
	if err := b.record(name, after); err != nil {
		b.t.Fatal(err)
	}
	b.put(name, after)
}

// undo takes the last turn back and returns what was done.
func (b *bench) undo() []string {
	b.t.Helper()
	turn, err := undo.Last(b.t.Context(), b.o)
	if err != nil {
		return []string{err.Error()}
	}
	planned, err := turn.Plan(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	done, err := turn.Undo(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if fmt.Sprint(planned) != fmt.Sprint(done) {
		b.t.Errorf("planned %v, did %v", planned, done)
	}
	var out []string
	for _, f := range done {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", f.Path, f.Action, f.Why), ": "))
	}
	return out
}

func (b *bench) want(got []string, want ...string) {
	b.t.Helper()
	if !slices.Equal(got, want) {
		b.t.Errorf("got  %q\nwant %q", got, want)
	}
}

func (b *bench) disk(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(b.at(name))
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		b.t.Errorf("%s: got %q %v, want %q", name, got, err, want)
	}
}

// P5: a turn is taken back: changed files get their content and permissions, new ones go, with the folders made for them.
func TestUndo(t *testing.T) {
	b := newBench(t)
	b.put("a", "one")
	b.put("dir/kept", "x")
	b.put("run", "sh")
	if err := os.Chmod(b.at("run"), 0o751); err != nil {
		t.Fatal(err)
	}
	b.change("a", "two")
	b.change("a", "three")
	b.change("dir/new/deep/f", "1")
	b.change("dir/new/g", "2")
	b.change("run", "other")
	b.change("same", "1")
	if err := os.Remove(b.at("same")); err != nil {
		t.Fatal(err)
	}
	b.want(b.undo(), "same unchanged", "run restored", "dir/new/g removed", "dir/new/deep/f removed", "a restored")
	b.disk("a", "one")
	b.disk("dir/kept", "x")
	if _, err := os.Stat(b.at("dir/new")); err == nil {
		t.Error("a folder that the agent made stays")
	}
	if info, err := os.Stat(b.at("run")); err != nil || info.Mode() != 0o751 {
		t.Errorf("got %v %v", info, err)
	}
	b.want(b.undo(), undo.ErrNothing.Error())
}

// P5: turns are taken back one after the other, the newest first, of one conversation or of all.
func TestTurns(t *testing.T) {
	b := newBench(t)
	b.put("a", "0")
	b.change("a", "1")
	b.j.Begin("second", 1)
	b.change("a", "2")
	b.j.Begin("changes nothing", 1)
	other := *b.o
	other.Conversation = "other"
	b.want(lastOf(b, &other), undo.ErrNothing.Error())
	all := *b.o
	all.Conversation = ""
	b.want(lastOf(b, &all), "second")
	b.want(b.undo(), "a restored")
	b.disk("a", "1")
	b.want(lastOf(b, &all), "a prompt")
	b.want(b.undo(), "a restored")
	b.disk("a", "0")
	turns, err := undo.List(t.Context(), b.o)
	if err != nil || len(turns) != 2 || !turns[0].Undone || turns[0].Label != "second" || !slices.Equal(turns[1].Paths(), []string{"a"}) {
		t.Errorf("got %v %v", turns, err)
	}
	if _, err := undo.Open(b.o, turns[1].ID); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "..", "../x", "/", "none"} {
		if _, err := undo.Open(b.o, id); err == nil {
			t.Errorf("%q was opened", id)
		}
	}
}

func lastOf(b *bench, o *undo.Options) []string {
	turn, err := undo.Last(b.t.Context(), o)
	if err != nil {
		return []string{err.Error()}
	}
	return []string{turn.Label}
}

// A turn has the note that a command ran in it once, whether the command ran before its first change or after.
func TestRan(t *testing.T) {
	b := newBench(t)
	b.put("a", "0")
	ran := func() bool {
		t.Helper()
		turn, err := undo.Last(t.Context(), b.o)
		if err != nil || turn.Damaged > 0 || len(turn.Paths()) != 1 {
			t.Fatalf("%+v, %v", turn, err)
		}
		return turn.Ran
	}
	b.change("a", "1")
	if ran() {
		t.Error("no command ran")
	}
	b.j.Ran()
	b.j.Ran()
	if !ran() {
		t.Error("a command after the change is not noted")
	}
	b.j.Begin("second", 2)
	b.change("a", "2")
	if ran() {
		t.Error("the command of the turn before is noted")
	}
	b.j.Begin("third", 3)
	b.j.Ran()
	b.change("a", "3")
	if !ran() {
		t.Error("a command before the change is not noted")
	}
}

// P5: a file that something else changed stays as it is, and its old content is named.
func TestUndoRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		since func(b *bench)
		want  string
		kept  bool
	}{
		{"changed", func(b *bench) { b.put("f", "the user's") }, "f refused: it was changed since", true},
		{"removed", func(b *bench) { os.Remove(b.at("f")) }, "f refused: it was removed since", true},
		{"a new file, changed", func(b *bench) { b.change("new", "1"); b.put("new", "2") }, "new refused: it was changed since", false},
		{"between two changes", func(b *bench) { b.put("f", "formatted"); b.change("f", "three") }, "f refused: something else changed it between two changes of this turn", true},
		{"a folder now", func(b *bench) { os.Remove(b.at("f")); os.Mkdir(b.at("f"), 0o755) }, "f refused: it is not a regular file now", true},
		{"a link now", func(b *bench) { os.Rename(b.at("f"), b.at("g")); os.Symlink("g", b.at("f")) }, "f refused: a symbolic link is on its path now", true},
		{"a link on the way", func(b *bench) {
			b.change("dir/f", "1")
			os.Rename(b.at("dir"), b.at("other"))
			os.Symlink("other", b.at("dir"))
		}, "dir/f refused: a symbolic link is on its path now", false},
		{"damaged", func(b *bench) {
			kept, _ := filepath.Glob(filepath.Join(b.o.Dir, "*", "*", "1"))
			os.WriteFile(kept[0], []byte("other"), 0o600)
		}, "f refused: its old content is damaged or missing", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("f", "one")
			b.change("f", "two")
			tt.since(b)
			before, _ := os.ReadFile(b.at("f"))
			turn, err := undo.Last(t.Context(), b.o)
			if err != nil {
				t.Fatal(err)
			}
			files, err := turn.Undo(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(files, func(f undo.File) bool { return f.Action == undo.Refuse })
			if i < 0 || files[i].Path+" refused: "+files[i].Why != tt.want {
				t.Fatalf("got %+v", files)
			}
			if strings.HasPrefix(tt.want, "f ") && tt.name != "a folder now" {
				b.disk("f", string(before))
			}
			if old, err := os.ReadFile(files[i].Kept); tt.kept != (files[i].Kept != "") || tt.kept && (err != nil || string(old) != "one" && tt.name != "damaged") {
				t.Errorf("the old content is in %q: %q %v", files[i].Kept, old, err)
			}
		})
	}
}

// Bounds: what is too large is not recorded, and old turns are forgotten.
func TestBounds(t *testing.T) {
	b := newBench(t)
	var large *undo.TooLargeError
	err := b.j.Record(t.Context(), &undo.Change{Path: "a", Existed: true, Before: make([]byte, undo.MaxFile+1)})
	if !errors.As(err, &large) {
		t.Errorf("got %v", err)
	}
	b.put("a", "1")
	b.change("a", "2")
	entries, err := os.ReadDir(b.o.Dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	for _, path := range []string{b.o.Dir, filepath.Join(b.o.Dir, entries[0].Name())} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	b.now = b.now.Add(undo.MaxAge + time.Hour)
	b.j = undo.New(b.o)
	b.j.Begin("a month later", 1)
	b.change("a", "3")
	if turns, err := undo.List(t.Context(), b.o); err != nil || len(turns) != 1 || turns[0].Label != "a month later" {
		t.Errorf("got %v %v", turns, err)
	}
}

// All turns together keep at most 512 MiB: the oldest are forgotten.
func TestTurnsAreBounded(t *testing.T) {
	b := newBench(t)
	b.put("a", "0")
	for _, label := range []string{"first", "second", "third"} {
		b.j.Begin(label, 1)
		b.change("a", label)
	}
	kept, err := filepath.Glob(filepath.Join(b.o.Dir, "*", "*", "1"))
	if err != nil || len(kept) != 3 {
		t.Fatal(kept, err)
	}
	for i, mib := range []int64{1, 255, 256} { // with the records more than 512, and without the first turn less than 513
		if err := os.Truncate(kept[i], mib<<20); err != nil {
			t.Fatal(err)
		}
	}
	b.j = undo.New(b.o)
	b.j.Begin("fourth", 1)
	b.change("a", "4")
	turns, err := undo.List(t.Context(), b.o)
	var labels []string
	for _, turn := range turns {
		labels = append(labels, turn.Label)
	}
	b.want(labels, "fourth", "third", "second")
	if err != nil {
		t.Error(err)
	}
}

// A line that a crash cut off is ignored, and what follows it counts.
func TestDamagedRecords(t *testing.T) {
	b := newBench(t)
	b.put("a", "1")
	b.change("a", "2")
	names, _ := filepath.Glob(filepath.Join(b.o.Dir, "*", "*", "records"))
	f, err := os.OpenFile(names[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"path":"../../etc/passwd","existed":false,"after":"` + strings.Repeat("0", 64) + `"}` + "\n" + `{"path":"b","exis`)
	f.Close()
	b.change("c", "1")
	turn, err := undo.Last(t.Context(), b.o)
	if err != nil || turn.Damaged != 2 || !slices.Equal(turn.Paths(), []string{"a", "c"}) {
		t.Fatalf("got %+v %v", turn, err)
	}
	b.want(b.undo(), "c removed", "a restored")
	b.want(b.undo(), undo.ErrNothing.Error())
}

func TestCancelled(t *testing.T) {
	b := newBench(t)
	b.put("a", "1")
	b.change("a", "2")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.j.Record(ctx, &undo.Change{Path: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	turn, err := undo.Last(t.Context(), b.o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Undo(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.disk("a", "2")
}
