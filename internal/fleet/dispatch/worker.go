package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// What a worker says of a run besides its states.
const (
	unknown State = "unknown" // it has not begun here, and never will
	full    State = "full"    // it did not begin, and may
	told    State = "told"    // it has ended, which was written down, and its result is forgotten
)

const (
	headFree    = "Free"
	headPlaces  = "Places"
	headVersion = "Version"
	headTime    = "Time"
	headDrain   = "Drain"
	headUndo    = "Undo"
	headBusy    = "Busy"
	headLeft    = "Left"
	headCancel  = "Cancel"
)

// Worker does what it is handed. Its fields are set before Serve.
type Worker struct {
	Conn    *nats.Conn
	Name    string // letters, digits and "-": its subjects have it
	Slots   int    // runs at the same time
	Beat    time.Duration
	Version string // of the program, for a View
	Start   string // names this start of it: no other one has it
	Key     []byte // what Seal gets to seal with, such as a public key of this start

	// Open checks the order of an attempt at a run, whose tenant is not known here, and returns what it is to do. Its error refuses the
	// order: nothing has begun. It is called once for an attempt, as long as the order has the deadline of the run.
	Open func(r *Run, token uint64) (func(context.Context) (result []byte), error)

	mu       sync.Mutex
	jobs     map[string]*job
	busy     int
	ended    bool // no run begins any more
	left     bool // and none is here
	draining bool // likewise, and it ends when none is left
	all      sync.WaitGroup
}

// job is a run here: one that is under way, one whose result is kept, or one that is known not to begin.
type job struct {
	state  State
	token  uint64
	result []byte
	end    context.CancelFunc
	asked  time.Time // when a dispatcher last did
	until  time.Time // when an order for it comes too late anyhow
	told   bool      // its end was written down
}

// ErrDrained is the error of Worker.Serve when Drain has ended it.
var ErrDrained = errors.New("the worker was drained")

// Serve works until ctx is done or the connection ends. Then it ends what is under way, waits for it, and says how it ended. The error is
// ErrDrained if it was to end when nothing is under way.
func (w *Worker) Serve(ctx context.Context) error {
	w.jobs = map[string]*job{}
	work, cancel := context.WithCancel(ctx)
	defer w.all.Wait()
	defer cancel()
	for what, hear := range map[string]func(*nats.Msg){
		"run": func(m *nats.Msg) { w.order(work, m) }, "ask": w.asked, "forget": w.forget, "drain": w.drain,
	} {
		sub, err := w.Conn.Subscribe("to."+w.Name+"."+what, hear)
		if err != nil {
			return err
		}
		defer sub.Unsubscribe() //nolint:errcheck // the connection may have ended
	}
	defer w.leave(cancel)
	for {
		if w.drained() {
			return ErrDrained
		}
		if err := w.beat(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(w.Beat):
			w.tidy()
		}
	}
}

// leave takes no run any more, ends those that are under way, and waits some beats for a dispatcher to hear how.
func (w *Worker) leave(end func()) {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	end()
	gone := w.beat() != nil
	w.all.Wait()
	for deadline := time.Now().Add(silence * w.Beat); !gone && w.untold() && time.Now().Before(deadline); gone = w.Conn.IsClosed() {
		time.Sleep(w.Beat / 20)
	}
	w.mu.Lock()
	w.left = true
	w.mu.Unlock()
	_ = w.beat()
}

// drain has the worker end when nothing is under way, or takes that back.
func (w *Worker) drain(m *nats.Msg) {
	w.mu.Lock()
	w.draining = m.Header.Get(headUndo) != "true"
	a := nats.NewMsg(m.Reply)
	a.Header.Set(headBusy, strconv.Itoa(w.busy))
	w.mu.Unlock()
	_ = m.RespondMsg(a)
	_ = w.beat()
}

// drained reports whether the worker is to end now. From then on that cannot be taken back.
func (w *Worker) drained() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = w.ended || w.draining && w.busy == 0
	return w.ended
}

// untold reports whether a dispatcher has not heard how some run ended.
func (w *Worker) untold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.jobs {
		if j.state == Done && !j.told {
			return true
		}
	}
	return false
}

// beat says that the worker is there.
func (w *Worker) beat() error {
	w.mu.Lock()
	free := w.Slots - w.busy
	m := nats.NewMsg("from." + w.Name + ".beat")
	if w.ended || w.draining {
		free = 0
		m.Header.Set(headDrain, "true")
	}
	if w.left {
		m.Header.Set(headLeft, "true")
	}
	w.mu.Unlock()
	m.Header.Set(headStart, w.Start)
	m.Header.Set(headFree, strconv.Itoa(free))
	m.Header.Set(headPlaces, strconv.Itoa(w.Slots))
	m.Header.Set(headVersion, w.Version)
	m.Header.Set(headTime, time.Now().UTC().Format(time.RFC3339Nano))
	m.Data = w.Key
	return w.Conn.PublishMsg(m)
}

// tidy ends runs that no dispatcher asks about, and forgets what no order can be for any more.
func (w *Worker) tidy() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for run, j := range w.jobs {
		switch {
		case j.state == Running && time.Since(j.asked) > orphan*w.Beat:
			j.end()
		case j.state != Running && time.Now().After(j.until):
			delete(w.jobs, run)
		}
	}
}

// order begins a run, if it is in order and there is room.
func (w *Worker) order(ctx context.Context, m *nats.Msg) {
	run, until := m.Header.Get(headRun), deadline(m)
	left := time.Until(until)
	token, err := strconv.ParseUint(m.Header.Get(headToken), 10, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[run]; j != nil && (j.state != unknown || token <= j.token) { // replayed, or late: it was said not to begin
		w.say(m, j.state, nil)
		return
	}
	if w.busy >= w.Slots || w.ended || w.draining {
		w.say(m, full, nil)
		return
	}
	var do func(context.Context) []byte
	switch {
	case err != nil:
	case left <= 0:
		err = fmt.Errorf("by the worker's clock its deadline has passed %s ago", -left.Round(time.Second))
	case left > Longest: // for so long it is known here
		err = fmt.Errorf("by the worker's clock its deadline is %s from now, more than %s", left.Round(time.Second), Longest)
	default:
		do, err = w.Open(&Run{ID: run, Until: until, Order: m.Data}, token)
	}
	if err != nil {
		w.jobs[run] = &job{state: Refused, token: token, result: []byte(err.Error()), until: keepUntil(until)}
		w.say(m, Refused, []byte(err.Error()))
		return
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	j := &job{state: Running, token: token, end: cancel, asked: time.Now(), until: keepUntil(until)}
	w.jobs[run] = j
	w.busy++
	w.say(m, Running, nil)
	w.all.Go(func() {
		defer cancel()
		result := do(ctx)
		if len(result) > MaxResult {
			result = result[:MaxResult]
		}
		w.mu.Lock()
		j.state, j.result = Done, result
		w.busy--
		w.mu.Unlock()
		_ = w.Conn.Publish("from."+w.Name+".done."+run, nil) // otherwise a dispatcher asks
		_ = w.beat()
	})
}

// keepUntil returns how long what is known of a run with a deadline is kept: longer than any order for it is taken. A worker believes
// no deadline that is too far away.
func keepUntil(until time.Time) time.Time {
	if most := time.Now().Add(Longest); until.After(most) {
		until = most
	}
	return until.Add(time.Minute)
}

// deadline returns the deadline of the run that a message is about.
func deadline(m *nats.Msg) time.Time {
	until, err := time.Parse(time.RFC3339Nano, m.Header.Get(headUntil))
	if err != nil {
		return time.Time{}
	}
	return until
}

// asked says how a run is. An attempt that is not known will not begin: an order for it that comes later is not taken.
func (w *Worker) asked(m *nats.Msg) {
	run := m.Header.Get(headRun)
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[run]
	if j == nil {
		j = &job{state: unknown, until: keepUntil(deadline(m))}
		w.jobs[run] = j
	}
	if token, err := strconv.ParseUint(m.Header.Get(headToken), 10, 64); err == nil && j.state == unknown {
		j.token = max(j.token, token)
	}
	j.asked = time.Now()
	if j.state == Running && m.Header.Get(headCancel) != "" {
		j.end()
	}
	state := j.state
	if j.told {
		state = told
	}
	w.say(m, state, j.result)
}

// forget drops a result that was written down. The run stays known.
func (w *Worker) forget(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[m.Header.Get(headRun)]; j != nil && j.state != Running {
		j.result, j.told = nil, true
	}
}

func (w *Worker) say(m *nats.Msg, s State, result []byte) {
	a := nats.NewMsg(m.Reply)
	a.Header.Set(headState, string(s))
	a.Header.Set(headStart, w.Start)
	a.Data = result
	_ = m.RespondMsg(a)
}
