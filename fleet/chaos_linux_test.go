package fleet

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill"
)

// beat is longer than that of other tests: the machine is busy, and what is late is lost.
const beat = 100 * time.Millisecond

// While dispatchers and workers are killed, and a worker is stopped for longer than it may be silent, every run is done or lost, none is done
// twice, none is done without its effect, and no process of a script stays.
func TestChaos(t *testing.T) {
	if got := chaos(t, 120, broken{}); got.done < 30 || got.twice != 0 || got.hollow != 0 || got.orphans != 0 || got.processes == 0 {
		t.Errorf("%+v", got)
	}
}

// broken says what is wrong with a fleet, to show that it is found.
type broken struct {
	repeat bool // runs may be done twice
	hollow bool // scripts have no effect
	escape bool // scripts outlive their worker
}

// What TestChaos looks for is found where it is.
func TestChaosFinds(t *testing.T) {
	for name, row := range map[string]struct {
		broken
		found func(ends) int
	}{
		"twice":          {broken{repeat: true}, func(e ends) int { return e.twice }},
		"without effect": {broken{hollow: true}, func(e ends) int { return e.hollow }},
		"orphans":        {broken{escape: true}, func(e ends) int { return e.orphans }},
	} {
		found := 0
		for try := 0; try < 5 && found == 0; try++ { // one finds it nearly always
			found = row.found(chaos(t, 60, row.broken))
		}
		if found == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

type ends struct{ done, gone, lost, twice, hollow, orphans, processes int }

// single is a fleet of one node, which this process has.
type single struct {
	crowd
	node *node.Node
}

func (c *single) begin(role, name string) {
	c.t.Helper()
	p := c.part
	p.Role, p.Name = role, name
	if role == "worker" {
		var err error
		if p.Seed, err = c.node.Admit(name); err != nil {
			c.t.Fatal(err)
		}
	}
	c.all[name] = c.command(p)
	if err := c.all[name].Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *single) replace(role, name string) {
	scripts := c.scripts(c.all[name].Process.Pid)
	c.signal(name, syscall.SIGKILL)
	_ = c.all[name].Wait()
	c.orphans += c.stay(scripts)
	c.begin(role, name)
}

// disturb does what happens at a beat.
func (c *single) disturb(n int) {
	worker := func(i int) string { return []string{"a", "b", "c"}[i%3] }
	switch n % 20 {
	case 4:
		c.replace("worker", worker(n/20))
	case 6:
		c.signal(worker(n/20+1), syscall.SIGSTOP)
	case 14:
		c.signal(worker(n/20+1), syscall.SIGCONT)
	}
	if n%3 == 2 {
		c.replace("dispatcher", []string{"x", "y"}[n%2])
	}
}

func chaos(t *testing.T, count int, b broken) ends {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, err := os.MkdirTemp("", "fleet") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n, err := node.Open(ctx, &node.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	q, err := dispatch.Open(ctx, n.Conn(), &dispatch.Options{Beat: beat, Quota: count})
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &single{newCrowd(t, part{Node: dir, Seed: private.Seed(), Public: public, Cache: scratch.Dir(t), Effects: scratch.Dir(t), Beat: beat, Escape: b.escape}), n}
	for _, name := range []string{"a", "b", "c"} {
		c.begin("worker", name)
	}
	for _, name := range []string{"x", "y"} {
		c.begin("dispatcher", name)
	}
	copies := scratch.Dir(t)
	caller := &relay.Caller{Queue: q, Conn: n.Conn(), Beat: beat, Temp: copies, Seal: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return s.Seal(ctx, copies) }}
	files := effect
	if b.hollow {
		files = probe.Tree{"scripts/a.sh": "sleep $3; echo did\n"}
	}
	s := probe.In(t, t.TempDir(), files)
	var got ends
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			run := fmt.Sprintf("r%d", i)
			r, err := send(ctx, caller, s, run, c.part.Effects, fmt.Sprintf("0.%02d", i*7%20), b.repeat)
			mu.Lock()
			defer mu.Unlock()
			c.judge(&got, run, r, err)
		})
	}
	over := make(chan bool)
	go func() { all.Wait(); close(over) }()
	c.until(over, count, &got)
	for name := range c.all {
		c.signal(name, syscall.SIGCONT)
	}
	time.Sleep(10 * beat) // until a worker that was stopped is silent or heard
	for i := range 4 {    // these are under way when all is killed
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ { // a busy machine may lose some
				_, _ = send(ctx, caller, s, fmt.Sprintf("last%d-%d", i, n), c.part.Effects, "100", false)
			}
		})
	}
	for now := time.Now(); len(c.scripts(0)) < 4; time.Sleep(beat) {
		if time.Since(now) > time.Minute {
			t.Fatal("the last runs do not begin")
		}
	}
	c.stop()
	cancel()
	all.Wait()
	for i := range count { // now that nobody can add one
		if c.effects(fmt.Sprintf("r%d", i)) > 1 {
			got.twice++
		}
	}
	got.orphans = c.orphans
	t.Logf("%d runs, %+v: %+v", count, b, got)
	return got
}

// until disturbs the fleet until all runs have ended.
func (c *single) until(over chan bool, count int, got *ends) {
	deadline := time.Now().Add(time.Minute + time.Duration(count)*beat)
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		case <-time.After(beat):
		}
		if time.Now().After(deadline) {
			c.t.Fatal("some runs have no end")
		}
		got.processes = max(got.processes, len(c.scripts(0)))
		c.disturb(n)
	}
}

// judge counts how a run ended, by what its caller knows and what there is of it.
func (c *single) judge(got *ends, run string, r *order.Result, err error) {
	effects := c.effects(run)
	switch {
	case errors.Is(err, dispatch.ErrResultGone): // its worker was killed when it was done, and its dispatcher before it said so
		got.gone++
	case err != nil && strings.Contains(err.Error(), "it may have run"):
		got.lost++
		return
	case err != nil:
		c.t.Errorf("%s: %v", run, err)
		return
	case r.Failure != nil:
		c.t.Errorf("%s: %v", run, r.Failure.Err())
		return
	default:
		if got.done++; r.Output.Text != "did\n" {
			c.t.Errorf("%s is done, result %q", run, r.Output.Text)
		}
	}
	if effects == 0 {
		got.hollow++
	}
}
