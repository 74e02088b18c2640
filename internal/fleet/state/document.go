package state

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/fleet/subject"
	"github.com/agent-base/agent-base/trace"
)

// Document is one document of a tenant.
type Document struct {
	Tenant string // "" for the only one
	Kind   string // what it is: "trust"

	// Lists are the names of those lists in it whose items name a skill, under "name": the document is then a JSON object, and the items of
	// one skill are a part of it. Nil keeps the document, which may be any text, in one part.
	Lists []string

	// Record returns the text of an event for the log, nil for none. It is called before the change is made, perhaps several times. If it
	// fails, the change is not made, unless it only takes rights away. A nil Record records nothing.
	Record func(context.Context, trace.Event) ([]byte, error)

	// Done gets the events of a change after it was made. It may be nil.
	Done func(context.Context, trace.Event)
}

// Subjects of a document. Its name is two parts of a subject.
func (d *Document) name() string    { return subject.Token(d.Kind) + "." + subject.Token(d.Tenant) }
func logOf(doc string) string       { return "state.log." + doc }
func partsOf(doc string) string     { return "state.doc." + doc }
func keptOf(doc, end string) string { return "state.keep." + doc + "." + subject.Token(end) }

// shared is the state that the stores of one document share in this process.
type shared struct {
	turn chan struct{} // held during a change: only one goroutine competes with other processes
	now  atomic.Pointer[snapshot]
	mu   sync.Mutex // held while a newer snapshot is read
}

// snapshot is a document as it was. It never changes.
type snapshot struct {
	log   uint64 // the sequence of the last record of its log; parts may be newer
	last  uint64 // the sequence of the newest part
	parts parts
	text  func() ([]byte, error) // the document, which the caller does not change
}

type store struct {
	Document
	s    *State
	id   string
	both *shared
}

// Document returns the store of a document.
func (s *State) Document(d Document) document.Store {
	id := d.name()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs[id] == nil {
		s.docs[id] = &shared{turn: make(chan struct{}, 1)}
		s.docs[id].now.Store(&snapshot{text: func() ([]byte, error) { return nil, nil }})
	}
	return &store{Document: d, s: s, id: id, both: s.docs[id]}
}

// Load returns the document as its leader has it.
func (d *store) Load(ctx context.Context) (content []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = retry(ctx, func() error {
		now, err := d.snapshot(ctx)
		if err == nil {
			content, err = now.text()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the %s of the fleet: %w", d.Kind, err)
	}
	return bytes.Clone(content), nil
}

// snapshot returns the present document. It reads the parts only if the log has grown.
func (d *store) snapshot(ctx context.Context) (*snapshot, error) {
	log, err := d.s.last(ctx, logOf(d.id))
	if err != nil {
		return nil, err
	}
	before := d.both.now.Load()
	switch {
	case log == before.log:
		return before, nil
	case log < before.log:
		return nil, errBack
	}
	d.both.mu.Lock()
	defer d.both.mu.Unlock()
	was := d.both.now.Load()
	if was.log >= log { // another goroutine has read it meanwhile
		return was, nil
	}
	next := &snapshot{log: log, last: was.last, parts: parts{}}
	maps.Copy(next.parts, was.parts)
	err = d.s.each(ctx, d.s.stream, partsOf(d.id)+".*", next.last, func(m *jetstream.RawStreamMsg) error {
		next.last = m.Sequence
		name, err := strconv.Unquote(m.Header.Get(headPart))
		if m.Header.Get(headGone) != "" {
			delete(next.parts, name)
		} else {
			next.parts[name] = m.Data
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	next.text = sync.OnceValues(func() ([]byte, error) { return next.parts.join(d.Lists) })
	d.both.now.Store(next)
	return next, nil
}

// Transform changes the document, see document.Store.
func (d *store) Transform(ctx context.Context, edit document.Edit) error {
	select {
	case d.both.turn <- struct{}{}:
		defer func() { <-d.both.turn }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var c document.Change
	var refused error // by the edit, or by what records it
	var open []string // changes for which no answer came
	var since uint64  // the end of the log before the first of them
	err := retry(ctx, func() error {
		was, err := d.snapshot(ctx)
		if err != nil {
			return err
		}
		if done, err := d.done(ctx, since, open); done || err != nil {
			return err
		}
		content, err := was.text()
		if err != nil {
			return err
		}
		if c, refused = edit(bytes.Clone(content)); refused != nil || c.Content == nil {
			return nil
		}
		b, changed, err := d.parts(&c, was.parts)
		if err != nil || len(changed) == 0 {
			c.Events, refused = nil, err
			return nil
		}
		if refused = d.record(ctx, b, &c); refused != nil {
			return nil
		}
		if err := d.ready(ctx, b, was, &c); err != nil {
			return err
		}
		if err = d.s.commit(ctx, b); errors.Is(err, errUnknown) {
			if open = append(open, b.id); len(open) == 1 {
				since = was.log
			}
		}
		return err
	})
	switch {
	case err == nil:
		err = refused
	case len(open) > 0 && !errors.Is(err, errUnknown):
		err = fmt.Errorf("change the %s of the fleet: %w; %w", d.Kind, err, errUnknown)
	default:
		err = fmt.Errorf("change the %s of the fleet: %w", d.Kind, err)
	}
	for i := 0; err == nil && d.Done != nil && i < len(c.Events); i++ {
		d.Done(ctx, c.Events[i])
	}
	return err
}

// done reports whether one of some changes was made, which the log then has. At most one of them was.
func (d *store) done(ctx context.Context, since uint64, ids []string) (found bool, err error) {
	if len(ids) == 0 || d.s.o.broken.blind {
		return false, nil
	}
	err = d.s.each(ctx, d.s.stream, logOf(d.id), since, func(m *jetstream.RawStreamMsg) error {
		found = found || slices.Contains(ids, m.Header.Get(headChange))
		return nil
	})
	return found, err
}

// parts returns a batch with the parts that a change makes different, and their names.
func (d *store) parts(c *document.Change, old parts) (b *batch, changed []string, err error) {
	if len(c.Content) > maxDocument {
		return nil, nil, fmt.Errorf("the %s would have %d bytes, more than %d: nothing was written", d.Kind, len(c.Content), maxDocument)
	}
	next, err := split(c.Content, d.Lists)
	if err != nil {
		return nil, nil, err
	}
	names := maps.Clone(next)
	maps.Copy(names, old)
	b = &batch{id: rand.Text()}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := old[name]
		is, has := next[name]
		if had == has && bytes.Equal(was, is) {
			continue
		}
		changed = append(changed, name)
		headers := []string{headRollup, "sub", headPart, strconv.QuoteToASCII(name)}
		if !has {
			headers = append(headers, headGone, "1")
		}
		b.add(partsOf(d.id)+"."+subject.Token(name), is, headers...)
	}
	return b, changed, b.check(d.Kind)
}

// record puts the records of a change before its parts. Without records it adds an empty one, because each change makes the log grow.
func (d *store) record(ctx context.Context, b *batch, c *document.Change) error {
	log := &batch{}
	for _, e := range c.Events {
		if d.Record == nil {
			break
		}
		text, err := d.Record(ctx, e)
		if err != nil && !c.Takes {
			return err
		}
		if len(text) > 0 {
			log.add(logOf(d.id), text)
		}
	}
	if len(log.messages) == 0 {
		log.add(logOf(d.id), nil)
	}
	for _, m := range log.messages {
		m.Header.Set(headChange, b.id)
		m.Header.Set(headWriter, d.s.o.Writer)
	}
	b.messages = append(log.messages, b.messages...)
	return b.check(d.Kind)
}

// ready completes a batch before it is stored. It returns an error if there is no room.
func (d *store) ready(ctx context.Context, b *batch, was *snapshot, c *document.Change) error {
	if !c.Takes {
		if err := d.s.room(ctx); err != nil {
			return err
		}
	}
	if c.Keep != "" && len(was.parts) > 0 {
		if err := d.keep(ctx, b, c.Keep, was.parts); err != nil {
			return err
		}
	}
	if !d.s.o.broken.noSwap {
		b.messages[0].Header.Set(headExpect, strconv.FormatUint(was.log, 10))
	}
	return nil
}

// keep adds a copy of the parts as they were.
func (d *store) keep(ctx context.Context, b *batch, end string, old parts) error {
	used, err := d.s.last(ctx, keptOf(d.id, end)+".*")
	if err != nil {
		return err
	}
	if used > 0 {
		return fmt.Errorf("there is a copy %q of it: nothing was written", end)
	}
	for name, text := range old {
		b.add(keptOf(d.id, end)+"."+subject.Token(name), text, headPart, strconv.QuoteToASCII(name))
	}
	return nil
}

// pollTime is the longest time after which a watch reads the document again.
const pollTime = 30 * time.Second

// Watch yields the document, and again after changes, see document.Store.
func (d *store) Watch(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if ctx.Err() != nil {
			return
		}
		changed, leave := d.s.hub.join(ctx, logOf(d.id))
		defer leave()
		for last, first := []byte(nil), true; ctx.Err() == nil; {
			content, err := d.Load(ctx)
			if ctx.Err() != nil {
				return
			}
			if first || err != nil || !bytes.Equal(content, last) {
				if !yield(content, err) {
					return
				}
			}
			if err == nil {
				last, first = content, false
			}
			select {
			case <-ctx.Done():
			case <-changed:
			case <-time.After(pollTime):
				d.s.hub.ensure(ctx)
			}
		}
	}
}

// Record is one record of the log of a document.
type Record struct {
	At     uint64 // its place in the log
	Change string // the id of its change
	Writer string
	Time   time.Time // when it was stored
	Text   []byte    // as Document.Record gave it
}

// Records yields the log of a document, from after a place on: the records of the changes that were made, in their order.
func (s *State) Records(ctx context.Context, d *Document, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		stop := errors.New("stop")
		err := s.each(ctx, s.stream, logOf(d.name()), after, func(m *jetstream.RawStreamMsg) error {
			if len(m.Data) > 0 && !yield(Record{m.Sequence, m.Header.Get(headChange), m.Header.Get(headWriter), m.Time, m.Data}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(Record{}, err)
		}
	}
}
