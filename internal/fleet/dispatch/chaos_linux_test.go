package dispatch

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// chaosBeat is longer than that of the other tests: the machine is busy, and what is late is lost.
const chaosBeat = 100 * time.Millisecond

func TestMain(m *testing.M) {
	role, dir, seed := os.Getenv("CHAOS_ROLE"), os.Getenv("CHAOS_DIR"), os.Getenv("CHAOS_SEED")
	serve := map[string]func(string, string) error{"worker": chaosWorker, "dispatcher": chaosDispatcher}[role]
	if serve == nil {
		os.Exit(m.Run())
	}
	if err := serve(dir, seed); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
	}
	os.Exit(1)
}

func chaosDispatcher(dir, _ string) error {
	n, err := node.Open(context.Background(), &node.Options{Dir: dir})
	if err != nil {
		return err
	}
	q, err := Open(context.Background(), n.Conn(), &Options{Beat: chaosBeat})
	if err != nil {
		return err
	}
	return q.Dispatcher(plain).Serve(context.Background())
}

// chaosWorker works for some time, and has its effect in the middle.
func chaosWorker(dir, seed string) error {
	conn, err := node.Dial(dir, []byte(seed))
	if err != nil {
		return err
	}
	name := os.Getenv("CHAOS_NAME")
	w := &Worker{Conn: conn, Name: name, Start: crand.Text(), Slots: 4, Beat: chaosBeat, Open: func(r *Run, token uint64) (func(context.Context) []byte, error) {
		return func(context.Context) []byte {
			time.Sleep(rand.N(80 * time.Millisecond))
			conn.Publish("from."+name+".effect."+r.ID, nil)
			conn.Flush()
			time.Sleep(rand.N(80 * time.Millisecond))
			return fmt.Append(nil, token)
		}, nil
	}}
	return w.Serve(context.Background())
}

// While dispatchers are killed, a worker is killed and another one stopped for longer than it may be silent, every run is done or lost, none is
// done twice, and none is done without its effect. Where runs may be done twice some are: so the count would show it.
func TestChaos(t *testing.T) {
	if done, twice := chaos(t, 100, false); done == 0 || twice != 0 {
		t.Errorf("done %d, twice %d", done, twice)
	}
	for range 5 { // one finds it nearly always
		if _, twice := chaos(t, 60, true); twice > 0 {
			return
		}
	}
	t.Error("nothing was done twice although it may be")
}

func chaos(t *testing.T, count int, repeat bool) (done, twice int) {
	n, dir := start(t)
	q, err := Open(t.Context(), n.Conn(), &Options{Beat: chaosBeat})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	effects := map[string]int{}
	sub, err := n.Conn().Subscribe("from.*.effect.*", func(m *nats.Msg) {
		mu.Lock()
		effects[strings.Split(m.Subject, ".")[3]]++
		mu.Unlock()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := func(role, name string) *exec.Cmd {
		seed := []byte(nil)
		if role == "worker" {
			if seed, err = n.Admit(name); err != nil {
				t.Fatal(err)
			}
		}
		c := exec.CommandContext(ctx, os.Args[0])
		c.Env = append(os.Environ(), "CHAOS_ROLE="+role, "CHAOS_DIR="+dir, "CHAOS_SEED="+string(seed), "CHAOS_NAME="+name)
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	workers := []*exec.Cmd{begin("worker", "a"), begin("worker", "b"), begin("worker", "c")}
	dispatchers := []*exec.Cmd{begin("dispatcher", ""), begin("dispatcher", "")}
	var tickets []*Ticket
	for i := range count {
		r := run(fmt.Sprintf("r%d", i))
		r.Repeat = repeat
		tickets = append(tickets, submit(t, q, r))
	}
	for n := 0; !over(t, q); n++ {
		switch n {
		case 4:
			workers[0].Process.Kill()
			workers[0].Wait()
			workers[0] = begin("worker", "a")
		case 6:
			workers[1].Process.Signal(syscall.SIGSTOP)
		case 14:
			workers[1].Process.Signal(syscall.SIGCONT)
		}
		if n%3 == 2 && n < 30 {
			i := n % 2
			dispatchers[i].Process.Kill()
			dispatchers[i].Wait()
			dispatchers[i] = begin("dispatcher", "")
		}
		time.Sleep(chaosBeat)
		if n > 600 {
			t.Fatal("the queue is not empty after a minute")
		}
	}
	time.Sleep(3 * chaosBeat) // for effects on their way
	lost, gone := 0, 0
	mu.Lock()
	defer mu.Unlock()
	for i, ticket := range tickets {
		e, err := ticket.Wait(ctx)
		id := fmt.Sprintf("r%d", i)
		switch {
		case errors.Is(err, ErrResultGone): // its worker was killed when it was done, and its dispatcher before it said so
			if gone++; effects[id] == 0 {
				t.Errorf("%s is done, without an effect", id)
			}
		case err != nil:
			t.Errorf("%s: %v", id, err)
		case e.State == Done:
			if done++; effects[id] == 0 || string(e.Result) != fmt.Sprint(e.Token) && !repeat {
				t.Errorf("%s is done by token %d, %d effects, result %q", id, e.Token, effects[id], e.Result)
			}
		case e.State == Lost:
			lost++
		default:
			t.Errorf("%s: %+v", id, e)
		}
		if effects[id] > 1 {
			twice++
		}
	}
	cancel()
	for _, c := range append(workers, dispatchers...) {
		c.Wait()
	}
	t.Logf("%d runs, repeat %v: done %d, their result gone %d, lost %d, twice %d", count, repeat, done, gone, lost, twice)
	return done, twice
}

func over(t *testing.T, q *Queue) bool {
	info, err := q.runs.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs == 0
}
