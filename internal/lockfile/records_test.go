package lockfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A kept value is read again, and is written again only if it has changed. A file that cannot be read counts as missing.
func TestRecords(t *testing.T) {
	r := Records{Dir: filepath.Join(t.TempDir(), "a", "b"), Max: 100}
	var got []string
	if r.Read("x", &got) {
		t.Error("it is read before it is kept")
	}
	if err := r.Keep("x", []string{"1"}); err != nil || !r.Read("x", &got) || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	file := filepath.Join(r.Dir, "x")
	first, err := os.Stat(file)
	if err != nil || first.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", first, err)
	}
	if err := r.Keep("x", []string{"1"}); err != nil {
		t.Error(err)
	}
	if now, err := os.Stat(file); err != nil || !os.SameFile(first, now) {
		t.Errorf("it is written again: %v", err)
	}
	if err := r.Keep("x", []string{"2"}); err != nil || !r.Read("x", &got) || got[0] != "2" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"{", string(make([]byte, 101))} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.Read("x", &got) {
			t.Errorf("%q is read", text)
		}
	}
	if err := (Records{}).Keep("x", 1); err != nil {
		t.Error(err)
	}
	if (Records{}).Read("x", &got) {
		t.Error("nothing is read from nowhere")
	}
	if err := r.Keep("x", func() {}); err == nil {
		t.Error("a function was kept")
	}
}
