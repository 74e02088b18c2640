package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Kept is how long claims are kept after their runs have left the queue, and a tenth of it longer until somebody looks.
const Kept = 10 * time.Minute

// unsure is how long after a dispatcher took a run it may have left the queue.
const unsure = time.Minute

// mark is how far both streams were at one moment.
type mark struct {
	at           time.Time
	claims, runs uint64 // the last sequences
}

// purge removes old claims to make room for new ones, until ctx is done. A run stays in the queue until its end is written down and said. So a
// claim can go some time after all runs that were in the queue when it was written have left the queue. A dispatcher that took a run before
// that, and was stopped, checks whether the run has left the queue: see follower.gone.
func (d *Dispatcher) purge(ctx context.Context, keep time.Duration) {
	var marks []mark
	for tick := time.Tick(keep / 10); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now, claims, first, err := d.q.reach(ctx)
		if err != nil {
			continue // the next time
		}
		last := -1
		for i, m := range marks {
			if m.runs < first && time.Since(m.at) > keep {
				last = i
			}
		}
		if last >= 0 && claims.Purge(ctx, jetstream.WithPurgeSubject("$KV.claims.*"), jetstream.WithPurgeSequence(marks[last].claims+1)) == nil {
			marks = marks[last+1:]
		}
		marks = append(marks, now)
	}
}

// reach returns how far both streams are, the claims first, and the first run that is still in the queue.
func (q *Queue) reach(ctx context.Context) (m mark, claims jetstream.Stream, first uint64, err error) {
	m.at = time.Now()
	if claims, err = q.js.Stream(ctx, claimsName); err != nil {
		return m, nil, 0, err
	}
	m.claims = claims.CachedInfo().State.LastSeq
	runs, err := q.runs.Info(ctx)
	if err != nil {
		return m, nil, 0, err
	}
	m.runs = runs.State.LastSeq
	return m, claims, runs.State.FirstSeq, nil
}

// gone reports whether a run that was taken from the queue has left it since, and takes the claim back that was made for it. It may only
// have if this process was stopped: then another dispatcher has ended the run, and its claim may be removed.
func (f *follower) gone(ctx context.Context) bool {
	if now := time.Now(); now.Sub(f.taken) < unsure && now.Round(0).Sub(f.taken.Round(0)).Abs() < unsure { // by both clocks: one stands still while a machine sleeps
		return false
	}
	about, err := f.m.Metadata()
	if err == nil {
		_, err = f.d.q.runs.GetMsg(ctx, about.Sequence.Stream)
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		_ = f.d.q.claims.Purge(ctx, f.r.ID, jetstream.LastRevision(f.rev))
	}
	return err != nil
}
