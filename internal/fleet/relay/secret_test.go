package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/want"
)

const secret = "value-of-a-secret-3141592653"

// heard has all messages that the node passes on, as the user's own processes could hear them.
func (f *fleet) heard(t *testing.T) func() []byte {
	var mu sync.Mutex
	var all bytes.Buffer
	sub, err := f.Conn.Subscribe(">", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		all.Write(m.Data)
		var signed struct{ Order []byte }
		var o struct{ Sealed []byte }
		if json.Unmarshal(m.Data, &signed) == nil && json.Unmarshal(signed.Order, &o) == nil {
			all.Write(signed.Order)
			all.Write(o.Sealed)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sub.Unsubscribe() })
	return func() []byte {
		f.Conn.Flush()
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all.Bytes())
	}
}

// stored returns all that the node has on the disk.
func (f *fleet) stored(t *testing.T) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(filepath.Join(f.dir, "streams"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, b...)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file may go meanwhile
		t.Fatal(err)
	}
	return all
}

// The value of a variable is read when its order is handed over. It is nowhere in the queue and in nothing that is said, while an argument
// is in both: so it would be seen.
func TestVariablesAreNeverAtRest(t *testing.T) {
	f := newFleet(t)
	heard := f.heard(t)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "test \"$A_TOKEN\" = " + secret[:9] + "\"$1\" && test -z \"$B_TOKEN\" && echo right\n"})
	o.For.Tenant, o.Args, o.Grant.Given = "acme", []string{secret[9:]}, want.New(want.VariableOf("A_TOKEN"))
	w, _ := f.worker(t, "w")
	runs(t, w.Serve)
	var asked []string
	f.Variables = func(passes func(string) bool) ([]string, error) {
		asked = append(asked, fmt.Sprint(passes("A_TOKEN"), passes("B_TOKEN")))
		return []string{"A_TOKEN=" + secret}, nil
	}
	signer := &Signer{Name: "d", Key: f.private, Conn: f.Conn}
	type ended struct {
		r   *order.Result
		err error
	}
	end := make(chan ended, 1)
	go func() { r, err := f.Send(t.Context(), o, s, nil); end <- ended{r, err} }()
	for !bytes.Contains(f.stored(t), []byte(o.Run)) { // it waits in the queue
		time.Sleep(10 * time.Millisecond)
	}
	waiting := f.stored(t)
	if len(asked) != 0 {
		t.Error("variables are read before the hand-over")
	}
	runs(t, f.Queue.Dispatcher(signer.Seal).Serve)
	if e := <-end; e.err != nil || e.r.Output == nil || e.r.Output.Text != "right\n" {
		t.Errorf("%+v, %v", e.r, e.err)
	}
	if len(asked) != 1 || asked[0] != "true false" {
		t.Errorf("asked for %q", asked)
	}
	for where, b := range map[string][]byte{"in the queue": waiting, "on the disk": f.stored(t), "in what was said": heard()} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the value is %s", where)
		}
		if where != "on the disk" && !bytes.Contains(b, []byte(secret[9:])) { // the argument, in the order before it is signed
			t.Errorf("the argument is not %s: what is looked for would not be found", where)
		}
	}
}

// Variables that cannot be read, or be sealed, refuse the run.
func TestVariablesFail(t *testing.T) {
	f := newFleet(t)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "echo ran\n"})
	o.For.Tenant, o.Grant.Given = "acme", want.New(want.VariableOf("A_TOKEN"))
	w, did := f.worker(t, "w")
	runs(t, w.Serve)
	f.Variables = func(func(string) bool) ([]string, error) { return nil, errors.New("no\nfile") }
	signer := &Signer{Name: "d", Key: f.private, Conn: f.Conn}
	runs(t, f.Queue.Dispatcher(signer.Seal).Serve)
	r, err := f.Send(t.Context(), o, s, nil)
	if err != nil || r.Failure == nil || !strings.Contains(r.Failure.Err().Error(), "its variables cannot be read: no file") || did.Load() != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	run := &dispatch.Run{ID: "left", Tenant: "acme", Until: o.Until}
	left := *o
	left.Run = run.ID
	if run.Order, err = left.Encode(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), beat)
	defer cancel()
	if _, err := signer.Seal(ctx, run, &dispatch.To{Worker: "w", Start: "s", Token: 1}); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Error(err)
	}
	_ = time.AfterFunc(2*beat, func() { // a sender that was only away
		_, err := f.Conn.Subscribe(sealSubject(run.ID), func(m *nats.Msg) { _ = m.Respond([]byte("sealed")) })
		if err != nil {
			t.Error(err)
		}
	})
	if _, err := signer.Seal(t.Context(), run, &dispatch.To{Worker: "w", Start: "s", Token: 1}); err != nil {
		t.Error(err)
	}
}

// Each sender has its own variables, whichever dispatcher hands its runs over. Keys of model providers, and what
// never passes to a script, do not leave it.
func TestVariablesOfTheSender(t *testing.T) {
	f := newFleet(t)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "case $GOOGLE_A in first) echo first;; second) echo second;; esac\n"})
	declared := want.New(want.VariableOf("GOOGLE_*"), want.VariableOf("LD_PRELOAD")).By(want.Declared)
	o.For.Tenant, o.Grant.Given = "acme", declared
	w, _ := f.worker(t, "w")
	runs(t, w.Serve)
	runs(t, f.Queue.Dispatcher((&Signer{Name: "d", Key: f.private, Conn: f.Conn}).Seal).Serve)
	for _, name := range []string{"first", "second"} {
		c := *f.Caller
		c.Variables = environ("GOOGLE_A=" + name)
		again := *o
		again.Run = name
		r, err := c.Send(t.Context(), &again, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil || r.Output.Text != name+"\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	all := []string{"GOOGLE_A=1", "GOOGLE_API_KEY=2", "LD_PRELOAD=3", "OTHER=4"}
	key, err := order.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	attempt, _ := json.Marshal(&dispatch.To{Worker: "w", Start: "s", Key: key.Public(), Token: 1})
	sealed := func(env ...string) int {
		b, err := (&Caller{Variables: environ(env...)}).seal(*o, attempt)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	if got, want := sealed(all...), sealed("GOOGLE_A=1"); got != want || got == sealed() {
		t.Errorf("%d bytes are sealed, not %d: others go with them", got, want)
	}
	o.Grant.Given = want.New(want.VariableOf("GOOGLE_API_KEY"))
	if got, want := sealed(all...), sealed("GOOGLE_API_KEY=2"); got != want {
		t.Errorf("%d bytes are sealed, not %d", got, want)
	}
}

// environ returns a Caller.Variables that has an environment.
func environ(env ...string) func(func(string) bool) ([]string, error) {
	return func(passes func(string) bool) (out []string, _ error) {
		for _, kv := range env {
			if name, _, _ := strings.Cut(kv, "="); passes(name) {
				out = append(out, kv)
			}
		}
		return out, nil
	}
}
