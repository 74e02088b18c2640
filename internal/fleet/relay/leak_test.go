package relay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
)

// The key of a worker neither reads nor destroys the runs of another worker, even if their names are known: not by what it subscribes to, by
// what it publishes, or by where it has answers sent.
func TestLeakedCredential(t *testing.T) {
	f := newFleet(t)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "cat >/dev/null; echo one; sleep 1.5; echo two\n", "private": secret})
	input := bytes.Repeat([]byte("x"), order.MaxInline+1)
	o.For.Tenant, o.Watch = "acme", true
	o.Stdin = &order.Input{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(input)), Size: int64(len(input)), Whole: input}
	w, _ := f.worker(t, "w")
	runs(t, w.Serve)
	signer := &Signer{Name: "d", Key: f.private}
	runs(t, f.Queue.Dispatcher(signer.Seal).Serve)
	evil, _ := f.worker(t, "evil")
	conn := evil.Conn
	var heard atomic.Int64
	for _, subject := range []string{">", "from.>", "to.*.run", "to.w.>", "run.*", "end.*", "end." + o.Run, "cancel.*", "_INBOX.>", "$KV.>", "$JS.API.>"} {
		if _, err := conn.Subscribe(subject, func(*nats.Msg) { heard.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	own := make(chan *nats.Msg, 100) // what is said to it
	if _, err := conn.ChanSubscribe("to.evil.>", own); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	begun := make(chan bool, 10)
	type ended struct {
		r   *order.Result
		err error
	}
	end := make(chan ended, 1)
	go func() {
		r, err := f.Send(t.Context(), o, s, func(p *order.Part) error { begun <- true; out.Write(p.Data); return nil })
		end <- ended{r, err}
	}()
	<-begun
	result, err := (&order.Result{Version: order.Version, Run: o.Run, Attempt: 1, Worker: "w", Output: &order.Output{Text: "forged"}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"from.evil.done." + o.Run, "from.w.done." + o.Run, "from.w.beat", "end." + o.Run, "cancel." + o.Run, "queued", "to.w.run", "to.w.ask", "to.w.forget", "to.w.more." + o.Run,
		"$KV.claims." + o.Run, "$JS.API.STREAM.DELETE.RUNS", "$JS.API.STREAM.PURGE.RUNS", "$JS.ACK.RUNS.x.1.1.1.1.0", "run.x"} {
		m := nats.NewMsg(subject)
		m.Header = nats.Header{"Run": {o.Run}, "State": {"done"}, "Worker": {"w"}, "Token": {"1"}, "Cancel": {"true"}}
		m.Data = result
		if err := conn.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	part, _ := json.Marshal(&order.Part{Run: o.Run, Seq: 2, Data: []byte("forged")})
	_ = conn.Publish("from.evil.part."+o.Run, part)
	for _, digest := range []string{o.Skill.Digest, o.Stdin.Digest, "x"} {
		want, _ := json.Marshal(map[string]any{"digest": digest, "at": 0})
		for _, reply := range []string{"to.evil.piece", "to.w.forget", "$JS.API.STREAM.DELETE.RUNS", "$JS.API.STREAM.DELETE.KV_claims", "$JS.API.STREAM.PURGE.RUNS", "cancel." + o.Run, "end." + o.Run} {
			_ = conn.PublishRequest("from.evil.want."+o.Run, reply, want)
			if !strings.HasPrefix(reply, "to.w.") { // the worker that has the run has its answers sent to others
				_ = w.Conn.PublishRequest("from.w.want."+o.Run, reply, want)
			}
		}
	}
	_ = conn.Flush()
	if e := <-end; e.err != nil || e.r.Output == nil || e.r.Output.Text != "one\ntwo\n" || out.String() != "one\ntwo\n" {
		t.Errorf("%+v, %v, %q", e.r, e.err, out.String())
	}
	_ = conn.Flush()
	if n := heard.Load(); n != 0 || len(own) != 0 {
		t.Errorf("it heard %d messages of others, and %d answers", n, len(own))
	}
	js, err := jetstream.New(f.Conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RUNS", "KV_claims"} {
		if _, err := js.Stream(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A worker gets the contents that the order of its run names, and no others. It runs nothing unless they have their digests. The files that
// are made for this are removed.
func TestContents(t *testing.T) {
	f := newFleet(t)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "echo ran\n", "large": strings.Repeat("x", 3<<20)})
	o.For.Tenant = "acme"
	w, _ := f.worker(t, "w")
	runs(t, w.Serve)
	signer := &Signer{Name: "d", Key: f.private}
	runs(t, f.Queue.Dispatcher(signer.Seal).Serve)
	send := func(run string, edit func(*order.Order)) string {
		t.Helper()
		again := *o
		if again.Run = run; edit != nil {
			edit(&again)
		}
		r, err := f.Send(t.Context(), &again, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil {
			return r.Failure.Err().Error()
		}
		return r.Output.Text
	}
	if got := send("good", nil); got != "ran\n" {
		t.Error(got)
	}
	lie := &order.Input{Digest: "sha256:" + strings.Repeat("0", 64), Size: 100_000, Whole: make([]byte, 100_000)}
	if got := send("lie", func(o *order.Order) { o.Stdin = lie }); !strings.Contains(got, "it is another one: 100000 bytes") {
		t.Error(got)
	}
	left, err := os.ReadDir(f.Temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "content-") {
			t.Errorf("%s is left", e.Name())
		}
	}
	// A run under way, which asks for what is not its own.
	shelf := &shelf{ctx: t.Context(), o: o, s: s, temp: t.TempDir()}
	defer shelf.close()
	if _, size, err := shelf.open(versions + "abc"); size != 0 || err != nil { // none were chosen
		t.Errorf("%d bytes, %v", size, err)
	}
	stop, err := flow.Offer(f.Conn, "mine", func(worker string) bool { return worker == "w" }, shelf.open)
	if err != nil {
		t.Fatal(err)
	}
	f.Conn.Flush()
	for _, tt := range []struct{ worker, run, digest, want string }{
		{"w", "mine", o.Skill.Digest, ""},
		{"w", "mine", "sha256:" + strings.Repeat("0", 64), "no such content"},
		{"w", "other", o.Skill.Digest, "the process that asked for the run is gone"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		from, err := flow.Fetch(ctx, w.Conn, tt.worker, tt.run, tt.digest, beat)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(from)
		if tt.want == "" && (err != nil || b.Len() < 3<<20) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %d bytes, %v", tt, b.Len(), err)
		}
		from.Close()
		cancel()
	}
	stop()
}
