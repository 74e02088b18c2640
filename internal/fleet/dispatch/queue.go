// Package dispatch takes runs from a queue and hands each to one worker. A run is done at most once: before a worker gets it, its
// claim is written, and the end of the run is written by a compare-and-swap on that claim, whose revision is the token of the
// attempt. Neither an acknowledgement nor a lease decides. What a worker may have done and did not report is lost, and says so; it is
// done again only if the caller said that it may be.
//
// Workers touch no stream. They speak on subjects of their own with whatever dispatches, and keep a result until it is written
// down. So a dispatcher may die at any time: the queue brings the run to another one, which finds the claim and asks the worker.
//
// What an order says, who signed it and what a worker does with it are not known here.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
	"github.com/agent-base/agent-base/internal/fleet/subject"
)

// Bounds of runs.
const (
	Longest   = time.Hour // from the admission of a run to its deadline
	MaxOrder  = 1 << 20   // bytes of what a run says
	MaxResult = 4 << 20   // bytes; what is longer is cut
	maxTries  = 3         // of a run that may be done again
)

// Errors of Submit, to be tested with errors.Is. Nothing was queued then.
var (
	ErrQuota = errors.New("too many runs of this tenant wait")
	ErrFull  = errors.New("the queue is full")
)

// ErrResultGone is the error of Ticket.Wait for a run that has ended, and whose result nobody has.
var ErrResultGone = errors.New("the run has ended, and its result is gone")

// Run is what is to be done.
type Run struct {
	ID     string    // letters, digits and "-", at most 64; the same id is the same run
	Tenant string    // "" for the only one
	Until  time.Time // it is not begun later, and ended then; at most Longest from now
	Repeat bool      // it may be done twice
	Skill  string    // the name of the skill that it is about, for a View
	Stick  string    // runs with the same one are for the same worker while it lives: letters, digits and "-", at most 64; "" for any
	Home   string    // runs with the same one are for the same worker, unless workers come or go: as Stick, which comes first
	Order  []byte    // what is to be done; nothing secret, for it is stored
}

// State is how a run is, or how it ended.
type State string

// The states. All but the first are ends.
const (
	Running   State = "running"
	Done      State = "done"      // there is a result
	Lost      State = "lost"      // it may have run, and nobody knows
	Late      State = "late"      // its deadline passed before it began
	Cancelled State = "cancelled" // it was taken back before it began
	Refused   State = "refused"   // a worker did not begin it; the result says why
)

// End is how a run ended.
type End struct {
	State  State
	Worker string // "" if it never began
	Token  uint64 // of the attempt
	Result []byte // of a run that is lost or late: why, if it is known
}

// Options are those of a Queue.
type Options struct {
	Beat   time.Duration // how often a worker says that it is there, and is asked about its runs; default 1 s
	Quota  int           // runs of a tenant that wait; default 1000
	AtOnce int           // runs of a tenant that are under way; default 64

	Replicas int // copies of what is stored, each on a node of its own; default 1

	QueueBytes, ClaimBytes int64 // of the disk, set aside for each; default 256 MiB
}

// How many beats something may take.
const (
	silence = 5  // after which a worker is gone
	orphan  = 20 // after which a worker ends a run that nobody has asked about
	lease   = 8  // of a dispatcher on a run
	looking = 2  // to read what the queue has: a node without a leader never answers
)

// How long a node may take.
const (
	silentTime = time.Minute      // until enough nodes of a cluster run
	submitTime = 20 * time.Second // until they have chosen a leader
)

// claimTime is how long a claim is kept: longer than its run can be in the queue.
const claimTime = 3 * Longest

// Queue has the runs that wait, and their claims. It is safe for concurrent use.
type Queue struct {
	o      Options
	conn   *nats.Conn
	js     jetstream.JetStream
	runs   jetstream.Stream
	claims jetstream.KeyValue

	mu     sync.Mutex
	looked time.Time // when full was last found out
	full   bool      // the claims leave no room for new runs
}

// Open returns the queue of a node, and makes it if there is none.
func Open(ctx context.Context, conn *nats.Conn, o *Options) (*Queue, error) {
	q := &Queue{conn: conn}
	if o != nil {
		q.o = *o
	}
	for _, d := range []struct {
		value *int64
		usual int64
	}{{&q.o.QueueBytes, 256 << 20}, {&q.o.ClaimBytes, 256 << 20}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	if q.o.Beat <= 0 {
		q.o.Beat = time.Second
	}
	if q.o.Quota <= 0 {
		q.o.Quota = 1000
	}
	if q.o.AtOnce <= 0 {
		q.o.AtOnce = 64
	}
	var err error
	if q.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(patience.Answer)); err != nil {
		return nil, err
	}
	runs := jetstream.StreamConfig{
		Name: runsName, Subjects: []string{runsOf + "*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: 2 * Longest, Duplicates: Longest, MaxBytes: q.o.QueueBytes,
		Discard: jetstream.DiscardNew, MaxMsgsPerSubject: int64(q.o.Quota), DiscardNewPerSubject: true, Replicas: q.o.Replicas,
	}
	if q.runs, err = patience.Stream(ctx, q.js, silentTime, runs); err != nil {
		return nil, fmt.Errorf("make the queue: %w", err)
	}
	claims := jetstream.StreamConfig{ // a KeyValue, but for reads, which the leader alone answers: another node may be behind
		Name: claimsName, Subjects: []string{"$KV.claims.>"}, MaxMsgsPerSubject: 1, MaxAge: claimTime, MaxBytes: q.o.ClaimBytes,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true, AllowDirect: false, Replicas: q.o.Replicas,
	}
	if _, err = patience.Stream(ctx, q.js, silentTime, claims); err == nil {
		err = patience.Ask(ctx, silentTime, func(ctx context.Context) (err error) {
			q.claims, err = q.js.KeyValue(ctx, "claims")
			return err
		}, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("make the claims: %w", err)
	}
	return q, nil
}

// Names of streams, and of the subjects of runs, which end with the Token of a tenant.
const (
	runsName   = "RUNS"
	runsOf     = "run."
	claimsName = "KV_claims"
)

var runID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// Names of headers.
const (
	headRun    = "Run"
	headTenant = "Tenant"
	headUntil  = "Until"
	headRepeat = "Repeat"
	headSkill  = "Skill"
	headStick  = "Stick"
	headHome   = "Home"
	headState  = "State"
	headWorker = "Worker"
	headStart  = "Start"
	headToken  = "Token"
)

// Submit puts a run into the queue. The error may be ErrQuota or ErrFull. The caller closes the ticket.
func (q *Queue) Submit(ctx context.Context, r *Run) (*Ticket, error) {
	switch left := time.Until(r.Until); {
	case !runID.MatchString(r.ID):
		return nil, fmt.Errorf("%q is no id of a run", r.ID)
	case !r.named():
		return nil, fmt.Errorf("invalid Stick %q or Home %q: use letters, digits and -, at most 64", r.Stick, r.Home)
	case len(r.Tenant) > 128:
		return nil, fmt.Errorf("the name of the tenant has %d bytes, more than 128", len(r.Tenant))
	case left <= 0 || left > Longest:
		return nil, fmt.Errorf("the deadline of the run is in %s: it must be within %s", left.Round(time.Second), Longest)
	case len(r.Order) > MaxOrder:
		return nil, fmt.Errorf("the run has %d bytes, more than %d", len(r.Order), MaxOrder)
	}
	if q.crowded(ctx) {
		return nil, fmt.Errorf("%w: the claims of the last hours fill it, try again later", ErrFull)
	}
	sub, err := q.conn.SubscribeSync("end." + r.ID)
	if err != nil {
		return nil, err
	}
	t := &Ticket{q: q, run: r.ID, ends: sub}
	m := nats.NewMsg(runsOf + subject.Token(r.Tenant))
	m.Header.Set(headRun, r.ID)
	m.Header.Set(headTenant, r.Tenant)
	m.Header.Set(headUntil, r.Until.UTC().Format(time.RFC3339Nano))
	m.Header.Set(headRepeat, strconv.FormatBool(r.Repeat))
	m.Header.Set(headSkill, r.Skill)
	m.Header.Set(headStick, r.Stick)
	m.Header.Set(headHome, r.Home)
	m.Data = r.Order
	err = patience.Ask(ctx, submitTime, func(ctx context.Context) error { // the id keeps it from being queued twice
		_, err := q.js.PublishMsg(ctx, m, jetstream.WithMsgID(r.ID))
		return err
	}, nil)
	if err != nil {
		t.Close()
		return nil, kindOf(err)
	}
	return t, q.conn.Publish("queued", nil)
}

// crowded reports whether seven eighths of the room for claims are taken: the rest is for runs that are in the queue or under way, which
// could not end otherwise. One caller asks once a beat, and no other waits for the answer, which may not come.
func (q *Queue) crowded(ctx context.Context) bool {
	q.mu.Lock()
	full, known := q.full, time.Since(q.looked) < q.o.Beat
	if !known {
		q.looked = time.Now()
	}
	q.mu.Unlock()
	if known {
		return full
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Answer)
	defer cancel()
	if claims, err := q.js.Stream(ctx, claimsName); err == nil {
		info := claims.CachedInfo()
		full = int64(info.State.Bytes) > info.Config.MaxBytes/8*7 //nolint:gosec // at most MaxBytes
		q.mu.Lock()
		q.full = full
		q.mu.Unlock()
	}
	return full
}

// kindOf returns an error of the server as one of this package. The server tells these two apart by their text alone.
func kindOf(err error) error {
	switch {
	case strings.Contains(err.Error(), "maximum messages per subject"):
		return fmt.Errorf("%w: try again when some have ended", ErrQuota)
	case strings.Contains(err.Error(), "maximum bytes") || strings.Contains(err.Error(), "insufficient"):
		return fmt.Errorf("%w: try again when some runs have ended", ErrFull)
	}
	return err
}

// named reports whether what names a worker for the run can be that.
func (r *Run) named() bool {
	return (r.Stick == "" || runID.MatchString(r.Stick)) && (r.Home == "" || runID.MatchString(r.Home))
}

// parse reads a message of the queue.
func parse(h nats.Header, order []byte) (*Run, error) {
	r := &Run{ID: h.Get(headRun), Tenant: h.Get(headTenant), Order: order, Repeat: h.Get(headRepeat) == "true", Skill: h.Get(headSkill), Stick: h.Get(headStick),
		Home: h.Get(headHome)}
	var err error
	if r.Until, err = time.Parse(time.RFC3339Nano, h.Get(headUntil)); err != nil || !runID.MatchString(r.ID) || !r.named() {
		return nil, fmt.Errorf("a message of the queue is no run (%q)", r.ID)
	}
	return r, nil
}

// Ticket is for the end of one run.
type Ticket struct {
	q    *Queue
	run  string
	ends *nats.Subscription
}

// Close gives the ticket up. The run goes on.
func (t *Ticket) Close() { _ = t.ends.Unsubscribe() }

// Wait returns how the run ended. The error is that of ctx, or ErrResultGone.
func (t *Ticket) Wait(ctx context.Context) (*End, error) {
	over, wait := 0, t.q.o.Beat // the claim is looked at less and less often: many may wait
	for {
		looking, cancel := context.WithTimeout(ctx, wait)
		m, err := t.ends.NextMsgWithContext(looking)
		cancel()
		if err == nil {
			token, _ := strconv.ParseUint(m.Header.Get(headToken), 10, 64)
			return &End{State: State(m.Header.Get(headState)), Worker: m.Header.Get(headWorker), Token: token, Result: m.Data}, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		c, _, err := t.q.claim(ctx, t.run)
		if err != nil || c == nil || c.State == Running {
			wait = min(2*wait, lease*t.q.o.Beat)
			continue
		}
		wait = t.q.o.Beat
		switch over++; {
		case c.State != Done && c.State != Refused && over > 1: // nobody says more about it, such as why it is late
			return &End{State: c.State, Worker: c.Worker, Token: c.Token}, nil
		case over > lease+silence: // another dispatcher has had the time to say it
			return nil, ErrResultGone
		}
	}
}
