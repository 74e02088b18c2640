package undo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A turn keeps at most 256 MiB of old contents, and what would exceed them is not recorded.
func TestTurnIsBounded(t *testing.T) {
	base := t.TempDir()
	o := &Options{Dir: filepath.Join(base, "undo"), Workspace: base, Conversation: "talk", Now: time.Now}
	j := New(o)
	j.Begin("a prompt", 1)
	record := func() error {
		return j.Record(t.Context(), &Change{Path: "a", Existed: true, Before: []byte("12"), After: []byte("3")})
	}
	if err := record(); err != nil {
		t.Fatal(err)
	}
	j.bytes = 256<<20 - 3 // as after many changes
	if err := record(); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	var large *TooLargeError
	if err := record(); !errors.As(err, &large) {
		t.Errorf("above the limit: %v", err)
	}
	if kept, err := os.ReadDir(j.turn); err != nil || len(kept) != 3 { // the records and two contents
		t.Errorf("kept %v, %v", kept, err)
	}
	j.Begin("another turn has room of its own", 1)
	if err := record(); err != nil {
		t.Error(err)
	}
}
