package fleet

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

var (
	count = flag.Int("runs", 100, "how many runs TestChaosOfThree has, at least")
	only  = flag.String("only", "", "a pattern of the kinds of faults that TestChaosOfThree has")
	clock = flag.Bool("clock", false, "let TestChaosOfThree set clocks: the program was built for it")
)

const (
	beat  = 200 * time.Millisecond // longer than that of other tests: the machine is busy, and what is late is lost
	again = 15 * time.Second       // after a fault has ended there is service again
)

// broken says what is wrong with a fleet, to show that it is found.
type broken struct {
	repeat bool // runs may be done twice
	hollow bool // scripts have no effect
	escape bool // scripts outlive their worker
}

// All runs end as done or lost, none twice, none done without its effect, and no process of a script stays, while workers are killed and stopped
// and dispatchers killed. Where one of these is not so it is found.
func TestChaos(t *testing.T) {
	for name, row := range map[string]struct {
		broken
		found func(verdict) bool
	}{
		"sound":          {broken{}, verdict.sound},
		"twice":          {broken{repeat: true}, func(v verdict) bool { return v.twice > 0 }},
		"without effect": {broken{hollow: true}, func(v verdict) bool { return v.hollow > 0 }},
		"orphans":        {broken{escape: true}, func(v verdict) bool { return v.orphans > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // one finds it nearly always
				c := newCrowd(t, 1, 3, row.broken)
				c.rounds(60, "dispatchers|worker (killed|stopped)")
				v := c.finish()
				if row.found(v) {
					return
				}
				if row.broken == (broken{}) {
					t.Fatalf("%+v", v)
				}
			}
			t.Error("nothing is found")
		})
	}
}

// The same holds for three nodes, with two replicas, while also nodes and replicas are killed and stopped; with -namespaces also while disks are
// full and networks cut or slow, and with -clock while clocks jump. After each fault there is service again soon.
func TestChaosOfThree(t *testing.T) {
	if moves(t) {
		return
	}
	c := newCrowd(t, 3, 4, broken{})
	if *clock {
		c.checkClock()
	}
	c.rounds(*count, *only)
	c.slowService()
	if v := c.finish(); !v.sound() {
		t.Errorf("%+v", v)
	}
}

// rounds has all kinds of faults that a pattern names, again and again until so many runs were sent.
func (c *crowd) rounds(count int, pattern string) {
	c.service("start", time.Now())
	kinds := c.kinds()
	only := regexp.MustCompile(pattern)
	maps.DeleteFunc(kinds, func(name string, _ func() func()) bool { return !only.MatchString(name) })
	for round := 0; round == 0 || c.ledger.sent() < count; round++ {
		names := slices.Sorted(maps.Keys(kinds))
		c.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			c.fault(name, kinds[name])
		}
		c.t.Logf("round %d: %v", round, c.ledger)
	}
}

// jump sets the clock of a process.
func (c *crowd) jump(name string) func() {
	set := func(seconds int) {
		if err := os.WriteFile(filepath.Join(c.clocks, name), fmt.Appendf(nil, "%d\n", seconds), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	set([]int{-7200, -600, -30, 30, 600, 7200}[c.random.IntN(6)])
	return func() { set(0) }
}

// checkClock shows that a clock can be set.
func (c *crowd) checkClock() {
	if err := os.WriteFile(filepath.Join(c.clocks, "clock"), []byte("-3600\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command(part{Role: "clock"})
	cmd.Env = append(cmd.Env, clockVariable+"="+filepath.Join(c.clocks, "clock"))
	out, err := cmd.Output()
	got, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if d := time.Now().Unix() - got; err != nil || d < 3590 || d > 3610 {
		c.t.Fatalf("a clock was set an hour back, and is %d s behind (%v): see step_chaos in scripts/test.sh", d, err)
	}
}

func one[T any](c *crowd, of ...T) T { return of[c.random.IntN(len(of))] }

// kinds returns the kinds of faults. Each begins a fault and returns what ends it.
func (c *crowd) kinds() map[string]func() func() {
	worker := func() string { return one(c, c.workers...) }
	node := func() string { return one(c, c.nodes...) }
	replica := func() string { return one(c, c.replicas...) }
	out := map[string]func() func(){
		"worker killed":  func() func() { return c.kill(worker()) },
		"worker stopped": func() func() { return c.pause(worker()) },
		"dispatchers":    c.dispatchers,
		"replica killed": func() func() { return c.kill(replica()) },
		"leader killed":  func() func() { return c.kill(c.leader()) },
		"leader stopped": func() func() { return c.pause(c.leader()) },
	}
	if c.net != nil {
		maps.Copy(out, map[string]func() func(){
			"disk full":     func() func() { return fill(c.t, c.parts[node()].Node) },
			"leader's disk": func() func() { return fill(c.t, c.parts[c.leader()].Node) },
			"worker cut":    func() func() { return c.net.cut(worker()) },
			"worker slow":   func() func() { return c.net.slow(worker()) },
			"node cut":      func() func() { return c.net.cut(node()) },
			"leader cut":    func() func() { return c.net.cut(c.leader()) },
			"node slow":     func() func() { return c.net.slow(node()) },
			"node dead":     func() func() { return c.dead(node()) },
		})
	}
	if *clock {
		out["clock of a node"] = func() func() { return c.jump(node()) }
		out["clock of a worker"] = func() func() { return c.jump(worker()) }
		out["clock of a replica"] = func() func() { return c.jump(replica()) }
	}
	return out
}

// dispatchers has two more dispatchers, one of which is killed and started again every moment.
func (c *crowd) dispatchers() (end func()) {
	names := []string{"x", "y"}
	for i, name := range names {
		p := c.parts[c.nodes[i%len(c.nodes)]]
		p.Role, p.Name = "dispatcher", name
		c.begin(name, p)
	}
	for i := range 10 {
		time.Sleep(3 * beat / 2)
		c.kill(names[i%2])()
	}
	return func() { c.kill("x"); c.kill("y") }
}

// dead has the machine of a node gone: its connections do not end. Its workers go to other nodes soon.
func (c *crowd) dead(name string) func() {
	mend := c.net.cut(name)
	from := time.Now()
	start := c.kill(name)
	other := map[string]string{"n0": "n1", "n1": "n2", "n2": "n0"}[name]
	heard, until := map[string]bool{}, from.Add(4*again)
	for len(heard) < len(c.workers) {
		if c.beats(other, heard, until); time.Now().After(until) {
			c.t.Fatalf("only %v come to another node", heard)
		}
	}
	c.note("workers of a dead node", time.Since(from))
	return func() { mend(); start() }
}

// beats adds the workers whose beats come to a node, until it has all, the node's server starts again, or the time is up.
func (c *crowd) beats(at string, heard map[string]bool, until time.Time) {
	n := c.join(at)
	defer n.Close()
	beats, err := n.Conn().SubscribeSync("from.*.beat")
	for err == nil && len(heard) < len(c.workers) && time.Now().Before(until) {
		var m *nats.Msg
		if m, err = beats.NextMsg(again); err == nil {
			heard[m.Subject] = true
		}
	}
}

// join connects to a node, whose server may be starting again.
func (c *crowd) join(name string) *node.Node {
	for end := time.Now().Add(again); ; time.Sleep(beat) {
		n, err := node.Join(c.parts[name].Node)
		if err == nil {
			return n
		}
		if time.Now().After(end) {
			c.t.Fatal(err)
		}
	}
}

// leader returns the node that leads the queue.
func (c *crowd) leader() string {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(beat) {
		for _, name := range c.nodes {
			if at := c.led(name); at != "" {
				return at
			}
		}
	}
	c.t.Fatal("the queue has no leader")
	return ""
}

// led returns which node leads the queue, as a node says; "" if it does not.
func (c *crowd) led(by string) string {
	n, err := node.Join(c.parts[by].Node)
	if err != nil {
		return ""
	}
	defer n.Close()
	js, err := jetstream.New(n.Conn())
	if err != nil {
		return ""
	}
	s, err := js.Stream(c.t.Context(), "RUNS")
	if err != nil || s.CachedInfo().Cluster == nil {
		return ""
	}
	return s.CachedInfo().Cluster.Leader
}

// fault has one fault, for some time, and waits for service.
func (c *crowd) fault(name string, begin func() func()) {
	end := begin()
	hold := time.Duration(1+c.random.IntN(4)) * time.Second
	if strings.HasSuffix(name, "cut") && c.random.IntN(3) == 0 {
		hold = 20 * time.Second // what is sent again waits longer each time
	}
	time.Sleep(hold)
	if c.random.IntN(3) == 0 && !strings.HasPrefix(name, "worker") { // another one at the same time
		c.kill(one(c, c.workers...))()
	}
	end()
	c.service(name, time.Now())
}

// service waits until a run that was sent after a moment is done for each replica, and notes how long that took.
func (c *crowd) service(kind string, from time.Time) time.Duration {
	for _, replica := range c.replicas {
		for !c.ledger.served(replica, from) {
			if time.Since(from) > 4*again {
				c.t.Errorf("%s: no service for %s (%v)", kind, replica, c.ledger)
				return c.note(kind, time.Since(from))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return c.note(kind, time.Since(from))
}

// note notes for how long there was no service.
func (c *crowd) note(kind string, gap time.Duration) time.Duration {
	if c.gaps[kind] = append(c.gaps[kind], gap); gap > again && kind != "start" {
		c.t.Errorf("%s: service again after %v", kind, gap)
	}
	return gap
}

// slowService shows that a gap is found: two nodes of three are stopped.
func (c *crowd) slowService() {
	first, second := c.pause("n1"), c.pause("n2")
	const long = 3 * time.Second
	time.AfterFunc(long, func() { first(); second() })
	if gap := c.service("control: most nodes stopped", time.Now()); gap < long {
		c.t.Errorf("service after %v, while most nodes were stopped", gap)
	}
}
