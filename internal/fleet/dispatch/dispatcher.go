package dispatch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// To is the attempt that an order is made for.
type To struct {
	Worker, Start string
	Key           []byte // that the worker sealed its start with, see Worker.Key
	Token         uint64
}

// Dispatcher hands runs to workers. Several may share a queue.
type Dispatcher struct {
	// Seal makes the order of a run for one attempt: it signs it, and adds what is secret. Its error refuses the run.
	Seal func(ctx context.Context, r *Run, to *To) ([]byte, error)

	Alone Alone         // gives each run a worker of its own, once, whatever its Repeat says; nil for workers that many runs share
	Start time.Duration // how long such a worker may take to come; default DefaultStart

	// Ended is called when a run has ended; it may be nil. It is set before Serve.
	Ended func(r *RunView)

	q *Queue

	mu      sync.Mutex
	began   time.Time // of Serve
	workers map[string]*known
	wake    map[string]*follower // by run that is followed here
	lately  []RunView            // that ended, at most maxLately
	oldest  time.Time            // since when one of held waits; zero for none
	turns   []string             // subjects of the queue, the next first
	from    map[string]jetstream.Consumer
	lags    lags
	moved   time.Time // when the leaders of consumers were last checked
	held    []held
	kept    time.Time      // when the queue was last told that they are held
	swept   time.Time      // when tenants with one of them were last asked for what somebody left
	news    chan struct{}  // closed, and another one made, when something was queued or a worker has room
	going   map[string]use // by subject of the queue
}

// known is a worker as it last said.
type known struct {
	WorkerView
	to   To
	said time.Time // what its clock said when it was heard; zero if it does not say
}

// Dispatcher returns one for the queue.
func (q *Queue) Dispatcher(seal func(context.Context, *Run, *To) ([]byte, error)) *Dispatcher {
	return &Dispatcher{Seal: seal, q: q, workers: map[string]*known{}, wake: map[string]*follower{}, from: map[string]jetstream.Consumer{}, news: make(chan struct{}), going: map[string]use{}}
}

// Serve dispatches until ctx is done or the connection ends. Runs that are under way then go on, and another dispatcher follows them.
func (d *Dispatcher) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for subject, hear := range map[string]func(*nats.Msg){
		"from.*.beat": d.beat, "from.*.done.*": d.wakeUp(3), "cancel.*": d.wakeUp(1), "queued": func(*nats.Msg) { d.note() },
		reportSubject: d.report,
	} {
		sub, err := d.q.conn.Subscribe(subject, hear)
		if err != nil {
			return err
		}
		defer sub.Unsubscribe() //nolint:errcheck // the connection may have ended
	}
	defer d.giveBack()
	d.mu.Lock()
	d.began = time.Now()
	d.mu.Unlock()
	all.Go(func() { d.purge(ctx, Kept) })
	for {
		news, now := d.heard(), time.Now()
		d.place(ctx, &all)
		subject, m, err := d.next(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case d.q.conn.IsClosed():
			return nats.ErrConnectionClosed
		case err != nil || m == nil: // such as a leader that changes
			d.rest(ctx, news, d.q.o.Beat)
		case d.begin(ctx, m, now, &all):
		case d.holds(subject): // what comes first is what somebody left, which needs no place: so there is no more of that
			_ = m.Nak()
			d.swept = time.Now()
		default:
			d.held = append(d.held, held{subject, m, now, oneWorker(m)})
		}
	}
}

// held is a run that waits for a place: of each tenant the one that comes next, and those that are for one worker, which others pass.
type held struct {
	subject string
	m       jetstream.Msg
	taken   time.Time
	name    string // by which it is for one worker; "" if it is for any
}

// oneWorker returns the name by which a run is for one worker; "" if it is for any.
func oneWorker(m jetstream.Msg) string {
	r, err := parse(m.Headers(), nil)
	if err != nil {
		return ""
	}
	return cmp.Or(r.Stick, r.Home)
}

// holds reports whether what a tenant has in the queue comes after a run that is held.
func (d *Dispatcher) holds(subject string) bool {
	return slices.ContainsFunc(d.held, func(h held) bool { return h.subject == subject && h.name == "" })
}

// place begins the runs that are held as far as there is room, first those of the tenants that have least under way, and keeps the others.
func (d *Dispatcher) place(ctx context.Context, all *sync.WaitGroup) {
	d.mu.Lock()
	slices.SortStableFunc(d.held, func(a, b held) int { return cmp.Compare(d.going[a.subject].now, d.going[b.subject].now) })
	d.mu.Unlock()
	wait := map[string]bool{} // names of runs that have no place: those behind them have none, and the claims are not asked again
	d.held = slices.DeleteFunc(d.held, func(h held) bool {
		if wait[h.name] || !d.room() {
			return false
		}
		begun := d.begin(ctx, h.m, h.taken, all)
		wait[h.name] = !begun && h.name != ""
		return begun
	})
	d.mu.Lock()
	d.oldest = time.Time{}
	for _, h := range d.held {
		if at := queued(h.m); d.oldest.IsZero() || at.Before(d.oldest) {
			d.oldest = at
		}
	}
	d.mu.Unlock()
	if time.Since(d.kept) < d.q.o.Beat {
		return
	}
	d.kept = time.Now()
	d.held = slices.DeleteFunc(d.held, func(h held) bool {
		r, err := parse(h.m.Headers(), nil)
		return (err != nil || d.past(r.Until)) && d.begin(ctx, h.m, h.taken, all) // which ends it
	})
	for _, h := range d.held {
		_ = h.m.InProgress()
	}
}

// queued returns when a run came into the queue.
func queued(m jetstream.Msg) time.Time {
	if about, err := m.Metadata(); err == nil {
		return about.Timestamp
	}
	return time.Now()
}

// giveBack leaves the runs that are held to another dispatcher.
func (d *Dispatcher) giveBack() {
	for _, h := range d.held {
		_ = h.m.Nak()
	}
	d.held = nil
}

// note says that there may be something to do.
func (d *Dispatcher) note() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.news)
	d.news = make(chan struct{})
}

// heard returns what is closed when there may be something to do that is not known yet.
func (d *Dispatcher) heard() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.news
}

// rest waits for news, or for some time.
func (d *Dispatcher) rest(ctx context.Context, news <-chan struct{}, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-news:
	case <-time.After(most):
	}
}

// beat hears from a worker.
func (d *Dispatcher) beat(m *nats.Msg) {
	name := strings.Split(m.Subject, ".")[1]
	free, err := strconv.Atoi(m.Header.Get(headFree))
	if err != nil {
		return
	}
	places, _ := strconv.Atoi(m.Header.Get(headPlaces))
	places = min(max(places, 0), maxPlaces)
	free = min(max(free, 0), places)
	version := m.Header.Get(headVersion)
	version = strings.ToValidUTF8(version[:min(len(version), maxVersion)], "")
	w := &known{WorkerView: WorkerView{Name: name, Version: version, Places: places, Free: free, Draining: m.Header.Get(headDrain) != "", Heard: time.Now()},
		to: To{Worker: name, Start: m.Header.Get(headStart), Key: m.Data}}
	if at, err := time.Parse(time.RFC3339Nano, m.Header.Get(headTime)); err == nil {
		w.said = at
	}
	d.mu.Lock()
	d.workers[name] = w
	if m.Header.Get(headLeft) != "" {
		delete(d.workers, name)
	}
	d.mu.Unlock()
	if free > 0 {
		d.note()
	}
}

// wakeUp returns what wakes whoever follows the run that is a part of a subject.
func (d *Dispatcher) wakeUp(part int) func(*nats.Msg) {
	return func(m *nats.Msg) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if f := d.wake[strings.Split(m.Subject, ".")[part]]; f != nil {
			select {
			case f.woken <- struct{}{}:
			default:
			}
		}
	}
}

// pick takes a place for a run: at the worker that its home chooses, else at the one that has the most; nil if it has none.
func (d *Dispatcher) pick(r *Run) *To {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Home != "" {
		return d.home(r.Home).take()
	}
	return d.best(r.Until).take()
}

// take takes a place at a worker; nil if it has none, or is nil. The caller holds the lock.
func (w *known) take() *To {
	if w == nil || w.Free == 0 {
		return nil
	}
	w.Free--
	to := w.to
	return &to
}

// back gives a place back that was not used.
func (d *Dispatcher) back(to *To) {
	defer d.note()
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.workers[to.Worker]; w != nil && w.to.Start == to.Start {
		w.Free++
	}
}

// here reports whether a worker was heard lately. A nil worker was not. The caller holds the lock.
func (d *Dispatcher) here(w *known) bool {
	return w != nil && time.Since(w.Heard) <= silence*d.q.o.Beat
}

// room reports whether a worker has a place.
func (d *Dispatcher) room() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	for _, w := range d.workers {
		if d.here(w) && w.Free > 0 {
			return true
		}
	}
	return false
}

// best returns the worker with the most free places of those that take a run with a deadline; nil if they have none. If no worker takes the
// run, it returns one that has a free place, which refuses the run with the reason. The caller holds the lock.
func (d *Dispatcher) best(until time.Time) *known {
	d.tidy()
	var best, other *known
	taken := false
	for _, w := range d.workers {
		if !d.here(w) || w.Draining {
			continue
		}
		of := &other
		if w.takes(until) {
			of, taken = &best, true
		}
		if w.Free > 0 && (*of == nil || w.Free > (*of).Free) {
			*of = w
		}
	}
	if !taken {
		return other
	}
	return best
}

// tidy forgets workers that are gone for long. The caller holds the lock.
func (d *Dispatcher) tidy() {
	maps.DeleteFunc(d.workers, func(_ string, w *known) bool { return time.Since(w.Heard) > orphan*d.q.o.Beat })
}

// next takes a run from the queue, from each tenant in turn; nil if none waits. From a tenant one of whose runs is held it takes one now and
// then.
func (d *Dispatcher) next(ctx context.Context) (subject string, _ jetstream.Msg, _ error) {
	sweep := time.Since(d.swept) > lease*d.q.o.Beat
	for again := range 2 {
		if again > 0 || len(d.turns) == 0 {
			if err := d.look(ctx); err != nil {
				return "", nil, err
			}
		}
		for range d.turns {
			subject := d.turns[0]
			d.turns = append(d.turns[1:], subject)
			from := d.from[subject]
			if from == nil || d.holds(subject) && !sweep {
				continue
			}
			batch, err := from.FetchNoWait(1)
			if err != nil {
				delete(d.from, subject) // it is asked for again
				continue
			}
			for m := range batch.Messages() {
				return subject, m, nil
			}
		}
	}
	if sweep {
		d.swept = time.Now()
	}
	return "", nil, nil
}

// look finds the tenants that have something in the queue, makes their consumers, and moves those that deliver nothing.
func (d *Dispatcher) look(ctx context.Context) error {
	once, cancel := context.WithTimeout(ctx, looking*d.q.o.Beat)
	info, err := d.q.runs.Info(once, jetstream.WithSubjectFilter(runsOf+"*"))
	cancel()
	if err != nil {
		return err
	}
	d.turns = slices.DeleteFunc(d.turns, func(s string) bool { // who was served last stays last
		if info.State.Subjects[s] > 0 && d.from[s] != nil {
			return false
		}
		delete(d.from, s)
		return true
	})
	d.moveConsumers(ctx, info)
	for s := range info.State.Subjects {
		if d.from[s] != nil {
			continue
		}
		c, err := d.q.runs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: strings.TrimPrefix(s, runsOf), FilterSubject: s, AckPolicy: jetstream.AckExplicitPolicy, AckWait: lease * d.q.o.Beat,
			MaxAckPending: d.q.o.AtOnce, InactiveThreshold: Longest,
		})
		if err != nil {
			return err
		}
		d.from[s], d.turns = c, append(d.turns, s)
	}
	return nil
}

// begin does what a message of the queue needs, in the background. It reports false if no worker has room for the run.
func (d *Dispatcher) begin(ctx context.Context, m jetstream.Msg, taken time.Time, all *sync.WaitGroup) bool {
	r, err := parse(m.Headers(), m.Data())
	if err != nil {
		_ = m.Term() // nobody can do it
		return true
	}
	var c *claim
	var rev uint64
	if meta, wrong := m.Metadata(); wrong != nil || meta.NumDelivered > 1 || d.Alone != nil { // else it is new, as far as is known
		c, rev, err = d.q.claim(ctx, r.ID)
	}
	f := &follower{d: d, m: m, r: r, c: c, rev: rev, taken: taken, woken: make(chan struct{}, 1)}
	f.seen = RunView{ID: r.ID, Tenant: r.Tenant, Skill: r.Skill, State: Running, Queued: queued(m)}
	switch {
	case err != nil:
		return true // the queue brings it again
	case c != nil:
		f.seen.Worker = c.Worker
	case d.past(r.Until):
		all.Go(func() { f.end(ctx, Late, nil) })
		return true
	case d.Alone == nil:
		if f.to = f.pick(ctx); f.to == nil {
			return false
		}
	}
	d.mu.Lock()
	followed := d.wake[r.ID] != nil
	if !followed {
		d.wake[r.ID] = f
		d.counts(m.Subject(), 1)
	}
	d.mu.Unlock()
	if followed { // here, and for so long that the queue brought it again
		return true
	}
	all.Go(func() {
		f.run(ctx)
		d.mu.Lock()
		delete(d.wake, r.ID)
		d.counts(m.Subject(), -1)
		d.mu.Unlock()
	})
	return true
}

// forget hands no run to a worker until its next beat.
func (d *Dispatcher) forget(worker string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.workers, worker)
}

// ask sends something to a worker and returns its answer, nil if it does not answer. It reports whether the worker was gone.
func (d *Dispatcher) ask(ctx context.Context, worker, what string, h nats.Header, body []byte) (_ *nats.Msg, gone bool) {
	ctx, cancel := context.WithTimeout(ctx, d.q.o.Beat)
	defer cancel()
	m := nats.NewMsg("to." + worker + "." + what)
	m.Header, m.Data = h, body
	got, err := d.q.conn.RequestMsgWithContext(ctx, m)
	if err != nil {
		if !errors.Is(err, context.DeadlineExceeded) { // nobody listens: it would answer at once
			select {
			case <-ctx.Done():
			case <-time.After(d.q.o.Beat / 4):
			}
		}
		return nil, errors.Is(err, nats.ErrNoResponders)
	}
	return got, false
}
