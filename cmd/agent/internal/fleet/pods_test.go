package fleet

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/test/kubetest"
)

// A dispatcher that ends while the pod of a run comes leaves the run to the next one: there is one Job, and the run is done once.
func TestPodsTakeOver(t *testing.T) {
	for name, fails := range map[string]string{"after the Job was made": "", "before its Secret was made": "POST secrets"} {
		t.Run(name, func(t *testing.T) { takeOver(t, fails) })
	}
}

func takeOver(t *testing.T, fails string) {
	const quick = 100 * time.Millisecond
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "n") // the path of a socket is short
	must(err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	n, err := node.Open(t.Context(), &node.Options{Dir: dir})
	must(err)
	t.Cleanup(n.Close)
	q, err := dispatch.Open(t.Context(), n.Conn(), &dispatch.Options{Beat: quick})
	must(err)
	issuer, err := node.NewIssuer(t.Context(), dir)
	must(err)
	ca := filepath.Join(dir, "ca")
	must(os.WriteFile(ca, []byte("authority"), 0o600))
	k := kubetest.New()
	t.Cleanup(k.Close)
	comes := make(chan bool)
	var begun atomic.Int32
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	life, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	k.Begin = func(_, secret kubetest.Object) {
		all.Add(1)
		defer all.Done()
		<-comes
		begun.Add(1)
		files := secret["data"].(kubetest.Object)
		creds, _ := base64.StdEncoding.DecodeString(files[podCreds].(string))
		w := &dispatch.Worker{Name: node.WorkerOf(creds), Slots: 1, Beat: quick, Start: "s"}
		w.Open = func(*dispatch.Run, uint64) (func(context.Context) []byte, error) {
			return func(context.Context) []byte { return []byte("by " + w.Name) }, nil
		}
		seed, err := n.Admit(w.Name)
		if err == nil {
			w.Conn, err = node.Dial(dir, seed)
		}
		if err != nil || files[podCA] == nil || files[signers] != "a2V5" {
			t.Errorf("%v, %v", files, err)
			return
		}
		_ = w.Serve(life)
		w.Conn.Close()
	}
	dispatcher := func() func() {
		c, err := kube.New(&kube.Options{API: k.URL, Namespace: "runs", Token: func() (string, error) { return k.Token, nil }, CA: k.CA},
			&kube.Spec{Image: "a@sha256:" + strings.Repeat("0", 64)})
		must(err)
		d := q.Dispatcher(func(context.Context, *dispatch.Run, *dispatch.To) ([]byte, error) { return nil, nil })
		d.Alone = &pods{c, &node.Cluster{Issuer: issuer, CA: ca}, []byte("key")}
		ctx, cancel := context.WithCancel(t.Context())
		var one sync.WaitGroup
		one.Go(func() { _ = d.Serve(ctx) })
		return func() { cancel(); one.Wait() }
	}
	wait := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(quick / 10) {
			if time.Now().After(end) {
				t.Fatalf("it takes too long until %s: %v, %v", what, k.Paths(), k.Calls())
			}
		}
	}
	k.Fail(fails, http.StatusForbidden)
	stop := dispatcher()
	ticket, err := q.Submit(t.Context(), &dispatch.Run{ID: "one", Until: time.Now().Add(time.Minute)})
	must(err)
	defer ticket.Close()
	objects := 2
	if fails != "" {
		objects = 1
	}
	wait("there is a Job", func() bool { return len(k.Paths()) == objects })
	stop()
	k.Fail(fails, 0)
	t.Cleanup(dispatcher())
	wait("the next one has asked for the Job", func() bool { return strings.Contains(strings.Join(k.Calls(), ","), "get jobs") })
	close(comes)
	e, err := ticket.Wait(t.Context())
	must(err)
	if e.State != dispatch.Done || string(e.Result) != "by "+e.Worker || begun.Load() != 1 {
		t.Errorf("%+v %q, %d pods", e, e.Result, begun.Load())
	}
	wait("the Job is removed", func() bool { return len(k.Paths()) == 0 })
	end()
}
