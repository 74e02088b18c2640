// Package state keeps the documents of a fleet, such as the approvals of a tenant, in a stream of a node that many processes change.
// Each is a document.Store.
//
// A document is kept in parts, one for each skill, for a message has at most a MiB: see Document.Lists. Every change of a document is one
// batch that is stored whole or not at all: the parts that changed, and what the log of the document says of it. It is stored only if the
// log has not grown since the document was read. So nothing is recorded that did not happen, and nothing happens that is not recorded.
//
// Reads are answered by the leader of the stream, never by another replica, which may be behind. A leader that was cut off from the
// others can answer for some seconds more what it last knew.
package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds.
const (
	defaultBytes = 256 << 20
	patience     = 20 * time.Second // with a node that does not answer, and with other writers
	answerTime   = 3 * time.Second  // for one request
	maxPause     = 200 * time.Millisecond
	maxPart      = 1<<20 - 8<<10 // bytes of a message without its headers
	maxDocument  = 64 << 20      // bytes
	maxBatch     = 900           // messages; a server takes 1000
	maxLog       = 100_000       // records of one document, after which the oldest are removed
	fullAt       = 0.9           // of the bytes: then only what takes rights away is stored
)

// streamName is the name of the stream.
const streamName = "STATE"

// Options are those of Open.
type Options struct {
	Replicas int    // of the stream; default 1
	Bytes    int64  // of the disk, set aside for all documents and their logs; default 256 MiB
	Writer   string // the name of this process in the logs

	broken broken // for tests of the tests
}

// broken is what a test takes out, to see that a checker finds it.
type broken struct {
	direct bool // any server answers reads
	noSwap bool // changes are stored whatever was there
	deaf   bool // answers to changes do not come
	blind  bool // and nobody looks whether they were made
}

// State is the documents of a node. It is safe for concurrent use.
type State struct {
	o      Options
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	hub    hub

	mu   sync.Mutex
	docs map[string]*shared // by the name of the document
}

// Open returns the documents of a node, and makes their stream if there is none.
func Open(ctx context.Context, conn *nats.Conn, o *Options) (*State, error) {
	s := &State{conn: conn, docs: map[string]*shared{}}
	if o != nil {
		s.o = *o
	}
	if s.o.Replicas <= 0 {
		s.o.Replicas = 1
	}
	if s.o.Bytes <= 0 {
		s.o.Bytes = defaultBytes
	}
	s.hub.s = s
	var err error
	if s.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(answerTime)); err != nil {
		return nil, err
	}
	config := jetstream.StreamConfig{
		Name: streamName, Subjects: []string{"state.>"}, Replicas: s.o.Replicas, MaxBytes: s.o.Bytes, Discard: jetstream.DiscardNew,
		MaxMsgsPerSubject: maxLog, AllowRollup: true, AllowAtomicPublish: true, DenyDelete: true, AllowDirect: s.o.broken.direct,
	}
	err = retry(ctx, func() (err error) {
		s.stream, err = s.js.CreateOrUpdateStream(ctx, config)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make the state of the fleet: %w", err)
	}
	return s, nil
}

// last returns the sequence of the last message of a subject, 0 if there is none.
func (s *State) last(ctx context.Context, subject string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	m, err := s.stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.Sequence, nil
}

// each calls f for the messages of a subject that come after a sequence. What it has seen at its end is what there was at one moment: a
// message that was replaced meanwhile comes again.
func (s *State) each(ctx context.Context, subject string, after uint64, f func(*jetstream.RawStreamMsg) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, answerTime)
		m, err := s.stream.GetMsg(one, after+1, jetstream.WithGetMsgSubject(subject))
		cancel()
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			err = f(m)
		}
		if err != nil {
			return err
		}
		after = m.Sequence
	}
}

// room returns an error if the stream is so full that only what takes rights away may be stored.
func (s *State) room(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	info, err := s.stream.Info(ctx)
	if err == nil && float64(info.State.Bytes) > fullAt*float64(s.o.Bytes) {
		err = errFull
	}
	return err
}

// Errors of changes.
var (
	errFull     = errors.New("the state of the fleet is full: give it more room; what takes rights away is still stored")
	errConflict = errors.New("another writer came first, each time")
	errBack     = errors.New("the state is older than what was read before: if it was restored, start this program again")
	errUnknown  = errors.New("no answer came: it is not known whether the change was made")
)

// retry calls f until its error is nil or one that does not pass, for a while.
func retry(ctx context.Context, f func() error) error {
	until := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		err := f()
		if err == nil || !passes(err) {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the fleet's node did not do it within %s: is it running, and has it a leader? (%w)", patience, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-time.After(pause/4 + rand.N(pause)):
		}
	}
}

// passes reports whether trying again may help.
func passes(err error) bool {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, errFull):
		return false
	case errors.Is(err, errConflict), errors.Is(err, errUnknown), errors.Is(err, errBack), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrDisconnected):
		return true
	case errors.As(err, &api):
		return api.ErrorCode == codeIncomplete || api.ErrorCode == codeTooMany || api.Code == 503 && api.ErrorCode != codeResources
	}
	return false
}
