package flow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// counted says how many pieces were read, and waits before one of them.
type counted struct {
	*bytes.Reader
	reads int
	wait  time.Duration
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	if c.reads++; c.reads == 2 {
		time.Sleep(c.wait)
	}
	return c.Reader.ReadAt(b, at)
}

// What is offered comes whole, also where one of the answers is so late that it is asked for again: then its second answer is not taken for
// the next piece.
func TestFetch(t *testing.T) {
	replica, w1, w2 := connected(t)
	text := make([]byte, 5*chunk+7)
	for i := range text {
		text[i] = byte(i / chunk)
	}
	from := &counted{Reader: bytes.NewReader(text), wait: 3 * beat / 2}
	stop, err := Offer(replica, "r", func(worker string) bool { return worker == "w1" }, func(digest string) (io.ReaderAt, int64, error) {
		if digest != "d" {
			return nil, 0, errors.New("no\nsuch thing")
		}
		return from, int64(len(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := replica.Flush(); err != nil {
		t.Fatal(err)
	}
	fetch := func(ctx context.Context, conn *nats.Conn, worker, digest string) ([]byte, error) {
		f, err := Fetch(ctx, conn, worker, "r", digest, beat)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return io.ReadAll(f)
	}
	if got, err := fetch(t.Context(), w1, "w1", "d"); err != nil || !bytes.Equal(got, text) || from.reads < 7 {
		t.Errorf("%d bytes in %d pieces, %v", len(got), from.reads, err)
	}
	if _, err := fetch(t.Context(), w1, "w1", "e"); err == nil || err.Error() != "it is not sent: no such thing" {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*beat)
	defer cancel()
	if _, err := fetch(ctx, w2, "w2", "d"); !errors.Is(err, context.DeadlineExceeded) { // nobody answers another worker
		t.Error(err)
	}
	elsewhere, err := replica.SubscribeSync("from.w2.>")
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{"from.w2.beat", "to.w2.run"} { // no answer goes where the worker may not write
		if err := w1.PublishRequest("from.w1.want.r", reply, []byte(`{"digest":"d"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fetch(t.Context(), w1, "w1", "d"); err != nil { // after them
		t.Error(err)
	}
	replica.Flush()
	if n, _, err := elsewhere.Pending(); n != 0 || err != nil {
		t.Errorf("%d pieces went elsewhere, %v", n, err)
	}
	stop()
	replica.Flush()
	if _, err := fetch(t.Context(), w1, "w1", "d"); !errors.Is(err, errGone) {
		t.Error(err)
	}
	back := make(chan func(), 1)
	time.AfterFunc(2*beat, func() {
		stop, err := Offer(replica, "r", func(string) bool { return true }, func(string) (io.ReaderAt, int64, error) { return bytes.NewReader(text), int64(len(text)), nil })
		if err != nil {
			t.Error(err)
		}
		back <- stop
	})
	if got, err := fetch(t.Context(), w1, "w1", "d"); err != nil || !bytes.Equal(got, text) { // the sender was only away
		t.Errorf("%d bytes, %v", len(got), err)
	}
	(<-back)()
}

// The sender is not believed: an answer of another size, or without one, ends the fetch.
func TestFetchLies(t *testing.T) {
	replica, w1, _ := connected(t)
	for name, a := range map[string]*nats.Msg{
		"no size":       {Data: []byte("x")},
		"too much":      {Data: []byte("xx"), Header: nats.Header{headSize: {"1"}}},
		"nothing":       {Header: nats.Header{headSize: {"1"}}},
		"a large piece": {Data: make([]byte, chunk+1), Header: nats.Header{headSize: {strconv.Itoa(chunk + 1)}}},
	} {
		sub, err := replica.Subscribe("from.w1.want.r", func(m *nats.Msg) {
			answer := *a
			answer.Subject = m.Reply
			_ = replica.PublishMsg(&answer)
		})
		if err != nil {
			t.Fatal(err)
		}
		replica.Flush()
		f, err := Fetch(t.Context(), w1, "w1", "r", "d", beat)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "were sent") {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		sub.Unsubscribe()
	}
}
