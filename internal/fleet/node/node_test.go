package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/lockfile"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("NODE_TEST_DIR"); dir != "" {
		if err := process(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process opens the node, writes keys for ever, and prints each that was acknowledged.
func process(dir string) error {
	ctx := context.Background()
	n, err := Open(ctx, &Options{Dir: dir})
	if err != nil {
		return err
	}
	kv, err := bucket(ctx, n)
	if err != nil {
		return err
	}
	fmt.Println("owner", n.server != nil)
	for i := 0; ; i++ {
		if _, err := kv.Put(ctx, fmt.Sprintf("k%d", i), []byte("x")); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func bucket(ctx context.Context, n *Node) (jetstream.KeyValue, error) {
	js, err := jetstream.New(n.Conn())
	if err != nil {
		return nil, err
	}
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "state", MaxBytes: 16 << 20})
}

func open(t *testing.T, o Options) *Node {
	t.Helper()
	n, err := Open(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func state(t *testing.T, n *Node) jetstream.KeyValue {
	t.Helper()
	kv, err := bucket(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// Of several processes over one folder one has the node, and the others reach it. What the one acknowledged stays when it is killed,
// and then another one has the node.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first := exec.CommandContext(t.Context(), self)
	first.Env = append(os.Environ(), "NODE_TEST_DIR="+dir)
	out, err := first.StdoutPipe()
	if err == nil {
		err = first.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan(); lines.Text() != "owner true" {
		t.Fatalf("the first process says %q", lines.Text())
	}
	second := open(t, Options{Dir: dir})
	kv := state(t, second)
	if _, err := kv.Create(t.Context(), "claim", nil); err != nil || second.server != nil {
		t.Errorf("the second process has the node: %v, %v", second.server != nil, err)
	}
	acked := 0
	for acked < 200 && lines.Scan() {
		acked++
	}
	gone := make(chan bool)
	second.Conn().SetClosedHandler(func(*nats.Conn) { close(gone) })
	first.Process.Kill()
	for lines.Scan() {
		acked++
	}
	first.Wait()
	<-gone
	third := open(t, Options{Dir: dir})
	kv = state(t, third)
	for i := range acked {
		if _, err := kv.Get(t.Context(), fmt.Sprintf("k%d", i)); err != nil {
			t.Fatalf("k%d of %d acknowledged: %v", i, acked, err)
		}
	}
	if _, err := kv.Create(t.Context(), "claim", nil); !errors.Is(err, jetstream.ErrKeyExists) || third.server == nil {
		t.Errorf("owner %v, the claim of the second process: %v", third.server != nil, err)
	}
}

// Without the lock two nodes have one folder: both acknowledge, both make the same claim, and half is gone. So the lock is needed, and
// the test above would find that it is missing.
func TestWithoutLock(t *testing.T) {
	dir := t.TempDir()
	a := open(t, Options{Dir: dir, noLock: true})
	ka := state(t, a)
	b := open(t, Options{Dir: dir, noLock: true})
	kb := state(t, b)
	claims := 0
	for _, kv := range []jetstream.KeyValue{ka, kb} {
		if _, err := kv.Create(t.Context(), "claim", nil); err == nil {
			claims++
		}
	}
	if claims != 2 {
		t.Errorf("%d processes made the claim", claims)
	}
}

// A worker hears what is for it, answers, and reaches nothing else.
func TestWorker(t *testing.T) {
	dir := t.TempDir()
	n := open(t, Options{Dir: dir})
	kv := state(t, n)
	if _, err := kv.Put(t.Context(), "secret", []byte("x")); err != nil {
		t.Fatal(err)
	}
	seed, err := n.Admit("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Admit("b.>"); err == nil {
		t.Error("a name with a wildcard")
	}
	refused := make(chan error, 20)
	w, err := Dial(dir, seed, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Subscribe("to.a.run", func(m *nats.Msg) { m.Respond(append([]byte("did "), m.Data...)) }); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	if m, err := n.Conn().RequestWithContext(t.Context(), "to.a.run", []byte("it")); err != nil || string(m.Data) != "did it" {
		t.Errorf("%v, %v", m, err)
	}
	for _, subject := range []string{"to.b.run", "from.b.beat", "run.*", ">", "_INBOX.>", "$KV.>", "$JS.API.>", "state.>", "content.>"} {
		sub, err := w.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		w.Flush()
		if err := wait(t, refused); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("hears %s: %v", subject, err)
		}
		sub.Unsubscribe()
	}
	for _, subject := range []string{"to.a.run", "to.b.run", "from.b.beat", "run.t", "$KV.state.secret", "$JS.API.STREAM.DELETE.KV_state", "state.doc.t.t.t", "content.x.end", "$JS.API.STREAM.MSG.GET.STATE", "$JS.API.DIRECT.GET.STATE.x", "$JS.API.CONSUMER.CREATE.CONTENTS", "admit.agent", "$JS.ACK.RUNS.d.1.1.1.1.0"} {
		w.Publish(subject, nil)
		w.Flush()
		if err := wait(t, refused); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("says something on %s: %v", subject, err)
		}
	}
	if got, err := kv.Get(t.Context(), "secret"); err != nil || string(got.Value()) != "x" {
		t.Errorf("the key: %v, %v", got, err)
	}
}

func wait(t *testing.T, refused chan error) error {
	t.Helper()
	select {
	case err := <-refused:
		return err
	case <-time.After(20 * time.Second):
		return errors.New("not refused")
	}
}

// Nobody comes in without a key, with another one, or from the network.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	n := open(t, Options{Dir: dir})
	other := open(t, Options{Dir: t.TempDir()})
	seed, err := other.Admit("a")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Dial(dir, seed); err == nil {
		c.Close()
		t.Error("a key of another node")
	}
	if c, err := nats.Connect("nats://x", nats.SetCustomDialer(unix(filepath.Join(dir, socketName)))); err == nil {
		c.Close()
		t.Error("no key")
	}
	if n.server.Addr() != nil || n.server.MonitorAddr() != nil {
		t.Error("the node listens on a port")
	}
	for name, want := range map[string]os.FileMode{socketName: 0o600, keyName: 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	held := t.TempDir()
	unlock, err := lockfile.Lock(t.Context(), filepath.Join(held, lockName), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	foreign := t.TempDir()
	if err := os.Chmod(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{held: "does not answer", foreign: "writable by other users", "relative": "not absolute", "/" + strings.Repeat("x", 100): "shorter folder"} {
		if n, err := Open(t.Context(), &Options{Dir: dir, wait: 200 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", dir, n, err, want)
		}
	}
}

// A full disk of the node is refused, and the node goes on.
func TestLimits(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir(), Disk: 1 << 20})
	js, err := jetstream.New(n.Conn())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "large", MaxBytes: 2 << 20}); err == nil {
		t.Error("a stream has more room than the node")
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "small"})
	for i := 0; err == nil && i < 40; i++ {
		_, err = kv.Put(t.Context(), fmt.Sprintf("k%d", i), make([]byte, 100<<10))
	}
	if err == nil {
		t.Error("4 MB were stored in 1 MiB")
	}
	if _, err := kv.Get(t.Context(), "k1"); err != nil {
		t.Error(err)
	}
}

// The server closes the streams when the disk is full. They are open again when it has room, with what was acknowledged.
func TestDiskHasRoomAgain(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir()})
	kv, err := bucket(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), "k", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := n.server.ShutdownJetStream(); err != nil { // as it does then
		t.Fatal(err)
	}
	if _, err := kv.Get(t.Context(), "k"); err == nil {
		t.Fatal("the streams are open")
	}
	for end := time.Now().Add(time.Minute); ; {
		e, err := kv.Get(t.Context(), "k")
		if err == nil {
			if string(e.Value()) != "kept" {
				t.Errorf("%q", e.Value())
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
