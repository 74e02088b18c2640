package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/test/documenttest"
	"github.com/agent-base/agent-base/trace"
)

func TestMain(m *testing.M) {
	if os.Getenv("STATE_TEST_SERVER") != "" {
		serve()
	}
	documenttest.Main(open)
	os.Exit(m.Run())
}

// opened are the states of this process by the folders of their nodes.
var opened sync.Map

// open returns the document at a place: the folder of a node or the addresses of servers, what is broken, and the name of the document, with "|" between them.
func open(place string, record func(context.Context, trace.Event) error) document.Store {
	p := strings.Split(place, "|")
	at, how, name := p[0], p[1], p[2]
	once, _ := opened.LoadOrStore(at+how, sync.OnceValue(func() *State {
		conn, err := connect(at)
		if err != nil {
			panic(err)
		}
		o := &Options{Writer: fmt.Sprint(os.Getpid()), broken: broken{noSwap: how == "noSwap", direct: how == "direct"}}
		if strings.HasPrefix(at, "nats:") {
			o.Replicas = 3
		}
		s, err := Open(context.Background(), conn, o)
		if err != nil {
			panic(err)
		}
		return s
	}))
	d := Document{Tenant: name, Kind: "tests"}
	if record != nil {
		d.Record = func(ctx context.Context, e trace.Event) ([]byte, error) { return []byte(e.Message), record(ctx, e) }
	}
	return once.(func() *State)().Document(d)
}

// connect connects to the node of a folder, or to one of some servers.
func connect(at string) (*nats.Conn, error) {
	if strings.HasPrefix(at, "nats:") {
		return nats.Connect(at, nats.DontRandomize(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	}
	n, err := node.Open(context.Background(), &node.Options{Dir: at})
	if err != nil {
		return nil, err
	}
	return n.Conn(), nil
}

// folder returns the folder of a node that this process has until the test ends.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(t.Context(), &node.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(); os.RemoveAll(dir) })
	return dir
}

func TestDocument(t *testing.T) {
	dir, n := folder(t), 0
	documenttest.Run(t, func(*testing.T) string { n++; return fmt.Sprintf("%s||%d", dir, n) }, open)
}

// The suite finds a store that changes documents without looking at what is there.
func TestDocumentWithoutSwap(t *testing.T) {
	if lost := documenttest.Writers(t, folder(t)+"|noSwap|x", open); lost == "" {
		t.Error("nothing was lost without a comparison")
	} else {
		t.Log(lost)
	}
}

// What is recorded of many changes at once is what happened, once each, in the order in which it happened.
func TestRecords(t *testing.T) {
	dir := folder(t)
	store := open(dir+"||x", func(_ context.Context, e trace.Event) error {
		if strings.HasPrefix(e.Message, "bad") {
			return errors.New("it cannot be recorded")
		}
		return nil
	})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 10 {
				line := fmt.Sprintf("%d.%d", w, i)
				if i%3 == 2 {
					line = "bad " + line
				}
				err := store.Transform(t.Context(), func(old []byte) (document.Change, error) {
					return document.Change{Content: append(old, line+"\n"...), Events: []trace.Event{{Message: line}}}, nil
				})
				if (err == nil) == (i%3 == 2) {
					t.Errorf("%s: %v", line, err)
				}
			}
		})
	}
	all.Wait()
	content, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	once, _ := opened.Load(dir)
	for r, err := range once.(func() *State)().Records(t.Context(), &Document{Tenant: "x", Kind: "tests"}) {
		if err != nil || r.Writer != fmt.Sprint(os.Getpid()) || r.Change == "" || r.Time.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
		log.WriteString(string(r.Text) + "\n")
	}
	if log.String() != string(content) || strings.Count(log.String(), "\n") != 56 {
		t.Errorf("recorded:\n%swritten:\n%s", log.String(), content)
	}
}
