package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// cpu returns the processor time of this process.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns how many bytes of memory a process has.
func resident(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// path measures the way of an empty run, step by step, one run at a time; then that of a script of one line against the same script here.
func path(ctx context.Context, _ string) error {
	const count = 400
	var mu sync.Mutex
	seen := map[string]time.Time{}
	mark := func(step string) {
		mu.Lock()
		seen[step] = time.Now()
		mu.Unlock()
	}
	seal := func(_ context.Context, r *dispatch.Run, _ *dispatch.To) ([]byte, error) {
		mark("claim")
		return r.Order, nil
	}
	y, err := newYard(ctx, &dispatch.Options{}, seal, 1, 1, func(context.Context, *dispatch.Run, uint64) []byte { mark("begun"); return nil })
	if err != nil {
		return err
	}
	steps := map[string][]time.Duration{}
	for i := range count {
		begun := time.Now()
		t, err := y.queue.Submit(ctx, &dispatch.Run{ID: fmt.Sprint("p", i), Until: begun.Add(time.Minute), Order: make([]byte, 600)})
		if err != nil {
			return err
		}
		submitted := time.Now()
		_, err = t.Wait(ctx)
		t.Close()
		if err != nil {
			return err
		}
		mu.Lock()
		for name, d := range map[string]time.Duration{"1 submit: to the queue, acknowledged": submitted.Sub(begun), "2 claim: from the queue, claim written": seen["claim"].Sub(submitted),
			"3 hand-over: order to the worker": seen["begun"].Sub(seen["claim"]), "4 end: written and said": time.Since(seen["begun"]), "all": time.Since(begun)} {
			steps[name] = append(steps[name], d)
		}
		mu.Unlock()
	}
	fmt.Println("| an empty run | p50 | p99 |\n|---|--:|--:|")
	for _, name := range sorted(steps) {
		fmt.Printf("| %s | %s ms | %s ms |\n", name, ms(at(steps[name], 0.5)), ms(at(steps[name], 0.99)))
	}
	y.close() // its worker would take the script
	return overhead(ctx)
}

// overhead compares a script here and by way of the queue of a node, in turn.
func overhead(ctx context.Context) error {
	const count = 200
	dir, err := os.MkdirTemp("", "yard")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := node.Open(ctx, &node.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer n.Close()
	q, err := dispatch.Open(ctx, n.Conn(), nil)
	if err != nil {
		return err
	}
	s, err := sample(ctx, filepath.Join(dir, "skills"))
	if err != nil {
		return err
	}
	defer s.Close()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	seed, err := n.Admit("r0")
	if err != nil {
		return err
	}
	conn, err := node.Dial(dir, seed)
	if err != nil {
		return err
	}
	defer conn.Close()
	options := script.Options{LookPath: exec.LookPath, Cache: filepath.Join(dir, "cache")}
	local, err := script.New(&options)
	if err != nil {
		return err
	}
	temp, life, stop := filepath.Join(dir, "temp"), context.Context(nil), context.CancelFunc(nil)
	life, stop = context.WithCancel(ctx)
	defer stop()
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	w := &relay.Worker{Conn: conn, Name: "r0", Slots: 1, Beat: time.Second, Keys: map[string]ed25519.PublicKey{"d": public}, Host: func(string) (*script.Options, error) { return &options, nil }, Contents: &content.Cache{Dir: store.Dir{Root: filepath.Join(dir, "contents")}}}
	go func() { _ = w.Serve(life) }()
	signer := &relay.Signer{Name: "d", Key: private, Conn: n.Conn()}
	go func() { _ = q.Dispatcher(signer.Seal).Serve(life) }()
	caller := &relay.Caller{Queue: q, Conn: n.Conn(), Beat: time.Second, Temp: temp, Seal: local.Seal}
	sender := order.NewSender(&order.SenderOptions{Host: local, Send: caller.Send})
	sc := script.Script{Name: "a", File: "scripts/a.sh"}
	var here, there []time.Duration
	for i := range count + 5 {
		for _, to := range []struct {
			all *[]time.Duration
			run func(context.Context, *skill.Skill, script.Script, *script.RunOptions) (*script.Result, error)
		}{{&here, local.Run}, {&there, sender.Run}} {
			begun := time.Now()
			if _, err := to.run(ctx, s, sc, &script.RunOptions{JSON: script.JSONNo}); err != nil {
				return err
			}
			if i >= 5 { // the content has come
				*to.all = append(*to.all, time.Since(begun))
			}
		}
	}
	fmt.Printf("\n| a script of one line | p50 | p99 |\n|---|--:|--:|\n| here | %s ms | %s ms |\n| by the queue | %s ms | %s ms |\n| difference | %s ms | |\n", ms(at(here, 0.5)), ms(at(here, 0.99)),
		ms(at(there, 0.5)), ms(at(there, 0.99)), ms(at(there, 0.5)-at(here, 0.5)))
	return nil
}

// sample writes a skill whose script does nothing, and loads it.
func sample(ctx context.Context, dir string) (*skill.Skill, error) {
	err := os.MkdirAll(filepath.Join(dir, "probe", "scripts"), 0o755)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "probe", "SKILL.md"), []byte("---\nname: probe\ndescription: Does nothing.\n---\nBody.\n"), 0o600))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "probe", "scripts", "a.sh"), []byte("#!/bin/sh\n:\n"), 0o700)) //nolint:gosec // it is run
	if err != nil {
		return nil, err
	}
	cat, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(dir, nil)}}})
	if err != nil {
		return nil, err
	}
	e, err := cat.Lookup("probe")
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}

// runs measures empty runs: how many end in a second with one node, one dispatcher and four workers, and what each takes of the processor, the
// disk and the connections.
func runs(ctx context.Context, _ string) error {
	y, err := newYard(ctx, &dispatch.Options{Quota: 10_000, AtOnce: 1024}, nil, 4, 256, func(context.Context, *dispatch.Run, uint64) []byte { return make([]byte, 300) })
	if err != nil {
		return err
	}
	defer y.close()
	return y.throughput(ctx, "one node")
}

// throughput prints what empty runs take with more and more of them under way.
func (y *yard) throughput(ctx context.Context, name string) error {
	fmt.Println("| nodes | under way | runs a second (min, median, max of 5) | processor time a run, all processes | bytes of a claim | bytes on the connections |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	claims, err := y.stream(ctx, "KV_claims")
	if err != nil {
		return err
	}
	for _, atOnce := range []int{1, 8, 64, 256} {
		count := 60 * atOnce
		if atOnce > 8 {
			count = 2000
		}
		var speeds []time.Duration
		used, was, wire := cpu(), claims(), y.wire()
		for round := range 5 {
			begun := time.Now()
			if err := y.crowd(ctx, fmt.Sprintf("e%d-%d", atOnce, round), count, atOnce); err != nil {
				return err
			}
			speeds = append(speeds, time.Since(begun)/time.Duration(count))
		}
		n := 5 * count
		fmt.Printf("| %s | %d | %.0f, %.0f, %.0f | %s ms | %d | %d |\n", name, atOnce, 1/at(speeds, 1).Seconds(), 1/at(speeds, 0.5).Seconds(), 1/at(speeds, 0).Seconds(),
			ms((cpu()-used)/time.Duration(n)), (claims()-was)/int64(n), (y.wire()-wire)/int64(n))
	}
	return nil
}

// stream returns what says how many bytes a stream has.
func (y *yard) stream(ctx context.Context, name string) (func() int64, error) {
	js, err := jetstream.New(y.nodes[0].Conn())
	if err != nil {
		return nil, err
	}
	s, err := js.Stream(ctx, name)
	return func() int64 {
		info, err := s.Info(ctx)
		if err != nil {
			return 0
		}
		return int64(info.State.Bytes) //nolint:gosec // a size
	}, err
}

// wire returns how many bytes went over the connections of the processes.
func (y *yard) wire() (n int64) {
	for _, c := range y.conns {
		s := c.Stats()
		n += int64(s.InBytes + s.OutBytes) //nolint:gosec // a size
	}
	return n
}

// waiting measures the disk, memory and processor time that runs take while no worker is there.
func waiting(ctx context.Context, _ string) error {
	y, err := newYard(ctx, &dispatch.Options{Quota: 100_000, QueueBytes: 1 << 30}, nil, 0, 0, nil)
	if err != nil {
		return err
	}
	defer y.close()
	queue, err := y.stream(ctx, "RUNS")
	if err != nil {
		return err
	}
	fmt.Println("| runs that wait | bytes of the queue each | resident each | heap each | processors that waiting takes |\n|--:|--:|--:|--:|--:|")
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	was, empty := resident(os.Getpid()), heap()
	for n, most := range []int{1000, 5000, 20_000} {
		first := []int{0, 1000, 5000}[n]
		for i := first; i < most; i++ {
			t, err := y.queue.Submit(ctx, &dispatch.Run{ID: fmt.Sprint("w", i), Tenant: fmt.Sprint("t", i%8), Until: time.Now().Add(30 * time.Minute), Order: make([]byte, 600)})
			if err != nil {
				return err
			}
			all.Go(func() { defer t.Close(); _, _ = t.Wait(ctx) })
		}
		time.Sleep(2 * time.Second)
		used, begun := cpu(), time.Now()
		time.Sleep(5 * time.Second)
		share := (cpu() - used).Seconds() / time.Since(begun).Seconds()
		fmt.Printf("| %d | %d | %d | %d | %.2f |\n", most, queue()/int64(most), (resident(os.Getpid())-was)/int64(most), (heap()-empty)/int64(most), share)
	}
	return nil
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // a size
}
