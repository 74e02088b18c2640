package skill

import (
	"context"
	"path/filepath"
)

// Trust says whether scripts of the skill may run, as Entry.Trust does, but for the very files that s
// holds, whatever lies in their place by now. Beside an error it is Untrusted.
func (s *Skill) Trust(ctx context.Context) (Trust, error) {
	if err := s.usable(ctx); err != nil {
		return TrustNone, err
	}
	return s.entry.trust(ctx, s.Dir, s.Digest)
}

// Seal copies the skill's files to a read-only folder of their own below cache, an absolute folder of
// the user's, and opens the copy: what was approved is what runs, whoever changes the skill in between
// . What the digest leaves out, the folder .git, is not copied. A copy that is there
// is used when its digest is still right.
//
// The copy's Digest is that of its files; whoever approved another does not run it. Close both skills.
// The error says what cannot be copied, wraps ErrNoFolder for a skill that lies nowhere on disk, or is ErrClosed or ctx's.
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
