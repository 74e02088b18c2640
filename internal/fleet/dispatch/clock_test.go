package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A worker whose clock is wrong gets no run. A dispatcher whose own clock is wrong goes by those of the workers.
func TestClocks(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	for _, row := range []struct {
		ahead []time.Duration // workers' clocks; the first has most places
		by    []int           // that one is wrong, as a View says
		here  int             // likewise, the clock of the dispatcher
	}{
		{[]time.Duration{2 * time.Hour, 0, time.Second}, []int{7200, 0, 0}, 0},
		{[]time.Duration{-2 * time.Hour, 2 * time.Second}, []int{-7200, 0}, 0},
		{[]time.Duration{2 * time.Hour, 2*time.Hour + time.Second}, []int{0, 0}, -7200},
		{[]time.Duration{-2 * time.Hour, -2 * time.Hour, 0, -2 * time.Hour}, []int{0, 0, 7200, 0}, 7200},
		{[]time.Duration{time.Hour}, []int{3600}, 0}, // one against one
	} {
		d := q.Dispatcher(plain)
		for i, ahead := range row.ahead {
			m := nats.NewMsg("from." + string('a'+rune(i)) + ".beat")
			m.Header.Set(headFree, string('9'-rune(i)))
			m.Header.Set(headTime, time.Now().Add(ahead).Format(time.RFC3339Nano))
			d.beat(m)
		}
		clocks := d.clocks()
		for i, by := range row.by {
			name := string('a' + rune(i))
			if got := clocks[name]; max(got-by, by-got) > 5 {
				t.Errorf("%v: the clock of %s is wrong by %d s, not by %d", row.ahead, name, got, by)
			}
			if d.here(d.workers[name]) != (by == 0) {
				t.Errorf("%v: worker %s", row.ahead, name)
			}
		}
		if got := clocks[n.Conn().ConnectedServerName()]; max(got-row.here, row.here-got) > 5 {
			t.Errorf("%v: the clock here is wrong by %d s, not by %d", row.ahead, got, row.here)
		}
		off := -time.Duration(row.here) * time.Second
		if d.past(time.Now().Add(off+time.Minute)) || !d.past(time.Now().Add(off-time.Minute)) {
			t.Errorf("%v: what is past is not by the clock of most", row.ahead)
		}
	}
	right := worker(t, n, dir, "right", 1, quick, func(_ context.Context, run, _ string) string { return run })
	wrong := worker(t, n, dir, "wrong", 9, quick, nil)
	runs(t, q.Dispatcher(plain).Serve)
	runs(t, right.Serve)
	if _, err := n.Conn().Subscribe("from.right.beat", func(*nats.Msg) { // with each of its beats one of the other comes
		m := nats.NewMsg("from.wrong.beat")
		m.Header.Set(headFree, "9")
		m.Header.Set(headTime, time.Now().Add(time.Hour).Format(time.RFC3339Nano))
		_ = wrong.Conn.PublishMsg(m)
	}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two", "three"} {
		if e := ended(t, submit(t, q, run(id))); e.State != Done || e.Worker != "right" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	v, err := Look(t.Context(), q.conn, 0)
	if err != nil || v.Clocks["wrong"] < 3500 || len(v.Clocks) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if free, all := v.Places(); free > 1 || all != 1 {
		t.Errorf("%d of %d places", free, all)
	}
}
