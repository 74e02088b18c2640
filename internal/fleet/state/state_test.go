package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
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

// open returns the document at a place: where its state is, and its name, with "|" between them.
func open(place string, record func(context.Context, trace.Event) error) document.Store {
	at, name, _ := strings.Cut(place, "|")
	d := Document{Tenant: name, Kind: "tests"}
	if record != nil {
		d.Record = func(ctx context.Context, e trace.Event) ([]byte, error) { return []byte(e.Message), record(ctx, e) }
	}
	return stateAt(at).Document(d)
}

// stateAt returns the state of this process at the folder of a node or the addresses of servers. The text after a "#" names what is broken.
func stateAt(at string) *State {
	once, _ := opened.LoadOrStore(at, sync.OnceValue(func() *State {
		at, how, _ := strings.Cut(at, "#")
		conn, err := connect(at)
		if err != nil {
			panic(err)
		}
		o := &Options{Writer: fmt.Sprint(os.Getpid()), broken: broken{noSwap: how == "noSwap", direct: how == "direct", deaf: strings.HasPrefix(how, "deaf"), blind: how == "deaf, blind"}}
		if strings.HasPrefix(at, "nats:") {
			o.Replicas = 3
		}
		s, err := Open(context.Background(), conn, o)
		if err != nil {
			panic(err)
		}
		return s
	}))
	return once.(func() *State)()
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
	documenttest.Run(t, func(*testing.T) string { n++; return fmt.Sprintf("%s|%d", dir, n) }, open)
}

// The suite finds a store that changes documents without comparing them with what it read.
func TestDocumentWithoutSwap(t *testing.T) {
	if lost := documenttest.Writers(t, folder(t)+"#noSwap|x", open); lost == "" {
		t.Error("nothing was lost without a comparison")
	} else {
		t.Log(lost)
	}
}

// The log of many changes at once has each change once, in the order in which they were made.
func TestRecords(t *testing.T) {
	dir := folder(t)
	store := open(dir+"|x", func(_ context.Context, e trace.Event) error {
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
	for r, err := range stateAt(dir).Records(t.Context(), &Document{Tenant: "x", Kind: "tests"}, 0) {
		if err != nil || r.Writer != fmt.Sprint(os.Getpid()) || r.Change == "" || r.Time.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
		log.WriteString(string(r.Text) + "\n")
	}
	if log.String() != string(content) || strings.Count(log.String(), "\n") != 56 {
		t.Errorf("recorded:\n%swritten:\n%s", log.String(), content)
	}
}

// A change whose answer does not come is made once: the log is read before another attempt.
func TestUnknown(t *testing.T) {
	for how, want := range map[string]string{"deaf": "a\nb\nc\n", "deaf, blind": ""} {
		s := open(folder(t)+"#"+how+"|x", nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for _, line := range []string{"a\n", "b\n", "c\n"} {
			err := s.Transform(ctx, document.Plain(func(old []byte) ([]byte, error) { return append(old, line...), nil }))
			if (err == nil) != (want != "") || err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", how, err)
			}
		}
		got, err := s.Load(t.Context())
		if twice := strings.Contains(string(got), "a\na\n"); err != nil || twice != (want == "") || want != "" && string(got) != want {
			t.Errorf("%s: %q, %v", how, got, err)
		}
	}
}

// A document in parts is the document, whichever of its parts changed, and no name of a skill or a tenant is another's.
func TestParts(t *testing.T) {
	s := stateAt(folder(t))
	doc := func(tenant string) document.Store {
		return s.Document(Document{Tenant: tenant, Kind: "approvals", Lists: []string{"approvals", "grants"}})
	}
	names := []string{"a", "*", ">", "a.b", "tc4", "ä", "a b", ".", "\n", "a/b"}
	for i, tenant := range []string{"", "*", "a.b", "a"} {
		for j, name := range names {
			err := doc(tenant).Transform(t.Context(), func(old []byte) (document.Change, error) {
				var d map[string]any
				if old == nil {
					old = []byte(`{"approvals": [], "grants": [], "version": 2, "roots": []}`)
				}
				err := json.Unmarshal(old, &d)
				d["approvals"] = append(d["approvals"].([]any), map[string]any{"name": name, "is": i*100 + j})
				content, merr := json.Marshal(d)
				return document.Change{Content: content}, errors.Join(err, merr)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fresh := &State{o: s.o, conn: s.conn, js: s.js, stream: s.stream, docs: map[string]*shared{}}
	for i, tenant := range []string{"", "*", "a.b", "a"} {
		var d struct {
			Version   int
			Approvals []struct {
				Name string
				Is   int
			}
		}
		content, err := fresh.Document(Document{Tenant: tenant, Kind: "approvals", Lists: []string{"approvals", "grants"}}).Load(t.Context())
		if err := errors.Join(err, json.Unmarshal(content, &d)); err != nil || d.Version != 2 || len(d.Approvals) != len(names) {
			t.Fatalf("%s, %v", content, err)
		}
		for _, a := range d.Approvals {
			if j := slices.Index(names, a.Name); a.Is != i*100+j {
				t.Errorf("tenant %q: %+v", tenant, a)
			}
		}
	}
	to := func(content string) error {
		return doc("a").Transform(t.Context(), document.Plain(func([]byte) ([]byte, error) { return []byte(content), nil }))
	}
	before := s.sizes(t)
	if err := to(`{"version": 2, "roots": [], "grants": [], "approvals": [{"name": "a", "is": 300}, {"name": "new", "is": 1}]}`); err != nil {
		t.Fatal(err)
	}
	if got := s.sizes(t) - before; got != 2 { // a record, and the new part; the parts that went were replaced
		t.Errorf("%d messages more", got)
	}
	if got, err := doc("a").Load(t.Context()); err != nil || strings.Count(string(got), "name") != 2 {
		t.Errorf("%s, %v", got, err)
	}
	for content, want := range map[string]string{
		`{"approvals": [{"is": 1}]}`: "without a name", `[]`: "cannot unmarshal", `{"approvals": {}}`: "approvals: ",
		`{"approvals": [{"name": "big", "files": "` + strings.Repeat("x", maxPart) + `"}]}`:        `the approvals of "big" would have 1040`,
		`{"approvals": [` + strings.TrimSuffix(strings.Repeat(`{"name": "%d"},`, 901), ",") + `]}`: "more than 900",
		`{"approvals": "` + strings.Repeat("x", maxDocument) + `"}`:                                "more than 67108864",
	} {
		for i := 0; strings.Contains(content, "%d"); i++ {
			content = strings.Replace(content, "%d", fmt.Sprint(i), 1)
		}
		if err := to(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", content, err)
		}
	}
}

// sizes returns how many messages there are.
func (s *State) sizes(t *testing.T) int {
	info, err := s.stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(info.State.Msgs)
}

// Without room, a change that gives rights is refused, and one that takes rights away is stored.
func TestFull(t *testing.T) {
	n, err := node.Open(t.Context(), &node.Options{Dir: folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	s, err := Open(t.Context(), n.Conn(), &Options{bytes: 100 << 10})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Document(Document{Kind: "approvals"})
	to := func(content string, takes bool) error {
		return d.Transform(t.Context(), func([]byte) (document.Change, error) {
			return document.Change{Content: []byte(content), Takes: takes}, nil
		})
	}
	if err := to(strings.Repeat("x", 93<<10), false); err != nil {
		t.Fatal(err)
	}
	if err := to("y", false); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := to("", true); err != nil {
		t.Error(err)
	}
	if err := to(strings.Repeat("x", 200<<10), false); !errors.Is(err, errFull) {
		t.Error(err)
	}
	n.Close()
	if err := to("z", false); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Error(err)
	}
}

// A stream that is older than what was read is refused: rights that were taken back since would count again.
func TestBack(t *testing.T) {
	s := stateAt(folder(t))
	d := s.Document(Document{Kind: "tests"})
	set := func(to string) error {
		return d.Transform(t.Context(), document.Plain(func([]byte) ([]byte, error) { return []byte(to), nil }))
	}
	if err := errors.Join(set("one"), set("two"), s.js.DeleteStream(t.Context(), streamName)); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), s.conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := again.Document(Document{Kind: "tests"}).Load(t.Context()); err != nil || content != nil {
		t.Errorf("%q, %v", content, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if content, err := d.Load(ctx); !errors.Is(err, errBack) {
		t.Errorf("%q, %v", content, err)
	}
}

// All watches together have one consumer of the stream, and each sees the changes of its document.
func TestWatchers(t *testing.T) {
	s := stateAt(folder(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all, ready sync.WaitGroup
	doc := func(i int) document.Store { return s.Document(Document{Kind: "tests", Tenant: fmt.Sprint(i % 5)}) }
	consumers := func() int {
		info, err := s.stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Consumers
	}
	for i := range 100 {
		ready.Add(1)
		all.Go(func() {
			first := true
			for got, err := range doc(i).Watch(ctx) {
				if err != nil {
					t.Error(err)
				}
				if first {
					ready.Done()
					first = false
				}
				if string(got) == fmt.Sprint(i%5) {
					return
				}
			}
			t.Errorf("%d did not see it", i)
		})
	}
	ready.Wait()
	if got := consumers(); got != 1 {
		t.Errorf("%d consumers", got)
	}
	for i := range 5 {
		if err := doc(i).Transform(ctx, document.Plain(func([]byte) ([]byte, error) { return []byte(fmt.Sprint(i)), nil })); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.consume != nil {
		t.Error("the consumer stays")
	}
}
