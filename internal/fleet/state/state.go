// Package state keeps the documents of a fleet, such as the approvals of a tenant, in a stream of a node that many processes change.
// Each is a document.Store. It also keeps contents, by their digests.
//
// A message has at most a MiB, so a document is kept in parts, one for each skill: see Document.Lists. A change of a document is a batch
// that is stored whole or not at all: the parts that changed, and the records for the log of the document. It is stored only if the log has
// not grown since the document was read. So no record is of a change that was not made, and no change is without a record.
//
// Reads are answered by the leader of the stream, never by another replica, which may be behind. A leader that was cut off from the
// others may answer with what it last knew for some seconds.
package state

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

// Bounds.
const (
	defaultBytes = 256 << 20
	most         = 20 * time.Second // for attempts, while the node does not answer or other writers come first
	answerTime   = patience.Answer
	maxPart      = 1<<20 - 8<<10 // bytes of a message without its headers
	maxDocument  = 64 << 20      // bytes
	maxBatch     = 900           // messages; a server takes 1000
	maxLog       = 100_000       // records of one document, after which the oldest are removed
	fullAt       = 0.9           // of the bytes, after which only changes that take rights away are stored
)

// streamName is the name of the stream.
const streamName = "STATE"

// Options are those of Open.
type Options struct {
	Replicas int    // how many copies there are at least, each on a node of its own; default 1
	Writer   string // the name of this process in the logs

	bytes    int64 // of the disk, set aside for all documents and their logs; default defaultBytes
	contents int64 // likewise, for contents; default defaultContents
	broken   broken
}

// broken takes a safeguard out, so a test can see that its checker finds that.
type broken struct {
	direct bool // any server answers reads
	noSwap bool // a change is stored also if the log has grown
	deaf   bool // answers to changes do not come
	blind  bool // and it is not read from the log whether they were made
}

// State is the documents of a node. It is safe for concurrent use.
type State struct {
	o      Options
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	hub    hub

	mu     sync.Mutex
	docs   map[string]*shared // by the name of the document
	bucket jetstream.Stream   // of contents; nil before it is used
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
	if s.o.bytes <= 0 {
		s.o.bytes = defaultBytes
	}
	if s.o.contents <= 0 {
		s.o.contents = defaultContents
	}
	s.hub.s = s
	var err error
	if s.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(answerTime)); err != nil {
		return nil, err
	}
	config := jetstream.StreamConfig{
		Name: streamName, Subjects: []string{"state.>"}, Replicas: s.o.Replicas, MaxBytes: s.o.bytes, Discard: jetstream.DiscardNew,
		MaxMsgsPerSubject: maxLog, AllowRollup: true, AllowAtomicPublish: true, DenyDelete: true, AllowDirect: s.o.broken.direct,
	}
	if s.stream, err = patience.Stream(ctx, s.js, most, config); err != nil {
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

// each calls f for the messages of a subject of a stream that come after a sequence. A message that is replaced meanwhile comes again, so the last ones
// that f gets are the state of one moment.
func (s *State) each(ctx context.Context, in jetstream.Stream, subject string, after uint64, f func(*jetstream.RawStreamMsg) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, answerTime)
		m, err := in.GetMsg(one, after+1, jetstream.WithGetMsgSubject(subject))
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
	if err == nil && float64(info.State.Bytes) > fullAt*float64(s.o.bytes) {
		err = errFull
	}
	return err
}

// Errors of changes.
var (
	errFull     = errors.New("the state of the fleet is full: remove skills and approvals that are not needed, which is still possible")
	errConflict = errors.New("another process changed it first, at each attempt")
	errBack     = errors.New("the state is older than what was read before: if it was restored, start this program again")
	errUnknown  = errors.New("no answer came: it is not known whether the change was made")
)

// retry calls f until its error is nil or one that does not pass, for a while.
func retry(ctx context.Context, f func() error) error {
	return patience.Ask(ctx, most, func(context.Context) error { return f() }, passes) // f may ask more than once
}

// passes reports whether trying again may help, although the node has answered.
func passes(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == codeIncomplete || api.ErrorCode == codeTooMany) {
		return true
	}
	return errors.Is(err, errConflict) || errors.Is(err, errUnknown) || errors.Is(err, errBack)
}
