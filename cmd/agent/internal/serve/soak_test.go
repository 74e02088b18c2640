package serve

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const clients = 64

// TestSoak has many clients of two tenants call at once while skills change on disk, scripts are killed and clients leave. What there is
// after the last round is what there was after the first. With AGENT_TEST_SOAK=1 it goes on for three minutes.
func TestSoak(t *testing.T) {
	h := newHouse(t, "skills: {sandbox: off}\nserve:\n  tokens: ~/.agent/tokens\n  tenants: {ada: acme, bob: corp}\n")
	for name, script := range map[string]string{"greet": `echo "hello $1"`, "slow": "echo begun $$\nwhile :; do sleep 1; done", "big": "head -c 100000 /dev/zero | tr '\\0' x"} {
		h.write(t, ".agent/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: Is one of the skills.\n---\nBody\n")
		h.write(t, ".agent/skills/"+name+"/scripts/run.sh", "#!/bin/sh\n"+script+"\n")
		h.approve(t, "acme", name)
		h.approve(t, "corp", name)
	}
	at, health := h.listen(t)
	s := &soak{house: h, at: at}
	end := time.Now()
	if os.Getenv("AGENT_TEST_SOAK") == "1" {
		end = end.Add(3 * time.Minute)
	}
	var first, last state
	for s.round = 0; s.round < 2 || time.Now().Before(end); s.round++ {
		s.run(t)
		s.log.reset()
		last = settled(t, health)
		if s.round == 0 {
			first = last
		}
	}
	t.Logf("%d rounds: first %+v, last %+v", s.round, first, last)
	if last.goroutines > first.goroutines+8 || last.files > first.files+16 || last.heap > first.heap+8<<20 {
		t.Errorf("there was %+v after the first round, and is %+v after %d", first, last, s.round)
	}
	for pid := range s.begun {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(b), ") Z ") {
			t.Errorf("process %d goes on", pid)
		}
	}
	if len(s.begun) < 2*clients/8 {
		t.Errorf("%d scripts were ended", len(s.begun))
	}
}

// state is what a process has.
type state struct {
	goroutines, files int
	heap              uint64
}

// settled returns what this process has when nothing is under way any more.
func settled(t *testing.T, health string) (out state) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		_, text := get(t, "GET", health+"/metrics", "")
		if strings.Contains(text, "agent_serve_requests_in_flight 0\n") && strings.Contains(text, "agent_serve_calls_in_flight 0\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("something is under way:\n%s", text)
		}
	}
	was := -1
	for range 200 { // connections end a little later, and former snapshots of the skills when they are collected
		runtime.GC()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		time.Sleep(10 * time.Millisecond)
		list, _ := os.ReadDir("/proc/self/fd")
		if out.goroutines, out.files = runtime.NumGoroutine(), len(list); out.goroutines+out.files == was {
			break
		}
		was = out.goroutines + out.files
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	out.heap = m.HeapAlloc
	return out
}

type soak struct {
	*house
	at    string
	round int

	mu    sync.Mutex
	begun map[int]bool // processes of scripts that do not end
}

// run lets each client make some calls.
func (s *soak) run(t *testing.T) {
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() { s.client(t, n) })
	}
	for n := range 4 { // meanwhile
		s.write(t, fmt.Sprintf(".agent/tenants/acme/skills/new-%d/SKILL.md", n), fmt.Sprintf("---\nname: new-%d\ndescription: Of round %d.\n---\nBody\n", n, s.round))
		if err := os.RemoveAll(filepath.Join(s.home, ".agent/tenants/corp/skills", fmt.Sprint("new-", n))); err != nil {
			t.Error(err)
		}
		s.write(t, fmt.Sprintf(".agent/tenants/corp/skills/new-%d/SKILL.md", n), "no manifest")
	}
	wg.Wait()
}

func (s *soak) client(t *testing.T, n int) {
	begun := make(chan string, 8)
	o := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { begun <- r.Params.Message }}
	token := []string{"token-of-ada-1234", "token-of-bob-1234"}[n%2]
	c, err := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.at, HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	ask := func(name string, args map[string]any) string {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Errorf("client %d: %s %v: %v", n, name, args, err)
			return ""
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	want := func(text, part string) {
		if !strings.Contains(text, part) {
			t.Errorf("client %d: got %s, want %s", n, text, part)
		}
	}
	want(ask("skill", map[string]any{"skill_name": "greet"}), `"session":"`)
	want(ask("skill_read", map[string]any{"skill_name": "greet", "path": "SKILL.md", "session": "forged"}), "no handle of this server")
	switch n % 8 {
	case 0:
		s.ends(t, c, begun, n%16 == 0)
	case 1, 2, 3:
		want(ask("script_run", map[string]any{"skill_name": "greet", "script_name": "run", "args": []string{fmt.Sprint(n)}}), fmt.Sprintf(`"hello %d\n"`, n))
	case 4:
		want(ask("skill", map[string]any{"action": "search", "skill_name": "skills"}), "- slow:")
	case 5:
		want(ask("skill", map[string]any{"action": "list"}), "- slow:")
	case 6:
		if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet"}); err != nil {
			t.Error(err)
		}
	case 7:
		if n == 7 && s.round == 0 { // a whole result is kept for a while
			want(ask("script_run", map[string]any{"skill_name": "big", "script_name": "run"}), "characters are left out here")
		}
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://greet/scripts/run.sh"}); err != nil {
			t.Error(err)
		}
	}
}

// ends runs a script that does not end, and kills it or gives up.
func (s *soak) ends(t *testing.T, c *mcp.ClientSession, begun <-chan string, kill bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	params := &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "slow", "script_name": "run"}}
	params.SetProgressToken("p")
	ended := make(chan error, 1)
	go func() {
		r, err := c.CallTool(ctx, params)
		if err == nil && !r.IsError {
			t.Error("a script that does not end ended well")
		}
		ended <- err
	}()
	var pid int
	select {
	case text := <-begun:
		pid, _ = strconv.Atoi(strings.TrimPrefix(text, "begun "))
	case err := <-ended:
		t.Errorf("the script did not begin: %v", err)
		return
	}
	s.mu.Lock()
	if s.begun == nil {
		s.begun = map[int]bool{}
	}
	s.begun[pid] = true
	s.mu.Unlock()
	if !kill {
		cancel()
		<-ended
		return
	}
	p, err := os.FindProcess(pid)
	if err != nil || pid <= 1 || p.Kill() != nil {
		t.Errorf("process %d cannot be killed: %v", pid, err)
		cancel()
	}
	if err := <-ended; err != nil {
		t.Errorf("a killed script: %v", err)
	}
}
