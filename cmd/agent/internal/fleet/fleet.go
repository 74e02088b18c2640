// Package fleet runs the scripts of agent serve in processes of their own, the workers. A Fleet is the side of the server: it has the
// queue, or joins the process that has it, keeps workers running and sends them orders. A Worker is the other side.
package fleet

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

const (
	beat     = time.Second      // of the queue and of workers
	patience = 10 * time.Second // for a queue that is not there for a moment
	waiting  = 5 * time.Minute  // for a worker that has time, before a call fails
)

// Admission is what a worker comes in with.
type Admission struct {
	Dir  string                       `json:"dir"` // of the node
	Name string                       `json:"name"`
	Seed []byte                       `json:"seed"` // of its key
	Keys map[string]ed25519.PublicKey `json:"keys"` // whose orders it carries out
}

// Options are those of Open.
type Options struct {
	Node    *node.Options // of the node that has the queue; with its Remote, the user starts the workers
	Workers int           // how many are kept running
	Pods    *kube.Cluster // gives each run a worker of its own, in a pod that reaches Cluster; nil: no run has one
	Quota   int           // runs of a tenant that wait; 0 for the default of package dispatch
	Lasting []string      // as relay.Caller has it
	Temp    string        // a folder for contents while they are sent

	// Longest returns how long a script of a skill may take, with its preparation, if its call does not say.
	Longest func(*skill.Skill) time.Duration

	Command func() *exec.Cmd // returns that of a worker, which calls Admitted with its standard input
	Meter   Meter
	Warn    func(text string)
}

// Fleet runs scripts in workers. It is safe for concurrent use.
type Fleet struct {
	o          Options
	endWorkers context.CancelFunc
	workers    sync.WaitGroup
	end        context.CancelFunc
	kept       sync.WaitGroup

	mu      sync.Mutex
	now     *session      // nil if the queue is not open
	changed chan struct{} // closed when now is another one
	view    dispatch.View // nil before the first
	looked  time.Time     // when it was seen, or the Fleet began
}

// Meter counts what happens in a fleet. It is safe for concurrent use.
type Meter interface {
	Worker(more int)           // of this process: one more runs, or with -1 one less
	Restarted()                // a worker ended by itself
	Ended(r *dispatch.RunView) // where the process has the queue
	Failed(kind string)        // of a run that this process has sent: a code of package script, "cancelled" or "lost"
	Looked(v *dispatch.View)
}

// Open opens the queue of a folder, which another process may have, and starts the workers. The caller closes the Fleet, which does not end
// with ctx.
func Open(ctx context.Context, o *Options) (*Fleet, error) {
	f := &Fleet{o: *o, changed: make(chan struct{}), looked: time.Now()}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	f.end = end
	s, err := f.begin(ctx, life)
	if err != nil {
		end()
		return nil, err
	}
	f.set(s)
	f.kept.Go(func() { f.keep(life, s) })
	f.kept.Go(func() { f.watch(life) })
	working, endWorkers := context.WithCancel(life)
	f.endWorkers = endWorkers
	for range o.Workers {
		f.workers.Go(func() { f.supervise(working) })
	}
	return f, nil
}

// Close ends the workers, which end what they run, and then the queue if this process has it.
func (f *Fleet) Close() {
	f.endWorkers()
	f.workers.Wait()
	f.end()
	f.kept.Wait()
}

// session is a connection to the queue.
type session struct {
	node  *node.Node
	queue *dispatch.Queue
	keys  map[string]ed25519.PublicKey // that sign orders
	done  sync.WaitGroup
	stop  context.CancelFunc
	lost  <-chan nats.Status
}

// begin opens the queue. The dispatcher of this process runs until life is done.
func (f *Fleet) begin(ctx, life context.Context) (*session, error) {
	n, err := node.Open(ctx, f.o.Node)
	if err != nil {
		return nil, err
	}
	s := &session{node: n, lost: n.Conn().StatusChanged(nats.CLOSED)}
	work, stop := context.WithCancel(life)
	s.stop = stop
	s.queue, err = dispatch.Open(ctx, n.Conn(), &dispatch.Options{Beat: beat, Quota: f.o.Quota, Replicas: f.o.Node.Copies()})
	if err == nil {
		err = f.dispatch(work, s)
	}
	if err != nil {
		ended := n.Conn().IsClosed() // such as a command that had the node for a moment
		s.close()
		if ended && ctx.Err() == nil {
			return f.begin(ctx, life)
		}
		return nil, err
	}
	return s, nil
}

func (s *session) close() {
	s.stop()
	s.done.Wait()
	s.node.Close()
}

// dispatch hands runs to workers.
func (f *Fleet) dispatch(ctx context.Context, s *session) error {
	key, err := SigningKey(ctx, f.o.Node.Dir)
	if err != nil {
		return err
	}
	public := key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // it says so
	s.keys = map[string]ed25519.PublicKey{keyName(public): public}
	d := s.queue.Dispatcher((&relay.Signer{Name: keyName(public), Key: key, Conn: s.node.Conn()}).Seal)
	d.Ended = func(r *dispatch.RunView) {
		f.o.Meter.Ended(r)
		if r.State == dispatch.Lost {
			f.o.Warn(fmt.Sprintf("run %s was lost with worker %s: it may have run", r.ID, r.Worker))
		}
	}
	if f.o.Pods != nil {
		d.Alone = &pods{f.o.Pods, f.o.Node.Cluster, []byte(keyName(public))}
	}
	s.done.Go(func() {
		if err := d.Serve(ctx); err != nil && ctx.Err() == nil {
			f.o.Warn("no run is handed to a worker any more: " + err.Error())
		}
	})
	return nil
}

// keep opens the queue again when the process that had it has gone.
func (f *Fleet) keep(ctx context.Context, s *session) {
	for {
		select {
		case <-ctx.Done():
		case <-s.lost:
		}
		f.set(nil)
		s.close()
		for said := false; ctx.Err() == nil; {
			next, err := f.begin(ctx, ctx)
			if s = next; err == nil {
				break
			}
			if !said {
				f.o.Warn("the queue has gone: " + err.Error())
			}
			said = true
			pause(ctx, beat)
		}
		if ctx.Err() != nil {
			return
		}
		f.set(s)
	}
}

func (f *Fleet) set(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = s
	close(f.changed)
	f.changed = make(chan struct{})
}

var errNoQueue = errors.New("the queue of the workers is not there")

// session returns the present one, and waits for it.
func (f *Fleet) session(ctx context.Context) (*session, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		f.mu.Lock()
		now, changed := f.now, f.changed
		f.mu.Unlock()
		if now != nil {
			return now, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, errNoQueue
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Send returns what sends orders to workers: an order.SenderOptions.Send. The host admits the skills; variables is a relay.Caller.Variables.
func (f *Fleet) Send(host *script.Host, variables func(func(string) bool) ([]string, error)) func(context.Context, *order.Order, *skill.Skill, func(*order.Part) error) (*order.Result, error) {
	return func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
		now, err := f.session(ctx)
		if err != nil {
			return order.Failed(o, err), nil
		}
		if most := time.Now().Add(f.o.Longest(s) + o.Timeout + waiting); o.Until.IsZero() || o.Until.After(most) {
			o.Until = most
		}
		caller := &relay.Caller{Queue: now.queue, Seal: host.Seal, Chosen: host.Chosen, Temp: f.o.Temp, Conn: now.node.Conn(), Beat: beat, Variables: variables, Lasting: f.o.Lasting}
		r, err := caller.Send(ctx, o, s, out)
		if kind := failure(r, err); kind != "" {
			f.o.Meter.Failed(kind)
		}
		return r, err
	}
}

// failure returns how a run failed; "" if it did not.
func failure(r *order.Result, err error) string {
	var of *script.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case err != nil:
		return string(dispatch.Lost)
	case r.Failure == nil:
		return ""
	case errors.As(r.Failure.Err(), &of):
		return string(of.Code)
	}
	return string(script.ExecutionFailed)
}

// pause waits some time, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
