package skill

import (
	"context"
	"path/filepath"
)

// Trust returns whether scripts of the skill may run, as Entry.Trust does, but for the files that s holds open, even if
// others have replaced them. On error it returns TrustNone.
func (s *Skill) Trust(ctx context.Context) (Trust, error) {
	if err := s.usable(ctx); err != nil {
		return TrustNone, err
	}
	return s.entry.trust(ctx, s.Dir, s.Digest)
}

// Seal copies the skill's files to a new read-only folder below cache, an absolute folder that belongs to the user, and
// opens the copy. Later changes to the skill do not affect the copy, so what was approved is what runs. Seal does not
// copy the folder .git, which the digest leaves out. It uses an existing copy if its digest is still right.
//
// The Digest of the copy is computed from its own files: if an approval is for another digest, do not run the copy.
// Close both skills. The error says what cannot be copied, wraps ErrNoFolder for a skill that has no folder on disk, or
// is ErrClosed or that of ctx.
func (s *Skill) Seal(ctx context.Context, cache string) (*Skill, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	place, err := s.Dir(ctx)
	if err != nil {
		return nil, err
	}
	dir, digest, err := materialise(ctx, s.FS(), copies{dir: cache}, filepath.Base(place))
	if err != nil {
		return nil, err
	}
	tree, err := newDirSource(dir, DirOptions{}).tree(ctx, nil, ".")
	if err != nil {
		return nil, err
	}
	sealed := &Skill{entry: s.entry, tree: tree}
	sealed.digest.Store(&digest)
	if err := sealed.read(); err != nil {
		tree.Close()
		return nil, err
	}
	return sealed, nil
}
