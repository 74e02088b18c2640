package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/policy"
)

// documents returns the policy of the machine with those that it includes, as they were fetched last: what each must be is in the file
// of the machine, so that it does not matter who can write where they are kept.
func (s *Settings) documents(d *policy.Document) []*policy.Document {
	return d.With(func(in *policy.Include) *policy.Document { return s.Included(in, s.IncludedDir(in)) })
}

// IncludedDir returns where the folder of an included policy is kept.
func (s *Settings) IncludedDir(in *policy.Include) string {
	sum := sha256.Sum256([]byte(in.Source + "\n" + in.File() + "\n" + in.Digest + in.Signer))
	return filepath.Join(s.Home(), "cache", "policy", hex.EncodeToString(sum[:16]))
}

// Included reads an included policy from its folder.
func (s *Settings) Included(in *policy.Include, dir string) *policy.Document {
	root, err := os.OpenRoot(dir)
	if err != nil { // it is missing, or nobody can read it
		return in.Read(empty{}, nil)
	}
	defer root.Close()
	return in.Read(root.FS(), func(certificates []byte) (bool, error) {
		return SignedBy(s.sys.Context, root.FS(), certificates, s.sys.Now())
	})
}

// empty is a folder without files.
type empty struct{}

// Open finds nothing.
func (empty) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// SignedBy reports whether the signature of a folder holds at a time and one of the certificates of a PEM file vouches for it.
func SignedBy(ctx context.Context, fsys fs.FS, certificates []byte, at time.Time) (bool, error) {
	roots, err := oms.ParseRoots(certificates)
	if err != nil {
		return false, err
	}
	r, err := oms.Verify(ctx, fsys, &oms.Options{Roots: roots, Time: at})
	if err != nil {
		return false, err
	}
	return r.State == oms.Valid, nil
}
