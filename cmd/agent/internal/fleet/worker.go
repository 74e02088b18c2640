package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/script"
)

// Worker carries orders out.
type Worker struct {
	Host     func(tenant string) (*script.Options, error) // of the host that runs the scripts of a tenant
	Contents *content.Cache
	AtOnce   int               // runs at the same time
	Version  string            // of the program
	Say      func(text string) // gets what it waits for
}

// admission has a worker let in at the node of a folder, by the process that has the node.
func admission(ctx context.Context, dir string) (*Admission, error) {
	n, err := node.Join(dir)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	a := &Admission{Dir: dir}
	if a.Keys, err = Signers(filepath.Join(dir, signers)); err == nil { // a server has made it
		a.Name, a.Seed, err = n.LetIn(ctx)
	}
	return a, err
}

// Admitted works with the Admission that is the first line of in, until in ends, ctx is done or the node is gone. Only the last is an error,
// and dispatch.ErrDrained.
func (w *Worker) Admitted(ctx context.Context, in io.Reader) error {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("agent serve starts this: %w", err)
	}
	a := &Admission{}
	if err := json.Unmarshal(line, a); err != nil || a.Name == "" || len(a.Keys) == 0 {
		return errors.Join(errors.New("no worker can come in with that"), err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return w.in(ctx, a)
}

// ByHand works for the node of a folder until ctx is done, or it was drained: the error is dispatch.ErrDrained then. It waits for a process
// that has the node, and for the next one after it.
func (w *Worker) ByHand(ctx context.Context, dir string) error {
	for said := false; ctx.Err() == nil; pause(ctx, beat) {
		a, err := admission(ctx, dir)
		if err == nil {
			w.Say(fmt.Sprintf("worker %s takes runs of %s, %d at a time", a.Name, dir, w.AtOnce))
			err, said = w.in(ctx, a), false
		}
		if errors.Is(err, dispatch.ErrDrained) {
			return err
		}
		if ctx.Err() == nil && !said {
			w.Say(fmt.Sprintf("no server has runs for this worker (%v): it waits for agent serve --http ADDR --workers N", err))
			said = true
		}
	}
	return nil
}

// in works with an admission until ctx is done, which is no error, or the node is gone.
func (w *Worker) in(ctx context.Context, a *Admission) error {
	conn, err := node.Dial(a.Dir, a.Seed, nats.NoReconnect())
	if err != nil {
		return err
	}
	defer conn.Close()
	return w.work(ctx, conn, a)
}

// work carries out the orders that come over a connection.
func (w *Worker) work(ctx context.Context, conn *nats.Conn, a *Admission) error {
	of := &relay.Worker{Conn: conn, Name: a.Name, Version: w.Version, Slots: w.AtOnce, Beat: beat, Keys: a.Keys, Host: w.Host, Contents: w.Contents}
	if err := of.Serve(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}
