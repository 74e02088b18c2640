// Package fleet has the tests of a whole fleet, with processes that are killed and stopped. The packages are in internal/fleet.
package fleet

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// part is what a process of the fleet gets, as JSON in its environment.
type part struct {
	Role    string
	Node    string // folder
	Name    string // of a worker, or of one start of a replica
	Seed    []byte // of its key, or that of a dispatcher's
	Public  ed25519.PublicKey
	Cache   string // folder that workers and replicas share
	Effects string // folder that scripts write to
	Skill   string // folder of skills
	Beat    time.Duration

	Cluster *node.Cluster // of a node among three
	Servers string        // of a worker that comes by a credential
	Creds   []byte
	CA      string
	Repeat  bool // runs may be done twice
	Escape  bool // a broken worker: its scripts outlive it
}

const (
	partVariable  = "FLEET_PART"
	clockVariable = "FLEET_CLOCK" // names a file with seconds that are added to the clock, see scripts/test.sh
)

func TestMain(m *testing.M) {
	text := os.Getenv(partVariable)
	if text == "" {
		flag.Parse()
		os.Exit(m.Run())
	}
	p := &part{}
	err := json.Unmarshal([]byte(text), p)
	if err == nil {
		err = map[string]func(*part, context.Context) error{
			"worker": (*part).work, "dispatcher": (*part).dispatch, "node": (*part).dispatch, "replica": (*part).submit, "clock": (*part).clock,
		}[p.Role](p, context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, p.Role, p.Name, err)
		os.Exit(1)
	}
}

// queue opens the queue of a node.
func (p *part) queue(ctx context.Context, n *node.Node) (*dispatch.Queue, error) {
	return dispatch.Open(ctx, n.Conn(), &dispatch.Options{Beat: p.Beat, Replicas: (&node.Options{Cluster: p.Cluster}).Copies(), AtOnce: 128, Quota: 100000})
}

// dispatch has a node, or joins it, and hands runs to workers.
func (p *part) dispatch(ctx context.Context) error {
	if p.Cluster != nil {
		var err error
		if p.Cluster.Issuer, err = node.NewIssuer(ctx, p.Node); err != nil {
			return err
		}
	}
	open := func() (*node.Node, error) {
		return node.Open(ctx, &node.Options{Dir: p.Node, Cluster: p.Cluster, Log: func(text string) { p.say("log %s", text) }})
	}
	if p.Role == "dispatcher" {
		open = func() (*node.Node, error) { return node.Join(p.Node) }
	}
	n, err := open()
	if err != nil {
		return err
	}
	q, err := p.queue(ctx, n)
	if err != nil {
		return err
	}
	signer := &relay.Signer{Name: "d", Key: ed25519.NewKeyFromSeed(p.Seed), Conn: n.Conn()}
	return q.Dispatcher(signer.Seal).Serve(ctx)
}

func (p *part) work(ctx context.Context) error {
	conn, err := p.connect()
	if err != nil {
		return err
	}
	sandbox, err := confine.New(nil)
	if err != nil {
		return err
	}
	w := &relay.Worker{Conn: conn, Name: p.Name, Slots: 4, Beat: p.Beat, Keys: map[string]ed25519.PublicKey{"d": p.Public},
		Host: func(string) (*script.Options, error) {
			return &script.Options{Runner: &opened{sandbox, p.Effects, p.Escape}, LookPath: exec.LookPath, Cache: filepath.Join(p.Cache, p.Name)}, nil
		},
		Contents: &content.Cache{Dir: store.Dir{Root: p.Cache}}}
	return w.Serve(ctx)
}

func (p *part) connect() (*nats.Conn, error) {
	for { // until a node is there
		conn, err := (&node.Remote{URL: p.Servers, Creds: p.Creds, CA: p.CA}).Connect(nil)
		if err == nil || errors.Is(err, nats.ErrAuthorization) {
			return conn, err
		}
		time.Sleep(p.Beat)
	}
}

// opened lets the scripts of a sandbox write to one more folder.
type opened struct {
	runner.Runner
	dir    string
	escape bool
}

func (o *opened) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	if o.escape {
		cmd := &exec.Cmd{Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
		out, err := cmd.Output()
		return &runner.Output{Stdout: out}, err
	}
	more := *c
	more.Write = append(more.Write[:len(more.Write):len(more.Write)], o.dir)
	return o.Runner.Run(ctx, &more)
}

var printing sync.Mutex

// say writes a line for the test.
func (p *part) say(format string, a ...any) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Printf(format+"\n", a...)
}

// clock says what time it is, to show that the clock can be changed.
func (p *part) clock(context.Context) error {
	time.Sleep(time.Second) // until the file was read
	p.say("%d", time.Now().Unix())
	return nil
}

// submit has runs done one after the other, several at a time, and one more now and then, until standard input ends. It joins the node of a
// folder again when that was killed.
func (p *part) submit(ctx context.Context) error {
	s, err := content.At(ctx, filepath.Join(p.Skill, "probe"), skill.ID{Layer: "user", Name: "probe"})
	if err != nil {
		return err
	}
	enough := make(chan bool)
	go func() { _, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin)); close(enough) }()
	var number atomic.Int64
	var all sync.WaitGroup
	more := func() bool {
		select {
		case <-enough:
			return false
		default:
			return true
		}
	}
	for more() {
		n, err := node.Join(p.Node)
		if err != nil {
			time.Sleep(p.Beat)
			continue
		}
		if q, err := p.queue(ctx, n); err == nil {
			c := &relay.Caller{Queue: q, Conn: n.Conn(), Beat: p.Beat, Temp: p.Cache, Seal: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return s.Seal(ctx, p.Cache) }}
			one := func() {
				run := fmt.Sprintf("%s-%d", p.Name, number.Add(1))
				p.say("sent %s", run)
				p.say("end %s %s", run, p.one(ctx, c, s, run))
			}
			var loops sync.WaitGroup
			for range 6 {
				loops.Go(func() {
					for more() && !n.Conn().IsClosed() {
						one()
					}
				})
			}
			for more() && !n.Conn().IsClosed() { // a client does not wait for others
				all.Go(one)
				time.Sleep(500 * time.Millisecond)
			}
			loops.Wait()
		}
		all.Wait()
		n.Close()
	}
	p.say("over")
	return nil
}

// one has one run done and returns how its caller sees the end.
func (p *part) one(ctx context.Context, c *relay.Caller, s *skill.Skill, run string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	wait, last := "0.0", run[len(run)-1]
	switch {
	case strings.HasSuffix(run, "50") || p.Escape && last == '5':
		wait = "6" // when its worker is killed, its script runs
	case last%2 == 0:
		wait = "0." + string(last)
	}
	r, err := send(ctx, c, s, run, p.Effects, wait, p.Repeat)
	switch {
	case err == nil && r.Failure != nil:
		return "failed " + strings.Join(strings.Fields(r.Failure.Err().Error()), " ")
	case err == nil && r.Output.Text == "did\n":
		return "done"
	case err == nil:
		return fmt.Sprintf("wrong %q", r.Output.Text)
	case errors.Is(err, dispatch.ErrResultGone):
		return "gone"
	case strings.Contains(err.Error(), "it may have run"):
		return "lost"
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return "endless"
	}
	return "cut " + strings.Join(strings.Fields(err.Error()), " ") // its caller does not know
}

func send(ctx context.Context, c *relay.Caller, s *skill.Skill, run, effects, wait string, repeat bool) (*order.Result, error) {
	id, err := s.ID(ctx)
	if err != nil {
		return nil, err
	}
	o := &order.Order{Version: order.Version, Run: run, Call: order.Run, Skill: id, Script: &order.Script{Name: "a", File: "scripts/a.sh"}, Args: []string{run, effects, wait}, JSON: script.JSONNo,
		Watch: wait > "0.10", Repeat: repeat, Until: time.Now().Add(time.Minute)}
	return c.Send(ctx, o, s, func(*order.Part) error { return nil })
}
