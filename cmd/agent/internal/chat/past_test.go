package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	got := join([]string{"a", "b", "a"}, "c", "b")
	if want := []string{"a", "c", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var many []string
	for i := range maxPast + 10 {
		many = append(many, strconv.Itoa(i))
	}
	if got := join(many); len(got) != maxPast || got[0] != "10" {
		t.Errorf("%d entries from %q, want %d from 10", len(got), got[0], maxPast)
	}
}

func TestPastMove(t *testing.T) {
	p := newPast([]string{"one", "two"})
	var e editor
	e.set("draft")
	steps := []struct {
		by   int
		want string
		ok   bool
	}{{1, "draft", false}, {-1, "two", true}, {-1, "one", true}, {-1, "one", false}, {1, "two", true}, {1, "draft", true}}
	for i, s := range steps {
		if ok := p.move(s.by, &e); ok != s.ok || e.text != s.want {
			t.Errorf("step %d: %q, moved %v, want %q, %v", i, e.text, ok, s.want, s.ok)
		}
	}
}

func TestHistoryFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state", "history.jsonl")
	h := &HistoryFile{Path: name, Project: "/p"}
	if got, err := h.Load(); got != nil || err != nil {
		t.Errorf("a missing file: got %q, %v", got, err)
	}
	for _, entry := range []string{"one", "two\nlines \x1b[m", "one", strings.Repeat("x", 65<<10)} {
		if err := h.Add(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.Load()
	if want := []string{"two\nlines \x1b[m", "one"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	other := &HistoryFile{Path: name, Project: "/q"}
	if err := other.Add(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if a, _ := h.Load(); !slices.Equal(a, got) {
		t.Errorf("with another project's: got %q", a)
	}
	if b, _ := other.Load(); !slices.Equal(b, []string{"one"}) {
		t.Errorf("the other project: got %q", b)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := os.WriteFile(name, []byte("no JSON\n\"kept\"\n{}\n{\"text\":\"far\",\"project\":\"/q\"}\n{\"text\":\"near\",\"project\":\"/p\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Load(); err != nil || !slices.Equal(got, []string{"kept", "near"}) {
		t.Errorf("a broken file: got %q, %v, want the two good lines", got, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var entries []entryLine
	for i := range 100 {
		entries = append(entries, entryLine{strconv.Itoa(i) + strings.Repeat("x", 60<<10), "/p"})
	}
	content, err := encode(entries)
	if err != nil || len(content) > maxHistory {
		t.Errorf("%d bytes, %v, want at most %d", len(content), err, maxHistory)
	}
	if kept := decode(content); len(kept) == 0 || kept[len(kept)-1] != entries[99] {
		t.Errorf("the newest entry is gone")
	}
}
