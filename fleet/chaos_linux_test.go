// Package fleet has the tests of a whole fleet, with processes that are killed and stopped. The packages are in internal/fleet.
package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// beat is longer than that of other tests: the machine is busy, and what is late is lost.
const beat = 100 * time.Millisecond

var count = flag.Int("runs", 120, "how many runs TestChaos has")

// part is what a process of the fleet gets, as JSON in its environment.
type part struct {
	Role    string
	Node    string // folder
	Name    string // of a worker
	Seed    []byte // of its key, or that of a dispatcher's
	Public  ed25519.PublicKey
	Cache   string // folder that workers share
	Effects string // folder that scripts write to
}

const partVariable = "FLEET_PART"

func TestMain(m *testing.M) {
	text := os.Getenv(partVariable)
	if text == "" {
		flag.Parse()
		os.Exit(m.Run())
	}
	p := &part{}
	err := json.Unmarshal([]byte(text), p)
	if err == nil {
		err = map[string]func(*part, context.Context) error{"worker": (*part).work, "dispatcher": (*part).dispatch}[p.Role](p, context.Background())
	}
	fmt.Fprintln(os.Stderr, p.Role, p.Name, err)
	os.Exit(1)
}

func (p *part) dispatch(ctx context.Context) error {
	n, err := node.Open(ctx, &node.Options{Dir: p.Node})
	if err != nil {
		return err
	}
	q, err := dispatch.Open(ctx, n.Conn(), &dispatch.Options{Beat: beat})
	if err != nil {
		return err
	}
	signer := &relay.Signer{Name: "d", Key: ed25519.NewKeyFromSeed(p.Seed), Conn: n.Conn()}
	return q.Dispatcher(signer.Seal).Serve(ctx)
}

func (p *part) work(ctx context.Context) error {
	conn, err := node.Dial(p.Node, p.Seed)
	if err != nil {
		return err
	}
	sandbox, err := confine.New(nil)
	if err != nil {
		return err
	}
	w := &relay.Worker{Conn: conn, Name: p.Name, Slots: 4, Beat: beat, Keys: map[string]ed25519.PublicKey{"d": p.Public},
		Scripts:  script.Options{Runner: &opened{sandbox, p.Effects}, LookPath: exec.LookPath, Cache: filepath.Join(p.Cache, p.Name)},
		Contents: &content.Cache{Dir: store.Dir{Root: p.Cache}}}
	return w.Serve(ctx)
}

// opened lets the scripts of a sandbox write to one more folder.
type opened struct {
	runner.Runner
	dir string
}

func (o *opened) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	more := *c
	more.Write = append(more.Write[:len(more.Write):len(more.Write)], o.dir)
	return o.Runner.Run(ctx, &more)
}

// While dispatchers and workers are killed, and a worker is stopped for longer than it may be silent, every run is done or lost, none is done
// twice, none is done without its effect, and no process of a script stays. Where runs may be done twice some are: so the count would show it.
func TestChaos(t *testing.T) {
	if got := chaos(t, *count, false); got.done < *count/4 || got.twice != 0 || got.processes == 0 {
		t.Errorf("%+v", got)
	}
	for range 5 { // one finds it nearly always
		if got := chaos(t, 60, true); got.twice > 0 {
			return
		}
	}
	t.Error("nothing was done twice although it may be")
}

type ends struct{ done, gone, lost, twice, processes int }

// crowd is a fleet whose processes come and go.
type crowd struct {
	t       *testing.T
	ctx     context.Context
	node    *node.Node
	part    part // what all have
	private ed25519.PrivateKey
	all     map[string]*exec.Cmd
}

func (c *crowd) begin(role, name string) {
	c.t.Helper()
	p := c.part
	p.Role, p.Name, p.Seed = role, name, c.private.Seed()
	if role == "worker" {
		var err error
		if p.Seed, err = c.node.Admit(name); err != nil {
			c.t.Fatal(err)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.ctx, os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.all[name] = cmd
}

func (c *crowd) signal(name string, s syscall.Signal) { _ = c.all[name].Process.Signal(s) }

func (c *crowd) replace(role, name string) {
	c.signal(name, syscall.SIGKILL)
	_ = c.all[name].Wait()
	c.begin(role, name)
}

// disturb does what happens at a beat.
func (c *crowd) disturb(n int) {
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

func chaos(t *testing.T, count int, repeat bool) ends {
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
	c := &crowd{t: t, ctx: ctx, node: n, private: private, part: part{Node: dir, Public: public, Cache: scratch.Dir(t), Effects: scratch.Dir(t)}, all: map[string]*exec.Cmd{}}
	for _, name := range []string{"a", "b", "c"} {
		c.begin("worker", name)
	}
	for _, name := range []string{"x", "y"} {
		c.begin("dispatcher", name)
	}
	copies := scratch.Dir(t)
	caller := &relay.Caller{Queue: q, Conn: n.Conn(), Beat: beat, Temp: copies, Seal: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return s.Seal(ctx, copies) }}
	s := probe.In(t, t.TempDir(), probe.Tree{"scripts/a.sh": "sleep $3; echo x >>\"$2/$1\"; sleep $3; echo did\n"})
	var got ends
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			run := fmt.Sprintf("r%d", i)
			r, err := send(ctx, caller, s, run, c.part.Effects, fmt.Sprintf("0.%02d", i*7%20), repeat)
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
	for now := time.Now(); c.processes() < 4; time.Sleep(beat) {
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
	t.Logf("%d runs, repeat %v: %+v", count, repeat, got)
	return got
}

// until disturbs the fleet until all runs have ended.
func (c *crowd) until(over chan bool, count int, got *ends) {
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
		got.processes = max(got.processes, c.processes())
		c.disturb(n)
	}
}

// stop kills what is there, and looks for what stays.
func (c *crowd) stop() {
	for _, cmd := range c.all {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for range 100 {
		if c.processes() == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Errorf("%d processes of scripts stay", c.processes())
}

// processes returns how many processes of scripts there are: they have the folder in their arguments.
func (c *crowd) processes() (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(c.part.Effects)) { // else it has ended
			n++
		}
	}
	return n
}

func send(ctx context.Context, c *relay.Caller, s *skill.Skill, run, effects, wait string, repeat bool) (*order.Result, error) {
	id, err := s.ID(ctx)
	if err != nil {
		return nil, err
	}
	o := &order.Order{Version: order.Version, Run: run, Call: order.Run, Skill: id, Script: &order.Script{Name: "a", File: "scripts/a.sh"}, Args: []string{run, effects, wait}, JSON: script.JSONNo,
		Watch: wait > "0.10", Repeat: repeat}
	return c.Send(ctx, o, s, func(*order.Part) error { return nil })
}

// judge counts how a run ended, by what its caller knows and what there is of it.
func (c *crowd) judge(got *ends, run string, r *order.Result, err error) {
	effects := c.effects(run)
	switch {
	case errors.Is(err, dispatch.ErrResultGone): // its worker was killed when it was done, and its dispatcher before it said so
		if got.gone++; effects == 0 {
			c.t.Errorf("%s is done, without an effect", run)
		}
	case err != nil && strings.Contains(err.Error(), "it may have run"):
		got.lost++
	case err != nil:
		c.t.Errorf("%s: %v", run, err)
	case r.Failure != nil:
		c.t.Errorf("%s: %v", run, r.Failure.Err())
	default:
		if got.done++; effects == 0 || r.Output.Text != "did\n" {
			c.t.Errorf("%s is done, %d effects, result %q", run, effects, r.Output.Text)
		}
	}
}

// effects returns how often a run had its effect.
func (c *crowd) effects(run string) int {
	b, _ := os.ReadFile(filepath.Join(c.part.Effects, run))
	return bytes.Count(b, []byte("x\n"))
}
