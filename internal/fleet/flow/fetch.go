package flow

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// chunk is how many bytes of a content go at once: a worker asks for one after the other, so no more is under way.
const chunk = 256 << 10

// piece is what a worker asks for.
type piece struct {
	Digest string `json:"digest"`
	At     int64  `json:"at"`
}

// Names of headers of an answer.
const (
	headSize  = "Size"  // of the whole
	headError = "Error" // why there is none
)

// Offer sends the worker of a run what it asks for: open returns the content with a digest, and its size. has reports whether a worker has
// the run; another one gets no answer. Both are called in one goroutine, for each piece.
func Offer(conn *nats.Conn, run string, has func(worker string) bool, open func(digest string) (io.ReaderAt, int64, error)) (stop func(), err error) {
	sub, err := conn.Subscribe("from.*.want."+run, func(m *nats.Msg) {
		worker := from(m)
		if !strings.HasPrefix(m.Reply, "to."+worker+".") || !has(worker) { // it may have no answers sent to where it may not write
			return
		}
		a := nats.NewMsg(m.Reply)
		data, size, err := take(m.Data, open)
		if a.Data = data; err != nil {
			Refuse(a, err)
		}
		a.Header.Set(headSize, strconv.FormatInt(size, 10))
		_ = conn.PublishMsg(a) // otherwise the worker asks again
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// Refuse has an answer say why it has nothing else.
func Refuse(a *nats.Msg, err error) {
	a.Header.Set(headError, strings.Join(strings.Fields(err.Error()), " "))
}

// Refused returns why an answer has nothing else, "" if it has.
func Refused(a *nats.Msg) string { return a.Header.Get(headError) }

// from returns the worker that a message is from.
func from(m *nats.Msg) string {
	worker, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "from."), ".")
	return worker
}

// take returns a piece of what open has.
func take(b []byte, open func(string) (io.ReaderAt, int64, error)) ([]byte, int64, error) {
	var p piece
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, 0, err
	}
	from, size, err := open(p.Digest)
	if err != nil || p.At < 0 || p.At >= size {
		return nil, size, err
	}
	data := make([]byte, min(chunk, size-p.At))
	_, err = from.ReadAt(data, p.At)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data, size, err
}

// Fetch returns the content with a digest, from the process that offers it for a run. It does not check the digest. The caller closes it.
func Fetch(ctx context.Context, conn *nats.Conn, worker, run, digest string, beat time.Duration) (io.ReadCloser, error) {
	f := &fetch{ctx: ctx, conn: conn, to: "from." + worker + ".want." + run, reply: "to." + worker + ".piece." + rand.Text(), beat: beat, next: piece{Digest: digest}}
	var err error
	f.answers, err = conn.SubscribeSync(f.reply + ".*")
	return f, err
}

// fetch reads what comes.
type fetch struct {
	ctx       context.Context
	conn      *nats.Conn
	answers   *nats.Subscription
	to, reply string
	beat      time.Duration
	next      piece
	data      []byte
	end       bool
}

// Read returns the next bytes.
func (f *fetch) Read(b []byte) (int, error) {
	for len(f.data) == 0 {
		if f.end {
			return 0, io.EOF
		}
		if err := f.ask(); err != nil {
			return 0, err
		}
	}
	n := copy(b, f.data)
	f.data = f.data[n:]
	return n, nil
}

// ask asks for the next piece, again if no answer comes for some time: the sender may be connecting again.
func (f *fetch) ask() error {
	text, err := json.Marshal(f.next)
	if err != nil {
		return err
	}
	reply := f.reply + "." + strconv.FormatInt(f.next.At, 10)
	for range patience {
		if err := f.conn.PublishRequest(f.to, reply, text); err != nil {
			return err
		}
		m, err := f.hear(reply)
		if err == nil {
			return f.got(m)
		}
		if f.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return errGone
}

// hear waits for an answer to what was asked last: one to what was asked before may come late.
func (f *fetch) hear(reply string) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(f.ctx, f.beat)
	defer cancel()
	for {
		m, err := f.answers.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrNoResponders) { // at this moment
			continue
		}
		if err != nil || m.Subject == reply {
			return m, err
		}
	}
}

var errGone = errors.New("it is not sent: the process that asked for the run is gone")

// got takes an answer.
func (f *fetch) got(m *nats.Msg) error {
	if text := Refused(m); text != "" {
		return fmt.Errorf("it is not sent: %.500s", text)
	}
	size, err := strconv.ParseInt(m.Header.Get(headSize), 10, 64)
	if err != nil || len(m.Data) > chunk || f.next.At+int64(len(m.Data)) > size || len(m.Data) == 0 && f.next.At < size {
		return fmt.Errorf("%d bytes at %d of %d were sent", len(m.Data), f.next.At, size)
	}
	f.data = m.Data
	f.next.At += int64(len(m.Data))
	f.end = f.next.At == size
	return nil
}

// Close ends it.
func (f *fetch) Close() error { return f.answers.Unsubscribe() }
