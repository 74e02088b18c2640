package skill

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// Trust returns whether scripts of the skill may run, as Entry.Trust does, but for the files that s holds open, even if
// others have replaced them. On error it returns TrustNone.
func (s *Skill) Trust(ctx context.Context) (Trust, error) {
	if err := s.usable(ctx); err != nil {
		return TrustNone, err
	}
	return s.entry.trust(ctx, s.Dir, s.Digest)
}

// Seal copies the files that the skill's Digest covers to a new folder below cache, an absolute folder that belongs
// to the user, and opens the copy. Later changes to the skill do not affect the copy, so what was approved is what runs. Seal
// hashes an existing copy, and makes it anew if its files no longer have the digest. Its files have the
// modes of a checkout, so that a script can change what it copies from them; its folders cannot be written.
//
// The copy has the Digest of s: each file is hashed while it is copied. Close both skills. The error says what cannot be
// copied, and wraps ErrChanged if the files have changed since the digest was computed and there is no copy of them, or
// ErrNoFolder for a skill that has no folder on disk; or it is ErrClosed or that of ctx.
func (s *Skill) Seal(ctx context.Context, cache string) (*Skill, error) {
	name := s.entry.part().base(s.entry.Path())
	if s.entry.Server() == "" {
		place, err := s.Dir(ctx)
		if err != nil {
			return nil, err
		}
		name = filepath.Base(place)
	} else if err := s.usable(ctx); err != nil {
		return nil, err
	}
	sum, err := s.Sum(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := materialise(ctx, s.FS(), &sum, copies{dir: cache}, name)
	if err != nil {
		if now, e := dirhash.Dir(ctx, s.FS(), nil); e == nil && now.Digest != sum.Digest {
			err = fmt.Errorf("skill %q: %w: %w", s.Name(), ErrChanged, err)
		}
		return nil, err
	}
	tree, err := newDirSource(dir, DirOptions{}).tree(ctx, nil, ".")
	if err != nil {
		return nil, err
	}
	sealed := &Skill{entry: s.entry, tree: tree}
	sealed.sum.Store(&sum)
	if err := sealed.read(); err != nil {
		tree.Close()
		return nil, err
	}
	return sealed, nil
}
