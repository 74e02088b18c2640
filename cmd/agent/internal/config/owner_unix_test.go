//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// owned is a file of somebody.
type owned struct {
	fs.FileInfo
	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

func TestOurs(t *testing.T) {
	me := uint32(os.Geteuid())
	for uid, want := range map[uint32]bool{me: true, 0: true, me + 1: false, me + 2: false} {
		if got := ours(owned{uid: uid}); got != want {
			t.Errorf("uid %d for %d: got %v, want %v", uid, me, got, want)
		}
	}
	info, err := os.Lstat(t.TempDir())
	if err != nil || !ours(info) {
		t.Errorf("a folder of this test is not ours: %v", err)
	}
}
