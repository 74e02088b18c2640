package replica

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// The replicas of a node see each other's changes, also after the process that had the node has ended.
func TestWatch(t *testing.T) {
	first, _ := opened(t, "acme")
	o := first.o
	second := New(&o)
	defer second.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan bool, 100)
	go second.Watch(ctx, func() { told <- true }, func(err error) { t.Log(err) })
	see := func(what string, change func(name string) error) {
		t.Helper()
		for i := 0; ; i++ { // until it watches
			if err := change("s" + strings.Repeat("x", i)); err != nil {
				t.Fatal(err)
			}
			select {
			case <-told:
				return
			case <-ctx.Done():
				t.Fatal(what + " was not seen")
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	see("an approval", func(name string) error {
		return first.Trust().Approve(ctx, trust.Approval{Name: name, Layer: "bundled", Digest: digest("a")})
	})
	see("a skill", func(name string) error {
		path, err := first.Skills().Folder(name, digest("a"))
		must(t, err)
		return first.Skills().Register(ctx, registry.Entry{Name: name, Digest: digest("a"), InstalledPath: path})
	})
	first.Close()
	for len(told) > 0 {
		<-told
	}
	third := New(&o)
	defer third.Close()
	see("an approval by another process", func(name string) error {
		return third.Trust().Approve(ctx, trust.Approval{Name: name, Layer: "bundled", Digest: digest("b")})
	})
	other := o
	other.Tenant, other.With = "other", third
	of := New(&other)
	if set, err := of.Trust().Load(ctx); err != nil || len(set.Approvals()) != 0 {
		t.Errorf("another tenant has %v, %v", set.Approvals(), err)
	}
	if set, err := of.Skills().Load(ctx); err != nil || len(set.All()) == 0 {
		t.Errorf("another tenant has %v, %v: the contents are in one store", set.All(), err)
	}
	if of.Close(); of.node == nil || of.node != third.node {
		t.Error("tenants do not share a connection")
	}
	if set, err := second.Trust().Load(ctx); err != nil || len(set.Approvals()) == 0 {
		t.Errorf("%v, %v", set.Approvals(), err)
	}
}

// A change while the node could not be reached is reported when it can.
func TestWatchBroken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	o := Options{Node: at(dir), Record: func(context.Context, trace.Event) ([]byte, error) { return nil, nil }}
	must(t, os.WriteFile(dir, nil, 0o600))
	r := New(&o)
	defer r.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan bool, 100)
	go r.Watch(ctx, func() { told <- true }, func(error) {
		if i, err := os.Stat(dir); err == nil && !i.IsDir() {
			_ = os.Remove(dir)
		}
	})
	select {
	case <-told:
	case <-ctx.Done():
		t.Error("nothing was told")
	}
}

// A trusted folder and a grant of a folder are not shared, and a node that cannot be opened is an error.
func TestOfMachine(t *testing.T) {
	r, _ := opened(t, "")
	if err := r.Trust().AddRoot(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "one of this machine") {
		t.Error(err)
	}
	err := r.Trust().EditGrant(t.Context(), trust.Grant{Name: "a", Layer: "bundled", Digest: digest("a")}, given(want.Want{Kind: want.Read, Name: "/home/me", From: want.User}))
	if err == nil || !strings.Contains(err.Error(), `names the folder "/home/me" of one machine`) {
		t.Error(err)
	}
	layer := place.Folder("/home/me/b")
	must(t, r.Trust().Approve(t.Context(), trust.Approval{Name: "b", Layer: layer, Digest: digest("b"), Dir: "/home/me/b"}),
		r.Trust().EditGrant(t.Context(), trust.Grant{Name: "b", Layer: layer, Digest: digest("b"), Dir: "/home/me/b"}, given(want.Want{Kind: want.Variable, Name: "KEY", From: want.User})))
	if set, err := r.Trust().Load(t.Context()); err != nil || set.Approvals()[0].Dir+set.Grants()[0].Dir != "" {
		t.Errorf("%+v, %+v, %v", set.Approvals(), set.Grants(), err)
	}
	o := r.o
	o.Node = at(os.DevNull)
	if _, err := New(&o).Trust().Load(t.Context()); err == nil {
		t.Error("a device is a node")
	}
}
