package state

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

const (
	contentsName    = "CONTENTS"
	defaultContents = 1 << 30   // bytes
	chunk           = 512 << 10 // bytes of a content that are one message
	headOf          = "Of"      // which messages the end of a content is of
)

// Errors of contents.
var (
	// ErrNoContent means that the node does not have a content.
	ErrNoContent = errors.New("the fleet does not have it")
	// ErrNoRoom means that a content was not stored.
	ErrNoRoom = errors.New("the fleet has no more room for the contents of skills: remove skills that are not needed")
)

// A content is stored as messages with its parts, whose subject has a name of its own for each that stores it, and then a message that says
// which of these are whole.
func partsOfContent(digest, of string) string { return "content." + digest + ".of." + of }
func endOfContent(digest string) string       { return "content." + digest + ".end" }

// contents returns the stream of contents, and makes it if there is none. It has as many copies as the documents.
func (s *State) contents(ctx context.Context) (jetstream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bucket != nil {
		return s.bucket, nil
	}
	config := jetstream.StreamConfig{
		Name: contentsName, Subjects: []string{"content.>"}, MaxBytes: s.o.contents, Discard: jetstream.DiscardNew, Replicas: s.stream.CachedInfo().Config.Replicas,
	}
	err := retry(ctx, func() (err error) {
		s.bucket, err = s.js.CreateOrUpdateStream(ctx, config)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make the contents of the fleet: %w", err)
	}
	return s.bucket, nil
}

// end returns the end of a content. The error may be ErrNoContent.
func (s *State) end(ctx context.Context, digest string) (end *jetstream.RawStreamMsg, err error) {
	in, err := s.contents(ctx)
	if err == nil && (digest == "" || strings.ContainsAny(digest, ".*> \t\r\n")) {
		err = fmt.Errorf("%q is no digest", digest)
	}
	if err != nil {
		return nil, err
	}
	err = patience.Ask(ctx, most, func(ctx context.Context) (err error) {
		end, err = in.GetLastMsgForSubject(ctx, endOfContent(digest))
		return err
	}, nil)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = ErrNoContent
	}
	return end, err
}

// Contents returns the digests of the contents that there are, also of those that are not whole, and when each was stored.
func (s *State) Contents(ctx context.Context) (map[string]time.Time, error) {
	in, err := s.contents(ctx)
	if err != nil {
		return nil, err
	}
	info, err := in.Info(ctx, jetstream.WithSubjectFilter("content.>"))
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for subject := range info.State.Subjects {
		digest, _, _ := strings.Cut(strings.TrimPrefix(subject, "content."), ".")
		m, err := in.GetLastMsgForSubject(ctx, subject)
		if err == nil && m.Time.After(out[digest]) {
			out[digest] = m.Time
		}
	}
	return out, nil
}

// PutContent stores what write writes under a digest, unless there is such a content. The error may be ErrNoRoom: nothing is stored then.
func (s *State) PutContent(ctx context.Context, digest string, write func(io.Writer) error) error {
	if _, err := s.end(ctx, digest); !errors.Is(err, ErrNoContent) {
		return err
	}
	of := rand.Text()
	w := &partWriter{ctx: ctx, s: s, subject: partsOfContent(digest, of)}
	err := write(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		end := nats.NewMsg(endOfContent(digest))
		end.Header.Set(headOf, of)
		err = s.store(ctx, end)
	}
	if err != nil {
		_ = s.purge(context.WithoutCancel(ctx), w.subject)
	}
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == patience.CodeStore || api.ErrorCode == patience.CodeResources) {
		err = ErrNoRoom
	}
	return err
}

// partWriter stores what is written, in parts.
type partWriter struct {
	ctx     context.Context
	s       *State
	subject string
	part    bytes.Buffer
}

// Write stores the parts that are full.
func (w *partWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		some := min(len(b)-n, chunk-w.part.Len())
		w.part.Write(b[n : n+some])
		if n += some; w.part.Len() == chunk {
			err = w.flush()
		}
	}
	return n, err
}

func (w *partWriter) flush() error {
	m := nats.NewMsg(w.subject)
	m.Data = bytes.Clone(w.part.Bytes())
	w.part.Reset()
	return w.s.store(w.ctx, m)
}

// store stores a message of a content once.
func (s *State) store(ctx context.Context, m *nats.Msg) error {
	id := rand.Text()
	return patience.Ask(ctx, most, func(ctx context.Context) error {
		_, err := s.js.PublishMsg(ctx, m, jetstream.WithMsgID(id))
		return err
	}, nil)
}

// GetContent has read read what is stored under a digest. It does not check the digest. The error may be ErrNoContent.
func (s *State) GetContent(ctx context.Context, digest string, read func(io.Reader) error) error {
	end, err := s.end(ctx, digest)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	defer r.Close() // ends the goroutine
	go func() {
		w.CloseWithError(s.each(ctx, s.bucket, partsOfContent(digest, end.Header.Get(headOf)), 0, func(m *jetstream.RawStreamMsg) error {
			_, err := w.Write(m.Data)
			return err
		}))
	}()
	return read(r)
}

// DropContent removes what is stored under a digest.
func (s *State) DropContent(ctx context.Context, digest string) error {
	if _, err := s.end(ctx, digest); err != nil && !errors.Is(err, ErrNoContent) {
		return err
	}
	return s.purge(ctx, "content."+digest+".>")
}

func (s *State) purge(ctx context.Context, subject string) error {
	return patience.Ask(ctx, most, func(ctx context.Context) error { return s.bucket.Purge(ctx, jetstream.WithPurgeSubject(subject)) }, nil)
}
