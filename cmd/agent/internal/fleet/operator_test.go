package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
)

// view is that of a fleet in which nothing is wrong.
func view() *dispatch.View {
	return &dispatch.View{
		Nodes: []dispatch.NodeView{{Name: "n1", Leads: true}, {Name: "n2"}}, Servers: []string{"n1"}, Waiting: map[string]int{"acme": 89}, Quota: 100,
		Workers: []dispatch.WorkerView{{Name: "w1", Places: 2, Heard: time.Now()}}, Disk: map[string]dispatch.Use{"queue": {Used: 89 << 20, Of: 100 << 20}},
	}
}

// Each thing that is wrong is said, with what to do, and nothing else.
func TestJudge(t *testing.T) {
	for what, wrong := range map[string]func(*dispatch.View){
		"":                       func(*dispatch.View) {},
		"do not choose a leader": func(v *dispatch.View) { v.Leaderless = true },
		"node n2 is gone":        func(v *dispatch.View) { v.Nodes[1].Gone = true },
		"no server hands out":    func(v *dispatch.View) { v.Servers = nil },
		"no worker takes runs":   func(v *dispatch.View) { v.Workers[0].Draining = true },
		"worker w2 was last heard 7s ago": func(v *dispatch.View) {
			v.Workers = append(v.Workers, dispatch.WorkerView{Name: "w2", Silent: true, Heard: time.Now().Add(-7 * time.Second)})
		},
		"the clock of worker w1 and that of a server differ by 2h0m0s": func(v *dispatch.View) { v.Workers[0].Clock = -7200 },
		"90 of 100 MiB of the queue are used":                          func(v *dispatch.View) { v.Disk["queue"] = dispatch.Use{Used: 90 << 20, Of: 100 << 20} },
		`90 of at most 100 runs of tenant "acme" wait`:                 func(v *dispatch.View) { v.Waiting["acme"] = 90 },
	} {
		v := view()
		wrong(v)
		h := Judge(v)
		switch {
		case what == "" && h.Healthy && len(h.Problems) == 0:
		case what == "" || h.Healthy || len(h.Problems) != 1 || !strings.Contains(h.Problems[0].What, what) || h.Problems[0].Cure == "":
			t.Errorf("%q: %+v", what, h)
		}
	}
	v := view() // each run has a worker of its own
	v.Workers, v.Alone = nil, true
	if h := Judge(v); !h.Healthy {
		t.Errorf("%+v", h)
	}
}

// A server is ready while the nodes answer and the queue has room, and stays so for the time in which a leader is chosen.
func TestReady(t *testing.T) {
	full := view()
	full.Disk["queue"] = dispatch.Use{Used: 100<<20 - 1000, Of: 100 << 20}
	for what, c := range map[string]struct {
		f     *Fleet
		ready bool
	}{
		"it has just begun":      {&Fleet{now: &session{}, looked: time.Now()}, true},
		"a leader is chosen":     {&Fleet{now: &session{}, looked: time.Now().Add(-deaf + time.Second), view: *view()}, true},
		"no leader is chosen":    {&Fleet{now: &session{}, looked: time.Now().Add(-deaf - time.Second), view: *view()}, false},
		"the queue has gone":     {&Fleet{looked: time.Now(), view: *view()}, false},
		"no further run fits in": {&Fleet{now: &session{}, looked: time.Now(), view: *full}, false},
	} {
		if err := c.f.Ready(); (err == nil) != c.ready {
			t.Errorf("%s: %v", what, err)
		}
	}
}
