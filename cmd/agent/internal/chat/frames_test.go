package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Printed rows wait for the next drawing, but not without bound.
func TestRowsWaitWithinBounds(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j := &joinWriter{file: f}
	row := []byte("\r" + strings.Repeat("x", maxJoined/2))
	for i, want := range []int{0, len(row) * 2, len(row) * 2, len(row) * 4} {
		if _, err := j.Write(row); err != nil {
			t.Fatal(err)
		}
		if info, err := f.Stat(); err != nil || info.Size() != int64(want) {
			t.Errorf("after %d rows: %d bytes, %v; want %d", i+1, info.Size(), err, want)
		}
	}
}
