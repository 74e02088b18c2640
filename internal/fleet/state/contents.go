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
	headOf          = "Of"      // which parts the end of a content is of
	theEnd          = "end"
)

// Errors of contents.
var (
	// ErrNoContent means that the node does not have a content.
	ErrNoContent = errors.New("the fleet does not have it")
	// ErrNoRoom means that a content was not stored.
	ErrNoRoom = errors.New("the fleet has no more room for the contents of skills: remove skills that are not needed")
)

// A content is stored as messages with its parts, and then one message at its end. Each attempt to store it has a subject of its own for the
// parts; the end names the attempt that was first.
func ofContent(digest, under string) string { return "content." + digest + "." + under }

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
	var err error
	if s.bucket, err = patience.Stream(ctx, s.js, most, config); err != nil {
		return nil, fmt.Errorf("make the contents of the fleet: %w", err)
	}
	return s.bucket, nil
}

// newest returns the newest message of a content with a subject such as end, or ">" for any. The error may be ErrNoContent.
func (s *State) newest(ctx context.Context, digest, under string) (m *jetstream.RawStreamMsg, err error) {
	in, err := s.contents(ctx)
	if err == nil && (digest == "" || strings.ContainsAny(digest, ".*> \t\r\n")) {
		err = fmt.Errorf("%q is not a digest", digest)
	}
	if err != nil {
		return nil, err
	}
	err = patience.Ask(ctx, most, func(ctx context.Context) (err error) {
		m, err = in.GetLastMsgForSubject(ctx, ofContent(digest, under))
		return err
	}, nil)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = ErrNoContent
	}
	return m, err
}

// Contents returns the digests of the contents that there are, also of those that are not whole.
func (s *State) Contents(ctx context.Context) (map[string]bool, error) {
	in, err := s.contents(ctx)
	if err != nil {
		return nil, err
	}
	info, err := in.Info(ctx, jetstream.WithSubjectFilter("content.>"))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for subject := range info.State.Subjects {
		digest, _, _ := strings.Cut(strings.TrimPrefix(subject, "content."), ".")
		out[digest] = true
	}
	return out, nil
}

// PutContent stores what write writes under a digest, unless there is such a content. The error may be ErrNoRoom: nothing is stored then.
func (s *State) PutContent(ctx context.Context, digest string, write func(io.Writer) error) error {
	if _, err := s.newest(ctx, digest, theEnd); !errors.Is(err, ErrNoContent) {
		return err
	}
	of := "of." + rand.Text()
	w := &partWriter{ctx: ctx, s: s, subject: ofContent(digest, of)}
	err := write(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		m := nats.NewMsg(ofContent(digest, theEnd))
		m.Header.Set(headOf, of)
		if err = s.store(ctx, m, jetstream.WithExpectLastSequencePerSubject(0)); err == nil {
			return nil
		}
	}
	ctx = context.WithoutCancel(ctx)
	switch now, why := s.newest(ctx, digest, theEnd); {
	case why == nil && now.Header.Get(headOf) == of: // only the answer was lost
		return nil
	case why == nil: // another process was first
		err = nil
		fallthrough
	case errors.Is(why, ErrNoContent):
		_ = s.purge(ctx, w.subject)
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
	defer w.part.Reset()
	m := nats.NewMsg(w.subject)
	m.Data = w.part.Bytes()
	return w.s.store(w.ctx, m)
}

// store stores a message of a content once.
func (s *State) store(ctx context.Context, m *nats.Msg, o ...jetstream.PublishOpt) error {
	o = append(o, jetstream.WithMsgID(rand.Text()))
	return patience.Ask(ctx, most, func(ctx context.Context) error {
		_, err := s.js.PublishMsg(ctx, m, o...)
		return err
	}, func(err error) bool { // another end is on its way
		var api *jetstream.APIError
		return errors.As(err, &api) && api.ErrorCode == codeSequence2
	})
}

// GetContent calls read with what is stored under a digest. It does not check the digest. The error may be ErrNoContent.
func (s *State) GetContent(ctx context.Context, digest string, read func(io.Reader) error) error {
	whole, err := s.newest(ctx, digest, theEnd)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	defer r.Close() // ends the goroutine
	go func() {
		w.CloseWithError(s.each(ctx, s.bucket, ofContent(digest, whole.Header.Get(headOf)), 0, func(m *jetstream.RawStreamMsg) error {
			_, err := w.Write(m.Data)
			return err
		}))
	}()
	return read(r)
}

// DropContent removes what is stored under a digest, unless some of it was stored less than idle ago.
func (s *State) DropContent(ctx context.Context, digest string, idle time.Duration) error {
	last, err := s.newest(ctx, digest, ">")
	if errors.Is(err, ErrNoContent) || err == nil && time.Since(last.Time) < idle {
		return nil
	}
	if err != nil {
		return err
	}
	return s.purge(ctx, ofContent(digest, ">"))
}

func (s *State) purge(ctx context.Context, subject string) error {
	return patience.Ask(ctx, most, func(ctx context.Context) error { return s.bucket.Purge(ctx, jetstream.WithPurgeSubject(subject)) }, nil)
}
