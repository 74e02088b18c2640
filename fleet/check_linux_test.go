package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	random "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// crowd is a fleet whose processes come and go.
type crowd struct {
	t       *testing.T
	part    part            // what all have
	parts   map[string]part // by name
	all     map[string]*exec.Cmd
	inputs  map[string]io.Closer
	readers sync.WaitGroup
	ledger  *ledger
	net     *network // nil without namespaces
	clocks  string   // folder
	starts  int
	random  *random.Rand
	orphans int                        // processes of scripts that outlived their worker
	gaps    map[string][]time.Duration // without service, by kind of fault

	nodes, workers, replicas []string
}

// command returns the command of a process of the fleet, which ends with the test.
func (c *crowd) command(p part, in ...string) *exec.Cmd {
	text, err := json.Marshal(p)
	if err != nil {
		c.t.Fatal(err)
	}
	args := append(in, os.Args[0])
	cmd := exec.CommandContext(c.t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	return cmd
}

func (c *crowd) signal(name string, s syscall.Signal) { _ = c.all[name].Process.Signal(s) }

// stop kills what is there, and looks for what stays.
func (c *crowd) stop() {
	for _, cmd := range c.all {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	c.orphans += c.stay(c.scripts(0))
}

// stay returns how many processes of scripts are still there after a while.
func (c *crowd) stay(pids []int) (n int) {
	for end := time.Now().Add(5 * time.Second); len(pids) > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now := c.scripts(0)
		pids = slices.DeleteFunc(pids, func(pid int) bool { return !slices.Contains(now, pid) })
	}
	return len(pids)
}

// scripts returns the processes of scripts, which have the folder of effects in their arguments: those below a process, or all for 0.
func (c *crowd) scripts(below int) (out []int) {
	parents := map[int]int{}
	var found []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		dir := filepath.Dir(file)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(c.part.Effects)) { // else it has ended
			found = append(found, pid)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil {
			if _, rest, ok := strings.Cut(string(b), ") "); ok {
				parents[pid], _ = strconv.Atoi(strings.Fields(rest)[1])
			}
		}
	}
	for _, pid := range found {
		at := pid
		for at > 1 && at != below {
			at = parents[at]
		}
		if at == below || below == 0 {
			out = append(out, pid)
		}
	}
	return out
}

// effects returns how often a run had its effect.
func (c *crowd) effects(run string) int {
	b, _ := os.ReadFile(filepath.Join(c.part.Effects, run))
	return bytes.Count(b, []byte("x\n"))
}

// ledger is what the callers of runs know.
type ledger struct {
	mu   sync.Mutex
	runs map[string]*run
	done map[string][]*run // by replica, as they ended
	over int               // replicas that have ended by themselves
}

type run struct {
	sent time.Time
	end  string // "" if its caller did not hear it
}

func newLedger() *ledger { return &ledger{runs: map[string]*run{}, done: map[string][]*run{}} }

// note reads a line of a process.
func (l *ledger) note(name, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what, rest, _ := strings.Cut(line, " ")
	id, end, _ := strings.Cut(rest, " ")
	switch what {
	case "sent":
		l.runs[id] = &run{sent: time.Now()}
	case "end":
		r := l.runs[id]
		if r.end = end; end == "done" {
			l.done[name] = append(l.done[name], r)
		}
	case "over":
		l.over++
	case "log":
		fmt.Fprintln(os.Stderr, name, rest)
	}
}

func (l *ledger) sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.runs)
}

// served reports whether a run that was sent by a replica after a moment is done.
func (l *ledger) served(replica string, from time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.done[replica]
	for i := len(done) - 1; i >= max(0, len(done)-200); i-- {
		if done[i].sent.After(from) {
			return true
		}
	}
	return false
}

// String counts how runs ended, as their callers know.
func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ends := map[string]int{}
	for _, r := range l.runs {
		what, _, _ := strings.Cut(r.end, " ")
		ends[what]++
	}
	return fmt.Sprint(ends)
}

// verdict is what is found when all runs have ended.
type verdict struct{ runs, done, lost, gone, failed, unheard, twice, hollow, endless, wrong, orphans int }

// begun are the beginnings of what a caller reads of a run that had no effect.
var begun = []string{"no worker had time", "does not take it", "its content does not come", "it was taken back"}

// judge compares what callers know with the claims and the effects. states has how each run ended, by its claim.
func (c *crowd) judge(l *ledger, states map[string]string) (v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bad := func(what *int, id string, r *run, n int) {
		if *what++; *what < 10 {
			c.t.Logf("%s: its caller reads %q, its claim %q, effects %d", id, r.end, states[id], n)
		}
	}
	for id, r := range l.runs {
		v.runs++
		n, state := c.effects(id), states[id]
		if n > 1 {
			bad(&v.twice, id, r, n)
		}
		if state == "running" {
			bad(&v.endless, id, r, n)
		}
		if n > 0 && state != "done" && state != "lost" {
			bad(&v.wrong, id, r, n)
		}
		end, why, _ := strings.Cut(r.end, " ")
		switch {
		case end == "done":
			if v.done++; n == 0 {
				bad(&v.hollow, id, r, n)
			}
			if state != "done" {
				bad(&v.wrong, id, r, n)
			}
		case end == "lost":
			v.lost++
		case end == "gone":
			v.gone++
		case end == "failed":
			if v.failed++; n > 0 && slices.ContainsFunc(begun, func(text string) bool { return strings.Contains(why, text) }) {
				bad(&v.wrong, id, r, n)
			}
		case end == "" || end == "cut": // its caller was killed, or lost the node
			v.unheard++
		default:
			bad(&v.wrong, id, r, n)
		}
	}
	return v
}

// why counts what failed runs and unheard ones say.
func (l *ledger) why() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	texts := map[string]int{}
	for _, r := range l.runs {
		if end, why, ok := strings.Cut(r.end, " "); ok {
			_, why, _ = strings.Cut(why, ": ")
			texts[end+" "+strings.Map(func(c rune) rune {
				if c >= '0' && c <= '9' {
					return -1
				}
				return c
			}, why)]++
		}
	}
	var out strings.Builder
	for _, text := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return texts[b] - texts[a] }) {
		fmt.Fprintf(&out, "%6d %.300s\n", texts[text], text)
	}
	return out.String()
}

// finish ends the submission, waits until every run has ended, and judges.
func (c *crowd) finish() verdict {
	c.t.Helper()
	for _, name := range c.replicas {
		c.inputs[name].Close()
	}
	for end := time.Now().Add(3 * time.Minute); c.ledger.ended() < len(c.replicas); time.Sleep(beat) {
		if time.Now().After(end) {
			c.t.Fatalf("some runs have no end: %v", c.ledger)
		}
	}
	states := c.claims()
	v := c.judge(c.ledger, states)
	c.stop()
	c.readers.Wait()
	v.orphans = c.orphans
	c.t.Logf("%+v\n%s", v, c.ledger.why())
	for _, kind := range slices.Sorted(maps.Keys(c.gaps)) {
		all := c.gaps[kind]
		slices.Sort(all)
		c.t.Logf("%-28s %3d times, service again after %6.2f s, at most %6.2f s", kind, len(all), all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
	}
	return v
}

// sound reports whether what must hold for every fleet does.
func (v verdict) sound() bool {
	return v.twice+v.hollow+v.endless+v.wrong+v.orphans == 0 && v.done > v.runs/2
}

func (l *ledger) ended() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// left says what is left in the queue.
func left(ctx context.Context, js jetstream.JetStream) string {
	s, err := js.Stream(ctx, "RUNS")
	if err != nil {
		return err.Error()
	}
	about := []any{s.CachedInfo()}
	if m, err := s.GetMsg(ctx, s.CachedInfo().State.FirstSeq); err == nil {
		about = append(about, m.Header)
		if kv, err := js.KeyValue(ctx, "claims"); err == nil {
			if e, err := kv.Get(ctx, m.Header.Get("Run")); err == nil {
				about = append(about, string(e.Value()))
			}
		}
	}
	for c := range s.ListConsumers(ctx).Info() {
		about = append(about, c)
	}
	text, _ := json.Marshal(about)
	return string(text)
}

// empty waits until the queue is empty. A run that was acknowledged while the queue had no leader is removed at the leader's next check, at most
// two and a half minutes later.
func (c *crowd) empty() (*node.Node, jetstream.JetStream) {
	for began := time.Now(); ; time.Sleep(beat) {
		n := c.join("n0")
		js, err := jetstream.New(n.Conn())
		if err != nil {
			c.t.Fatal(err)
		}
		s, err := js.Stream(c.t.Context(), "RUNS")
		if err == nil && s.CachedInfo().State.Msgs == 0 {
			c.t.Logf("the queue was empty after %v", time.Since(began).Round(time.Second))
			return n, js
		}
		if time.Since(began) > 4*time.Minute {
			c.t.Fatalf("the queue does not become empty (%v): %s", err, left(c.t.Context(), js))
		}
		n.Close()
	}
}

// claims returns how each run ended, when the queue is empty.
func (c *crowd) claims() map[string]string {
	n, js := c.empty()
	defer n.Close()
	kv, err := js.KeyValue(c.t.Context(), "claims")
	if err != nil {
		c.t.Fatal(err)
	}
	watch, err := kv.WatchAll(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	defer watch.Stop() //nolint:errcheck // the connection ends
	out := map[string]string{}
	for e := range watch.Updates() {
		if e == nil { // these were all
			break
		}
		var claim struct{ State string }
		_ = json.Unmarshal(e.Value(), &claim) // that a run was taken back has none
		out[e.Key()] = claim.State
	}
	return out
}
