package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
)

// Options says what a scan may use.
type Options struct {
	// Python starts Python 3.8 or newer with a program, as python3 -I -c PROGRAM does, gives it an input, and returns what it printed:
	// also if it failed. It does so in a sandbox. Nil leaves Python programs partly read.
	Python func(ctx context.Context, program string, input []byte) ([]byte, error)
}

// Scan reads the files of a skill.
func Scan(ctx context.Context, fsys fs.FS, _ *Options) (*Report, error) {
	r := &Report{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || ctx.Err() != nil {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		r.Files = append(r.Files, File{Path: name, Size: int64(len(text)), Digest: "sha256:" + hex.EncodeToString(sum[:]), Unread: "nothing here can read it"})
		return nil
	})
	return r, err
}
