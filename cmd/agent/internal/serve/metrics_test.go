package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/telemetry"
)

// sent is what goes to a collector: the last number of each metric and its attributes.
type sent map[string]float64

// fleetMetrics returns the metrics of a server with workers after something of each kind has happened.
func fleetMetrics(to sent) (*meters, *runs) {
	m := &meters{send: func(f *telemetry.Metric, n float64, attrs ...string) { to[f.Name+" "+strings.Join(attrs, " ")] = n }}
	r := newRuns(m)
	r.Worker(1)
	r.Worker(1)
	r.Worker(-1)
	r.Restarted()
	r.Failed("timeout")
	now := time.Now()
	r.Ended(&dispatch.RunView{State: dispatch.Lost, Queued: now.Add(-3 * time.Second), Began: now.Add(-time.Second), Ended: now})
	r.Ended(&dispatch.RunView{State: dispatch.Late, Queued: now, Ended: now})
	r.Looked(&dispatch.View{
		Waiting: map[string]int{"acme": 7, `b"`: 1}, Oldest: now.Add(-time.Minute), Running: 3,
		Nodes:   []dispatch.NodeView{{Name: "n1", Leads: true}, {Name: "n2"}, {Name: "n3", Gone: true}},
		Workers: []dispatch.WorkerView{{Name: "w1", Places: 8, Free: 5}, {Name: "w2", Places: 8, Free: 8, Silent: true}, {Name: "w3", Places: 8, Draining: true}},
		Disk:    map[string]dispatch.Use{"queue": {Used: 10, Of: 100}},
	})
	return m, r
}

func TestFleetMetrics(t *testing.T) {
	to := sent{}
	m, r := fleetMetrics(to)
	var text strings.Builder
	m.write(&text)
	for _, want := range []string{
		"agent_serve_workers 1", "agent_serve_worker_restarts_total 1", `agent_serve_run_failures_total{error_type="timeout"} 1`, `agent_serve_runs_total{end="lost"} 1`,
		`agent_serve_run_wait_seconds_bucket{le="1"} 0`, `agent_serve_run_wait_seconds_bucket{le="2.5"} 1`, `agent_serve_run_wait_seconds_bucket{le="+Inf"} 1`,
		"agent_serve_run_wait_seconds_count 1", "agent_serve_run_wait_seconds_sum 2", "agent_serve_run_duration_seconds_count 1",
		`agent_serve_queue_runs{tenant="acme"} 7`, `agent_serve_queue_runs{tenant="b\""} 1`, "agent_serve_queue_age_seconds 60", "agent_serve_runs_in_flight 3",
		"agent_serve_places 8", "agent_serve_places_free 5", `agent_serve_nodes{state="gone"} 1`, `agent_serve_nodes{state="up"} 2`, `agent_serve_queue_used_bytes{kept="queue"} 10`,
		"# TYPE agent_serve_runs_total counter", "# TYPE agent_serve_places gauge", "# TYPE agent_serve_run_wait_seconds histogram",
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text.String())
		}
	}
	for key, want := range map[string]float64{"agent.serve.queue.runs tenant acme": 7, "agent.serve.workers ": 1, "agent.serve.run.failures error.type timeout": 1, "agent.serve.places.free ": 5} {
		if to[key] != want {
			t.Errorf("%s: %g was sent, want %g", key, to[key], want)
		}
	}
	many := map[string]int{}
	for i := range 2 * maxTenants {
		many[string(rune('a'+i))] = i + 1
	}
	r.Looked(&dispatch.View{Waiting: many})
	text.Reset()
	m.write(&text)
	if n := strings.Count(text.String(), "agent_serve_queue_runs{"); n != maxTenants+1 || !strings.Contains(text.String(), `agent_serve_queue_runs{tenant="(others)"} 1275`) {
		t.Errorf("%d tenants in\n%s", n, text.String())
	}
	if strings.Contains(text.String(), "acme") || to["agent.serve.queue.runs tenant acme"] != 0 {
		t.Error("a tenant stays of which no run waits")
	}
}

// What the dashboard and the rules name exists where a server has workers, each metric of the fleet is in them, and the page has it.
func TestDashboard(t *testing.T) {
	var text strings.Builder
	m, _ := fleetMetrics(sent{})
	m.write(&text)
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join("../../../..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	board, rules, page := read("deploy/grafana-fleet.json"), read("deploy/alerts-fleet.yaml"), read("docs/fleet.md")
	if err := json.Unmarshal([]byte(board), new(any)); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal([]byte(rules), new(any)); err != nil {
		t.Error(err)
	}
	name := regexp.MustCompile(`agent_serve_[a-z_]+`)
	there := name.FindAllString(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(text.String(), ""), -1)
	used := name.FindAllString(board+rules, -1)
	for _, one := range used {
		if !slices.Contains(there, one) {
			t.Errorf("%s is no metric", one)
		}
	}
	for _, f := range m.all {
		if one := f.name; !slices.ContainsFunc(used, func(u string) bool { return u == one || u == one+"_bucket" }) {
			t.Errorf("nothing shows %s", one)
		} else if !strings.Contains(page, "`"+one+"`") {
			t.Errorf("docs/fleet.md has no %s", one)
		}
	}
}
