package audit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/trace"
)

// fiveLines returns the lines of a log with five records of the skills one to five.
func fiveLines(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	emit(t, New(&Options{Dir: dir}), "one", "two", "three", "four", "five")
	src, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(src), "\n"), "\n")
}

// Verify names the file, the line and what broke (security 2.14 #189).
func TestVerifyFindsChanges(t *testing.T) {
	forged := func(line string) string { // a record with a hash of its own
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		r.Skill = "other"
		out, err := encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, tt := range []struct {
		name   string
		change func(l []string) []string
		want   string
	}{
		{"nothing", func(l []string) []string { return l }, ""},
		{"a text", func(l []string) []string { l[2] = strings.Replace(l[2], "three", "forty", 1); return l },
			"3: the line was changed: its hash is that of another text|4: record 3 is missing"},
		{"a text and its hash", func(l []string) []string { l[2] = forged(l[2]); return l },
			"4: record 4 does not continue record 3: one of them was changed"},
		{"a line removed", func(l []string) []string { return append(l[:1:1], l[2:]...) }, "2: record 2 is missing"},
		{"lines removed", func(l []string) []string { return append(l[:1:1], l[4:]...) }, "2: records 2 to 4 are missing"},
		{"lines swapped", func(l []string) []string { l[1], l[2] = l[2], l[1]; return l },
			"2: record 2 is missing|3: record 2 comes after record 3|4: record 3 is missing"},
		{"a line twice", func(l []string) []string { return append(l[:2:2], l[1:]...) }, "3: record 2 comes after record 2"},
		{"a line inserted", func(l []string) []string { return append(append(l[:2:2], "hello\n"), l[2:]...) }, "3: the line is not a whole record"},
		{"an empty line", func(l []string) []string { return append(append(l[:2:2], "\n"), l[2:]...) }, "3: the line is not a whole record"},
		{"the first line removed", func(l []string) []string { return l[1:] }, "record 1 is missing, and not by rotation: the log has fewer files than it keeps"},
		{"the first lines removed", func(l []string) []string { return l[2:] }, "records 1 to 2 are missing, and not by rotation: the log has fewer files than it keeps"},
		{"the last line cut", func(l []string) []string { l[4] = l[4][:40]; return l }, ""},
		{"the last line changed", func(l []string) []string { l[4] = strings.Replace(l[4], "five", "nine", 1); return l },
			"5: the line was changed: its hash is that of another text"},
		{"the last line broken", func(l []string) []string { l[4] = l[4][:40] + "\n"; return l }, ""},
		{"a line at the end", func(l []string) []string { return append(l, "\nhello\n") }, "6: the line is not a whole record"},
		{"NULs at the end", func(l []string) []string { return append(l, "\n"+strings.Repeat("\x00", 4096)) }, "6: the line is not a whole record"},
		{"other bytes", func([]string) []string { return []string{"\x8f\x01\n\xfe\x02"} }, "1: the line is not a whole record"},
		{"a line that is too long at the end", func(l []string) []string { return append(l, "\n{\"x\":\""+strings.Repeat("x", 100_000)) },
			"6: the line is not a whole record: it has 100006 bytes, more than 65536"},
		{"a long line", func(l []string) []string { l[3] = strings.Repeat("x", 100_000) + "\n"; return l },
			"4: the line is not a whole record: it has 100000 bytes, more than 65536|5: record 4 is missing"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, currentName)
		if err := os.WriteFile(path, []byte(strings.Join(tt.change(fiveLines(t)), "")), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range r.Breaks {
			got = append(got, strings.TrimPrefix(b.Error(), path+":"))
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "|")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// What takes the place of the whole log stays a fault when a writer goes on after it; what a power failure leaves at the end does not.
func TestVerifyAfterRepair(t *testing.T) {
	for _, tt := range []struct{ name, kept, debris, want string }{
		{"other bytes in place of the log", "", "\x8f\x01\n\xfe\x02", "1: the line is not a whole record"},
		{"the first record unfinished", "", `{"timest`, ""},
		{"NULs after a record", fiveLines(t)[0], strings.Repeat("\x00", 4096), ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, currentName)
		if err := os.WriteFile(path, []byte(tt.kept+tt.debris), 0o600); err != nil {
			t.Fatal(err)
		}
		emit(t, New(&Options{Dir: dir}), "next")
		r, err := Verify(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range r.Breaks {
			got = append(got, strings.TrimPrefix(b.Error(), path+":"))
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "|")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// A hash that was kept elsewhere shows that the log was cut off or written anew.
func TestVerifyHead(t *testing.T) {
	dir := t.TempDir()
	emit(t, New(&Options{Dir: dir}), "one", "two")
	head := clean(t, dir).Hash
	emit(t, New(&Options{Dir: dir}), "three")
	if r, err := Verify(t.Context(), dir, &VerifyOptions{Head: head}); err != nil || len(r.Breaks) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(dir, currentName)); err != nil {
		t.Fatal(err)
	}
	emit(t, New(&Options{Dir: dir}), "one", "other", "three")
	r, err := Verify(t.Context(), dir, &VerifyOptions{Head: head})
	if err != nil || len(r.Breaks) != 1 || !strings.Contains(r.Breaks[0].Error(), head) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A log that does not exist has no records.
func TestNoLog(t *testing.T) {
	r := clean(t, filepath.Join(t.TempDir(), "none"))
	if r.Records != 0 || r.Files != 0 {
		t.Errorf("%+v", r)
	}
}

// Follow yields each record that is written after it began, across files.
func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		l := New(&Options{Dir: dir, maxSize: 1000, maxFiles: 500})
		for ctx.Err() == nil {
			trace.Emit(ctx, l, trace.Event{Kind: trace.SkillRemoved, Skill: "a"})
			time.Sleep(2 * time.Millisecond)
		}
	})
	var last uint64
	seen := 0
	for e, err := range Follow(ctx, dir) {
		if err != nil {
			t.Fatal(err)
		}
		if seen > 0 && e.Seq != last+1 {
			t.Fatalf("record %d comes after record %d", e.Seq, last)
		}
		last = e.Seq
		if seen++; seen == 400 {
			cancel()
			break
		}
	}
	wg.Wait()
	if seen < 400 {
		t.Fatalf("%d records before the deadline", seen)
	}
}

// FuzzRead feeds the reader with any file: it never panics, and a writer can always go on after it.
func FuzzRead(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"seq":1,"prev":"","hash":"` + strings.Repeat("0", 64) + "\"}\n"))
	r := Record{Event: trace.SkillRemoved, Seq: 7}
	line, err := encode(&r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(line[:len(line)-1])
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, currentName), src, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
		emit(t, New(&Options{Dir: dir}), "first", "second")
		got := records(t, dir)
		if n := len(got); n < 2 || got[n-1].Skill != "second" || got[n-2].Skill != "first" || got[n-1].Prev != got[n-2].Hash {
			t.Fatalf("%+v", got)
		}
	})
}
