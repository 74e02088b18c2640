package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// home is a home of a server with its process.
type home struct {
	dir, agent, url string
	cmd             *exec.Cmd
	client          *http.Client
}

func newHome(agent, settings string) (*home, error) {
	dir, err := os.MkdirTemp(os.Getenv("FLEET_TEMP"), "home") // the skills of many tenants need much room
	if err != nil {
		return nil, err
	}
	h := &home{dir: dir, agent: agent, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}}
	return h, h.write(".agent/config.yaml", settings)
}

func (h *home) write(name, text string) error {
	file := filepath.Join(h.dir, name)
	mode := os.FileMode(0o600)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o700
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), mode))
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.agent, args...) //nolint:gosec // the program that is measured
	cmd.Dir, cmd.Env, cmd.Stderr = h.dir, []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}, os.Stderr
	return cmd
}

// serve starts a server and waits until it answers.
func (h *home) serve(args ...string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h.url = "http://" + l.Addr().String()
	_ = l.Close()
	h.cmd = h.command(append([]string{"serve", "--http", strings.TrimPrefix(h.url, "http://")}, args...)...)
	h.cmd.Stderr = nil
	if err := h.cmd.Start(); err != nil {
		return err
	}
	for range 200 {
		if r, err := http.Get(h.url); err == nil { //nolint:noctx // it is here
			return r.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the server does not answer")
}

func (h *home) end() {
	if h.cmd != nil {
		_ = h.cmd.Process.Signal(os.Interrupt)
		_ = h.cmd.Wait()
	}
}

func (h *home) remove() { h.end(); _ = os.RemoveAll(h.dir) }

// call calls a tool. The answer must have a text.
func (h *home) call(token, tool, args, want string) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, args)
	r, err := http.NewRequest(http.MethodPost, h.url, strings.NewReader(body)) //nolint:noctx // it ends with the server
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(name, value)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := h.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(answer, []byte(want)) {
		err = fmt.Errorf("%s: %.300s", res.Status, answer)
	}
	return err
}

// many has tenants with a thousand skills each call one after another, twice, and prints what memory the server has.
func many(_ context.Context, agent string) error {
	const tenants, skills = 1000, 1000
	var table, tokens strings.Builder
	for t := range tenants {
		fmt.Fprintf(&table, "    c%d: t%d\n", t, t)
		fmt.Fprintf(&tokens, "c%d token-of-client-%06d\n", t, t)
	}
	h, err := newHome(agent, "serve:\n  tokens: ~/.agent/tokens\n  tenants:\n"+table.String())
	if err != nil {
		return err
	}
	defer h.remove()
	if err := h.write(".agent/tokens", tokens.String()); err != nil {
		return err
	}
	for s := range skills { // the first tenant's; those of the others are links to them, which saves disk
		text := fmt.Sprintf("---\nname: skill-%04d\ndescription: Does the work number %d of the thousand that a tenant may want done, with care.\n---\nBody.\n", s, s)
		if err := h.write(fmt.Sprintf(".agent/tenants/t0/skills/skill-%04d/SKILL.md", s), text); err != nil {
			return err
		}
		for t := 1; t < tenants; t++ {
			dir := filepath.Join(h.dir, fmt.Sprintf(".agent/tenants/t%d/skills/skill-%04d", t, s))
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Link(filepath.Join(h.dir, fmt.Sprintf(".agent/tenants/t0/skills/skill-%04d/SKILL.md", s)), filepath.Join(dir, "SKILL.md"))); err != nil {
				return err
			}
		}
	}
	if err := h.serve(); err != nil {
		return err
	}
	fmt.Println("| tenants that have called | entries of their catalogues | resident | a call, p50 |\n|--:|--:|--:|--:|")
	var took []time.Duration
	for n := range 2 * tenants {
		begun := time.Now()
		if err := h.call(fmt.Sprintf("token-of-client-%06d", n%tenants), "skill_read", `{"skill_name":"skill-0999","path":"SKILL.md"}`, "work number 999"); err != nil {
			return err
		}
		took = append(took, time.Since(begun))
		if slices.Contains([]int{1, 16, 64, 128, 250, 500, 1000, 2000}, n+1) {
			fmt.Printf("| %d | %d | %d MB | %s ms |\n", n+1, (n+1)*skills, resident(h.cmd.Process.Pid)>>20, ms(at(took, 0.5)))
			took = nil
		}
	}
	return nil
}

// scripts measures agent serve itself with 1, 2, 4 and 8 workers whose scripts sleep: runs a second, memory and what is recorded of a run.
func scripts(_ context.Context, agent string) error {
	const long = 2
	fmt.Println("| workers of 8 places | scripts a second | of what the places can do | server, resident | worker, resident | processor time a run: server, workers with scripts | audit, bytes a run | contents, bytes |")
	fmt.Println("|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, workers := range []int{1, 2, 4, 8} {
		if err := sleeping(agent, workers, long); err != nil {
			return err
		}
	}
	return nil
}

func sleeping(agent string, workers, long int) error {
	h, err := newHome(agent, "serve: {calls: 200}\n")
	if err != nil {
		return err
	}
	defer h.remove()
	err = errors.Join(h.write(".agents/skills/nap/SKILL.md", "---\nname: nap\ndescription: Sleeps.\n---\nBody.\n"), h.write(".agents/skills/nap/scripts/nap.sh", fmt.Sprintf("#!/bin/sh\nsleep %d\necho awake\n", long)))
	if err != nil {
		return err
	}
	if err := h.command("skill", "trust", "nap", "--yes").Run(); err != nil {
		return err
	}
	if err := h.serve("--workers", fmt.Sprint(workers)); err != nil {
		return err
	}
	nap := func() error {
		return h.call("", "script_run", `{"skill_name":"nap","script_name":"nap"}`, "awake")
	}
	if err := nap(); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // until all workers are there
	places := 8 * workers
	count := 4 * places
	audit := func() int64 { return size(filepath.Join(h.dir, ".agent/audit")) }
	children, _ := exec.Command("pgrep", "-P", fmt.Sprint(h.cmd.Process.Pid)).Output() //nolint:gosec // a number
	spent := func() (server, all time.Duration) {
		server = ticks(fmt.Sprint(h.cmd.Process.Pid), false)
		for pid := range strings.FieldsSeq(string(children)) {
			all += ticks(pid, true)
		}
		return server, all
	}
	was, begun := audit(), time.Now()
	server, all := spent()
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, places)
	for range places {
		wg.Go(func() {
			for next.Add(1) <= int64(count) {
				if err := nap(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	speed := float64(count) / time.Since(begun).Seconds()
	server2, all2 := spent()
	var memory int64
	for pid := range strings.FieldsSeq(string(children)) {
		var n int
		_, _ = fmt.Sscan(pid, &n)
		memory += resident(n) / int64(workers)
	}
	fmt.Printf("| %d | %.1f | %.0f %% | %d MB | %d MB | %s ms, %s ms | %d | %d |\n", workers, speed, 100*speed*float64(long)/float64(places), resident(h.cmd.Process.Pid)>>20, memory>>20,
		ms((server2-server)/time.Duration(count)), ms((all2-all)/time.Duration(count)), (audit()-was)/int64(count), size(filepath.Join(h.dir, ".agent/cache")))
	return nil
}

// ticks returns the processor time of a process, with that of its children that have ended.
func ticks(pid string, children bool) time.Duration {
	b, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return 0
	}
	last := 13
	if children {
		last = 15
	}
	var n, sum int
	for _, f := range fields[11:last] {
		_, _ = fmt.Sscan(f, &n)
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond
}

// size returns how many bytes the files below a folder have.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
