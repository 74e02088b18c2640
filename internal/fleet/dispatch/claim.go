package dispatch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

// claim is the record of a run: who has it, or how it ended. The revision at which it was written for a worker is the token of that
// attempt, and only whoever knows it can end the attempt.
type claim struct {
	State  State  `json:"state"`
	Worker string `json:"worker,omitempty"`
	Start  string `json:"start,omitempty"` // of the worker
	Tries  int    `json:"tries,omitempty"`
	Token  uint64 `json:"token,omitempty"` // of the attempt that ended, once it has
	By     string `json:"by"`              // of one write alone, by which its writer knows it again
}

// errTaken means that somebody else has written the claim.
var errTaken = errors.New("the claim was written by another one")

// claim returns the claim of a run with its revision; nil if there is none.
func (q *Queue) claim(ctx context.Context, run string) (*claim, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Answer) // an answer that is lost does not come later
	defer cancel()
	e, err := q.claims.Get(ctx, run)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	c := &claim{}
	if err := json.Unmarshal(e.Value(), c); err != nil {
		return nil, 0, fmt.Errorf("the claim of run %s: %w", run, err)
	}
	return c, e.Revision(), nil
}

// swap writes a claim over the one of a revision, 0 for none, and returns the new revision. The error is errTaken if the claim has
// another one. An answer that did not come is looked up.
func (q *Queue) swap(ctx context.Context, run string, c claim, over uint64) (uint64, error) {
	c.By = rand.Text()
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	var rev uint64
	if over == 0 {
		rev, err = q.claims.Create(ctx, run, text)
	} else {
		rev, err = q.claims.Update(ctx, run, text, over)
	}
	if err == nil {
		return rev, nil
	}
	now, at, readErr := q.claim(ctx, run)
	switch {
	case readErr != nil || now == nil || at == over: // it was not written
		return 0, err
	case *now == c:
		return at, nil
	}
	return 0, errTaken
}

// Has reports whether a worker has a run, or had it when it ended, as its claim says.
func (q *Queue) Has(ctx context.Context, worker, run string) bool {
	c, _, err := q.claim(ctx, run)
	return err == nil && c != nil && c.Worker == worker
}

// Cancel takes a run back: one that waits does not begin, one that is under way is told to end. It is not known here whether it does.
func (q *Queue) Cancel(ctx context.Context, run string) error {
	if !runID.MatchString(run) {
		return fmt.Errorf("%q is no id of a run", run)
	}
	_, err := q.swap(ctx, run, claim{State: Cancelled}, 0)
	if err == nil {
		return q.tell(run, &End{State: Cancelled})
	}
	if !errors.Is(err, errTaken) {
		return err
	}
	if _, err := q.claims.Put(ctx, cancelKey(run), nil); err != nil { // for whoever follows the run next
		return err
	}
	return q.conn.Publish(cancelKey(run), nil)
}

func cancelKey(run string) string { return "cancel." + run }

// cancelled reports whether a run that is under way was taken back.
func (q *Queue) cancelled(ctx context.Context, run string) bool {
	_, err := q.claims.Get(ctx, cancelKey(run))
	return err == nil
}

// tell says how a run ended to whoever waits for it.
func (q *Queue) tell(run string, e *End) error {
	m := nats.NewMsg("end." + run)
	m.Header.Set(headState, string(e.State))
	m.Header.Set(headWorker, e.Worker)
	m.Header.Set(headToken, strconv.FormatUint(e.Token, 10))
	m.Data = e.Result
	return q.conn.PublishMsg(m)
}
