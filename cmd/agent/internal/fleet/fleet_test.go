package fleet

import (
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// uncounted is a Meter for a fleet without workers and runs.
type uncounted struct{ Meter }

// Looked does nothing.
func (uncounted) Looked(*dispatch.View) {}

// A process that had the node ends while the queue is opened: this process opens the node itself.
func TestNodeEnds(t *testing.T) {
	o := &node.Options{Dir: t.TempDir()}
	first, err := node.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	ended := make(chan struct{})
	if _, err := first.Conn().Subscribe("$JS.API.>", func(*nats.Msg) {
		once.Do(func() {
			go func() {
				first.Close()
				close(ended)
			}()
		})
	}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), &Options{Node: o, Meter: uncounted{}, Warn: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	f.Close()
}
