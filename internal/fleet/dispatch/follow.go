package dispatch

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// follower brings one run to its end.
type follower struct {
	d   *Dispatcher
	m   jetstream.Msg
	r   *Run
	c   *claim // nil if nobody has it yet
	rev uint64 // of the claim: the token
	to  *To    // the worker that gets it, where this dispatcher gives it

	taken time.Time // from the queue

	woken chan struct{}
	seen  RunView // under the lock of d
}

// run claims the run if nobody has, hands it to a worker, and waits for its end. Where it gives up the queue brings the run again.
func (f *follower) run(ctx context.Context) {
	if f.c == nil && f.d.Alone != nil && !f.waits(ctx) {
		return
	}
	if f.c == nil && !f.give(ctx) {
		return
	}
	if f.c.State != Running {
		f.ended(ctx)
		return
	}
	q := f.d.q
	heard, cancelled := time.Now(), q.cancelled(ctx, f.r.ID)
	for ctx.Err() == nil {
		head := f.head()
		if cancelled {
			head.Set(headCancel, "true")
		}
		a, _ := f.d.ask(ctx, f.c.Worker, "ask", head, nil)
		switch state, same := f.answer(a); {
		case same && (state == Done || state == Refused):
			f.end(ctx, state, a.Data)
			return
		case same && state == Running:
			heard = time.Now()
		case same && state == unknown: // this attempt did not begin there, and never will
			if f.d.past(f.r.Until) {
				f.end(ctx, Late, nil)
				return
			}
			if f.to = f.pick(ctx); f.to != nil && !f.give(ctx) {
				return
			}
			heard = time.Now()
		case state == unknown || time.Since(heard) > silence*q.o.Beat: // it began, as far as anybody knows
			if !f.r.Repeat || f.d.Alone != nil || f.c.Tries+1 >= maxTries || f.d.past(f.r.Until) {
				why, _ := f.why(ctx, nil)
				f.end(ctx, Lost, why)
				return
			}
			if f.to = f.pick(ctx); f.to == nil {
				break
			}
			f.c.Tries++
			if !f.give(ctx) {
				return
			}
			heard = time.Now()
		}
		_ = f.m.InProgress()
		select {
		case <-ctx.Done():
		case <-f.woken:
			cancelled = cancelled || q.cancelled(ctx, f.r.ID)
		case <-time.After(q.o.Beat):
		}
	}
}

// answer returns what a worker says of a run, "" if it says nothing, and whether it is the start of the worker that has the claim: a second
// worker that was given the same name answers as well, and knows nothing of the attempt.
func (f *follower) answer(a *nats.Msg) (state State, same bool) {
	if a == nil {
		return "", false
	}
	return State(a.Header.Get(headState)), a.Header.Get(headStart) == f.c.Start
}

func (f *follower) head() nats.Header {
	h := nats.Header{}
	h.Set(headRun, f.r.ID)
	h.Set(headToken, strconv.FormatUint(f.rev, 10))
	h.Set(headUntil, f.r.Until.UTC().Format(time.RFC3339Nano))
	return h
}

// give claims the run for the worker f.to, over the claim that is known, and hands it over. It reports false if another dispatcher came
// first, or the run has ended.
func (f *follower) give(ctx context.Context) bool {
	for f.to != nil {
		c := claim{State: Running, Worker: f.to.Worker, Start: f.to.Start}
		if f.c != nil {
			c.Tries = f.c.Tries
		}
		rev, err := f.d.q.swap(ctx, f.r.ID, c, f.rev)
		if err != nil {
			f.d.back(f.to)
		}
		if errors.Is(err, errTaken) && f.rev == 0 { // it was taken back, or another dispatcher has had it
			f.c, f.rev, err = f.d.q.claim(ctx, f.r.ID)
			return err == nil && f.c != nil
		}
		if err != nil {
			return false
		}
		fresh := f.c == nil
		f.c, f.rev, f.to.Token = &c, rev, rev
		if fresh && f.gone(ctx) {
			f.d.back(f.to)
			return false
		}
		f.d.mu.Lock()
		f.seen.Worker, f.seen.Began = c.Worker, time.Now()
		f.d.mu.Unlock()
		order, err := f.d.Seal(ctx, f.r, f.to)
		if err != nil {
			f.end(ctx, Refused, []byte(err.Error()))
			return false
		}
		a, gone := f.d.ask(ctx, c.Worker, "run", f.head(), order)
		state, same := f.answer(a)
		if gone { // nobody has got it
			f.d.forget(c.Worker)
			state, same = full, true
		}
		switch {
		case same && state == full: // it took nothing: the claim goes to another worker, with another token
			f.d.mu.Lock()
			f.seen.Worker, f.seen.Began = "", time.Time{}
			f.d.mu.Unlock()
			for news := f.d.heard(); ctx.Err() == nil; news = f.d.heard() {
				if f.to = f.pick(ctx); f.to != nil {
					break
				}
				switch {
				case f.d.past(f.r.Until):
					f.end(ctx, Late, nil)
					return false
				case f.d.q.cancelled(ctx, f.r.ID):
					f.end(ctx, Cancelled, nil)
					return false
				}
				_ = f.m.InProgress()
				f.d.rest(ctx, news, f.d.q.o.Beat)
			}
		case same && state == Refused:
			if time.Now().After(f.r.Until) { // it came too late anyhow
				state = Late
			}
			f.end(ctx, state, a.Data)
			return false
		default: // it has it, or it is asked
			return true
		}
	}
	return false
}

// end writes down how the run ended, with the token, and says so. If somebody else has ended it, it does nothing.
func (f *follower) end(ctx context.Context, s State, result []byte) {
	c := claim{State: s, Token: f.rev}
	if f.c != nil {
		c.Worker, c.Start, c.Tries = f.c.Worker, f.c.Start, f.c.Tries
	}
	rev, err := f.d.q.swap(ctx, f.r.ID, c, f.rev)
	if err != nil {
		return
	}
	e := &End{State: s, Worker: c.Worker, Token: f.rev, Result: result}
	f.note(e)
	f.say(ctx, e)
	f.c, f.rev = &c, rev
}

// note keeps the end of the run for a View, and passes it on.
func (f *follower) note(e *End) {
	d := f.d
	d.mu.Lock()
	v := f.seen
	v.State, v.Worker, v.Ended = e.State, e.Worker, time.Now()
	f.seen.Worker, f.seen.Ended = "", v.Ended // which has it no more
	d.lately = append(d.lately[max(0, len(d.lately)+1-maxLately):], v)
	d.mu.Unlock()
	if d.Ended != nil {
		d.Ended(&v)
	}
}

// say tells how the run ended, lets the worker forget it, and takes it out of the queue: in this order, so that whoever dies in between
// leaves it to another one to say it again.
func (f *follower) say(ctx context.Context, e *End) {
	q := f.d.q
	ctx, cancel := context.WithTimeout(ctx, lease*q.o.Beat)
	defer cancel()
	if err := errors.Join(q.tell(f.r.ID, e), q.conn.FlushWithContext(ctx)); err != nil {
		return
	}
	if e.Worker != "" {
		m := nats.NewMsg("to." + e.Worker + ".forget")
		m.Header.Set(headRun, f.r.ID)
		_ = q.conn.PublishMsg(m)
	}
	f.leave(ctx)
}

// leave takes the run out of the queue, and ends the worker that it has alone, also while the dispatcher ends.
func (f *follower) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease*f.d.q.o.Beat)
	defer cancel()
	if f.d.Alone != nil && f.d.Alone.Stop(ctx, f.r.ID) != nil { // the queue brings it again
		return
	}
	_ = f.m.DoubleAck(ctx)
}

// ended says the end of a run again that was written down and may not have been said.
func (f *follower) ended(ctx context.Context) {
	e := &End{State: f.c.State, Worker: f.c.Worker, Token: f.c.Token}
	if e.State == Cancelled && e.Token == 0 { // Queue.Cancel wrote it, which does not do this
		f.note(e)
	}
	if e.State != Done && e.State != Refused {
		f.say(ctx, e)
		return
	}
	var a *nats.Msg
	for asked := 0; a == nil && asked < silence && ctx.Err() == nil; asked++ { // it may be busy
		_ = f.m.InProgress()
		a, _ = f.d.ask(ctx, f.c.Worker, "ask", f.head(), nil)
	}
	if state, same := f.answer(a); same && state == e.State {
		e.Result = a.Data
		f.say(ctx, e)
	} else if ctx.Err() == nil { // the result is gone, and Ticket.Wait says so
		f.leave(ctx)
	}
}
