package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// says has a worker say that it has some places, and how far its clock is ahead, whatever it is.
func says(w *Worker, places string, ahead time.Duration) *nats.Msg {
	m := nats.NewMsg("from." + w.Name + ".beat")
	m.Header.Set(headFree, places)
	m.Header.Set(headPlaces, places)
	m.Header.Set(headStart, w.Start)
	m.Header.Set(headTime, time.Now().Add(ahead).Format(time.RFC3339Nano))
	return m
}

// A run goes to a worker that takes its deadline by its own clock, if there is one. It is late if half of the workers say so, too.
func TestClocks(t *testing.T) {
	const no = 99 * time.Hour // a worker that does not say what its clock says
	for what, c := range map[string]struct {
		ahead []time.Duration // workers a, b and so on, the first of which has most places
		left  time.Duration   // until the deadline
		to    string
		past  bool
	}{
		"all agree":                         {[]time.Duration{0, time.Second}, time.Minute, "a", false},
		"one is ahead":                      {[]time.Duration{2 * time.Hour, 0}, time.Minute, "b", false},
		"one is behind":                     {[]time.Duration{-2 * time.Hour, 0}, time.Minute, "b", false},
		"one is a little ahead":             {[]time.Duration{15 * time.Second, 0}, time.Minute, "a", false},
		"one, of a run that is short":       {[]time.Duration{15 * time.Second, 0}, 10 * time.Second, "b", false},
		"the run was made by a clock ahead": {[]time.Duration{0, 2 * time.Hour}, 2*time.Hour + time.Minute, "b", false},
		"no worker takes it":                {[]time.Duration{0, time.Second}, 2 * time.Hour, "a", false},
		"it is late":                        {[]time.Duration{0, 0, -30 * time.Minute}, -time.Minute, "c", true},
		"the clock here is ahead":           {[]time.Duration{-2 * time.Hour, -2 * time.Hour, 0}, -time.Minute, "a", false},
		"one against one":                   {[]time.Duration{-2 * time.Hour}, -time.Minute, "a", false},
		"without workers":                   {nil, -time.Minute, "", true},
		"one that does not say":             {[]time.Duration{no}, -time.Minute, "a", true},
	} {
		d := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain)
		for i, ahead := range c.ahead {
			m := says(&Worker{Name: string('a' + rune(i))}, string('9'-rune(i)), ahead)
			if ahead == no {
				m.Header.Del(headTime)
			}
			d.beat(m)
		}
		until := time.Now().Add(c.left)
		if d.past(until) != c.past {
			t.Errorf("%s: it is past %v", what, !c.past)
		}
		if to := d.pick(&Run{Until: until}); (to == nil) != (c.to == "") || to != nil && to.Worker != c.to {
			t.Errorf("%s: it is for %+v, not %s", what, to, c.to)
		}
	}
}

// A worker whose clock is wrong gets no run while another is there, and an operator sees it. What is late by the clock here alone is handed over.
func TestWrongClock(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	wrong := worker(t, n, dir, "wrong", 9, quick, nil)
	if _, err := wrong.Conn.Subscribe("to.wrong.run", func(m *nats.Msg) { wrong.say(m, Refused, []byte("by the wrong one")) }); err != nil {
		t.Fatal(err)
	}
	beats := time.NewTicker(quick)
	defer beats.Stop()
	go func() {
		for range beats.C {
			_ = wrong.Conn.PublishMsg(says(wrong, "9", -30*time.Minute))
		}
	}()
	d := q.Dispatcher(plain)
	end := runs(t, d.Serve)
	stop := runs(t, worker(t, n, dir, "right", 1, quick, func(_ context.Context, run, _ string) string { return run }).Serve)
	knows := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.workers["wrong"] != nil && d.workers["right"] != nil
	}
	for !knows() {
		time.Sleep(quick / 10)
	}
	for _, id := range []string{"one", "two", "three"} {
		r := run(id)
		r.Until = time.Now().Add(45 * time.Minute) // the wrong one takes none that is longer than half an hour
		if e := ended(t, submit(t, q, r)); e.State != Done || e.Worker != "right" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	v, err := Look(t.Context(), q.conn, 0)
	if err != nil || len(v.Workers) != 2 || v.Workers[0].Clock != 0 || v.Workers[1].Clock > -1700 {
		t.Errorf("%+v, %v", v, err)
	}
	stop()
	end()
	r := run("late")
	r.Until = time.Now().Add(2 * quick)
	ticket := submit(t, q, r)
	time.Sleep(time.Until(r.Until) + quick)
	runs(t, q.Dispatcher(plain).Serve) // which has heard no worker so far
	if e := ended(t, ticket); e.State != Late || string(e.Result) != "by the wrong one" {
		t.Errorf("%+v", e)
	}
}

// A run does not wait for a worker that leaves: another one says why it refuses the run.
func TestLeavingWorkerTakesNothing(t *testing.T) {
	d := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain)
	leaves := says(&Worker{Name: "leaves"}, "0", 0)
	leaves.Header.Set(headDrain, "true")
	d.beat(leaves)
	d.beat(says(&Worker{Name: "wrong"}, "1", time.Hour))
	if to := d.pick(&Run{Until: time.Now().Add(time.Minute)}); to == nil || to.Worker != "wrong" {
		t.Errorf("it is for %+v", to)
	}
}
