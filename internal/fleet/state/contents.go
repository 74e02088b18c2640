package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

const (
	contentsName    = "CONTENTS"
	defaultContents = 1 << 30         // bytes
	contentTime     = 2 * time.Minute // to bring one content
)

// Errors of contents.
var (
	// ErrNoContent means that the node does not have a content.
	ErrNoContent = errors.New("the fleet does not have it")
	// ErrNoRoom means that a content was not stored.
	ErrNoRoom = errors.New("the fleet has no more room for the contents of skills: remove skills that are not needed")
)

// contents returns the bucket of contents, and makes it if there is none. It has as many copies as the documents. It is an ObjectStore, but
// for reads, which the leader alone answers: another node may be behind.
func (s *State) contents(ctx context.Context) (b jetstream.ObjectStore, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bucket != nil {
		return s.bucket, nil
	}
	config := jetstream.StreamConfig{
		Name: "OBJ_" + contentsName, Subjects: []string{"$O." + contentsName + ".C.>", "$O." + contentsName + ".M.>"}, MaxBytes: s.o.contents,
		Discard: jetstream.DiscardNew, AllowRollup: true, Replicas: s.stream.CachedInfo().Config.Replicas,
	}
	err = patience.Ask(ctx, most, func(ctx context.Context) error {
		if _, err := s.js.CreateOrUpdateStream(ctx, config); err != nil {
			return err
		}
		b, err = s.js.ObjectStore(ctx, contentsName)
		return err
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("the contents of the fleet: %w", err)
	}
	s.bucket = b
	return b, nil
}

// Contents returns the digests of the contents that there are, and when each was stored.
func (s *State) Contents(ctx context.Context) (map[string]time.Time, error) {
	b, err := s.contents(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, contentTime)
	defer cancel()
	list, err := b.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, o := range list {
		out[o.Name] = o.ModTime
	}
	return out, nil
}

// PutContent stores what write writes under a digest, unless there is one. The error may be ErrNoRoom: nothing was stored then.
func (s *State) PutContent(ctx context.Context, digest string, write func(context.Context, io.Writer) error) error {
	b, err := s.contents(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, contentTime)
	defer cancel()
	err = patience.Ask(ctx, most, func(once context.Context) error {
		if _, err := b.GetInfo(once, digest); !errors.Is(err, jetstream.ErrObjectNotFound) {
			return err
		}
		r, w := io.Pipe()
		defer r.Close()
		go func() { w.CloseWithError(write(ctx, w)) }() // it ends when r is closed
		_, err := b.Put(ctx, jetstream.ObjectMeta{Name: digest}, r)
		return err
	}, nil)
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == patience.CodeStore || api.ErrorCode == patience.CodeResources) {
		err = ErrNoRoom
	}
	return err
}

// GetContent has read read what is stored under a digest, perhaps again if it did not come whole. It does not check the digest. The error may be
// ErrNoContent.
func (s *State) GetContent(ctx context.Context, digest string, read func(io.Reader) error) error {
	b, err := s.contents(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, contentTime)
	defer cancel()
	err = patience.Ask(ctx, most, func(context.Context) error {
		r, err := b.Get(ctx, digest)
		if err != nil {
			return err
		}
		defer r.Close()
		return errors.Join(read(r), r.Error())
	}, func(err error) bool { return errors.Is(err, jetstream.ErrDigestMismatch) })
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = ErrNoContent
	}
	return err
}

// DropContent removes what is stored under a digest.
func (s *State) DropContent(ctx context.Context, digest string) error {
	b, err := s.contents(ctx)
	if err == nil {
		err = patience.Ask(ctx, most, func(ctx context.Context) error { return b.Delete(ctx, digest) }, nil)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}
