package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/mcpserve"
)

// newTown returns a house with a client of each token, in so many tenants. A tenant has a skill whose text and script say its word.
func newTown(t *testing.T, clients, tenants int, serve, script string) *house {
	t.Helper()
	var table, tokens strings.Builder
	for n := range clients {
		fmt.Fprintf(&table, "    c%d: t%d\n", n, n%tenants)
		fmt.Fprintf(&tokens, "c%d %s\n", n, tokenOf(n))
	}
	h := newHouse(t, "skills: {sandbox: off}\nserve:\n  tokens: ~/.agent/tokens\n"+serve+"  tenants:\n"+table.String())
	h.write(t, ".agent/tokens", tokens.String())
	for n := range tenants {
		h.write(t, fmt.Sprintf(".agent/tenants/t%d/skills/own/SKILL.md", n), fmt.Sprintf("---\nname: own\ndescription: Says the word of its tenant.\n---\nThe word is %s.\n", wordOf(n)))
		h.write(t, fmt.Sprintf(".agent/tenants/t%d/skills/own/scripts/say.sh", n), fmt.Sprintf("#!/bin/sh\necho the word is %s\n%s\n", wordOf(n), script))
	}
	return h
}

func tokenOf(client int) string { return fmt.Sprintf("token-of-client-%05d", client) }
func wordOf(tenant int) string  { return fmt.Sprintf("word%03dx", tenant) }

// guest is a client with what it may hear.
type guest struct {
	t    *testing.T
	c    *mcp.ClientSession
	name string
	word string
}

func (h *house) guest(t *testing.T, at string, client, tenant int) (*guest, error) {
	c, err := mcp.NewClient(&mcp.Implementation{Name: "crowd", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{tokenOf(client)}}, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err != nil {
		return nil, err
	}
	return &guest{t, c, fmt.Sprintf("client %d of tenant %d", client, tenant), wordOf(tenant)}, nil
}

// ask makes a call and checks that the answer has the word of the caller's tenant, and no other one.
func (g *guest) ask(name string, args map[string]any) (string, error) {
	r, err := g.c.CallTool(g.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if strings.Count(text, "word is ") == 0 || strings.Count(text, "word is ") != strings.Count(text, "word is "+g.word) {
		g.t.Errorf("%s: %s got %.600s", g.name, name, text)
	}
	return text, nil
}

// answers makes the calls of a conversation.
func (g *guest) answers(run bool) error {
	text, err := g.ask("skill", map[string]any{"skill_name": "own"})
	if err != nil {
		return err
	}
	var activated struct{ Metadata struct{ Session string } }
	if err := json.Unmarshal([]byte(text), &activated); err != nil || activated.Metadata.Session == "" {
		return fmt.Errorf("no handle in %s: %w", text, err)
	}
	if _, err = g.ask("skill_read", map[string]any{"skill_name": "own", "path": "SKILL.md", "session": activated.Metadata.Session}); err != nil {
		return err
	}
	if run {
		_, err = g.ask("script_run", map[string]any{"skill_name": "own", "script_name": "say"})
	}
	return err
}

// 500 clients of 50 tenants are connected and call, a hundred at a time. Every answer is right and none has what is another tenant's, and there
// is afterwards what there was after the first time. With AGENT_TEST_SOAK=1 all call at the same time and run a script, in more rounds.
func TestCrowd(t *testing.T) {
	const clients, tenants = 500, 50
	every, rounds, atOnce := 5, 2, 100
	if os.Getenv("AGENT_TEST_SOAK") == "1" {
		every, rounds, atOnce = 1, 6, clients
	}
	h := newTown(t, clients, tenants, "", "")
	for n := range tenants {
		h.approve(t, fmt.Sprintf("t%d", n), "own")
	}
	at, health := h.listen(t)
	var first state
	for round := range rounds {
		var all, there sync.WaitGroup
		there.Add(clients)
		calling := make(chan bool, atOnce)
		begun := time.Now()
		for n := range clients {
			all.Go(func() {
				calling <- true
				g, err := h.guest(t, at, n, n%tenants)
				<-calling
				there.Done()
				there.Wait()
				calling <- true
				defer func() { <-calling }()
				if err == nil {
					err = g.answers((n/tenants)%every == 0)
					_ = g.c.Close()
				}
				if err != nil {
					t.Errorf("client %d: %v", n, err)
				}
			})
		}
		all.Wait()
		took := time.Since(begun)
		h.log.reset()
		now := settled(t, health)
		t.Logf("round %d: %d runs, %s; afterwards %+v", round, clients/every, took.Round(time.Millisecond), now)
		if round == 0 {
			first = now
		}
		if now.goroutines > first.goroutines+8 || now.files > first.files+16 || now.heap > first.heap+4<<20 {
			t.Errorf("there was %+v after the first round, and is %+v after round %d", first, now, round)
		}
	}
	if _, text := get(t, "GET", health+"/metrics", ""); !strings.Contains(text, fmt.Sprintf(`agent_serve_calls_total{tool="script_run",outcome="ok"} %d`, rounds*clients/every)) {
		t.Errorf("not every run counts:\n%s", text)
	}
}

// A tenant with more open than it may have is refused with a status that says so, and no other one notices.
func TestTooMuch(t *testing.T) {
	h := newTown(t, 21, 2, "  calls: 1\n", "while [ ! -e \"$1\" ]; do sleep 0.02; done")
	for n := range 2 {
		h.approve(t, fmt.Sprintf("t%d", n), "own")
	}
	at, health := h.listen(t)
	var all sync.WaitGroup
	var refused, answered atomic.Int64
	var guests []*guest
	for n := 1; n < 21; n += 2 {
		g, err := h.guest(t, at, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer g.c.Close()
		guests = append(guests, g)
	}
	for _, g := range guests { // four requests may be open
		all.Go(func() {
			switch _, err := g.ask("script_run", map[string]any{"skill_name": "own", "script_name": "say", "args": []string{filepath.Join(h.home, "go")}}); {
			case err == nil:
				answered.Add(1)
			case strings.Contains(err.Error(), "Too Many Requests"):
				refused.Add(1)
			default:
				t.Errorf("%s: %v", g.name, err)
			}
		})
	}
	for end := time.Now().Add(time.Minute); refused.Load() < 6 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	g, err := h.guest(t, at, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.c.Close()
	if _, err := g.ask("skill", map[string]any{"skill_name": "own"}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: bearer{tokenOf(1)}}).Do(r)
	if err != nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "1" {
		t.Errorf("got %+v, %v", res, err)
	}
	if err == nil {
		_ = res.Body.Close()
	}
	h.write(t, "go", "")
	all.Wait()
	if answered.Load() != 4 || refused.Load() != 6 {
		t.Errorf("%d answered, %d refused", answered.Load(), refused.Load())
	}
	if _, text := get(t, "GET", health+"/metrics", ""); !strings.Contains(text, `agent_serve_refused_total{reason="busy"} 7`) {
		t.Errorf("got\n%s", text)
	}
}

// Of many tenants few are open: those that called last, those with something under way, and those with a result that was promised. What a
// client has of another one stays good.
func TestTenantsAreClosed(t *testing.T) {
	const tenants, most = 20, 4
	h := newTown(t, tenants, tenants, "", "case $1 in\nwait) while [ ! -e \"$2\" ]; do sleep 0.02; done ;;\nlong) head -c 100000 /dev/zero | tr '\\0' x ;;\nesac")
	h.approve(t, "t1", "own")
	h.approve(t, "t2", "own")
	s, err := h.server(t)
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.gate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.tenants.max = most
	server := httptest.NewServer(s.mcp.Handler(&mcpserve.HTTPOptions{Verify: g.verify}))
	defer g.close()
	defer server.Close()
	var guests [tenants]*guest
	open := func(n int) *tenant {
		g.tenants.mu.Lock()
		defer g.tenants.mu.Unlock()
		return g.tenants.open[fmt.Sprint("t", n)]
	}
	handle := ""
	first := make([]*tenant, tenants)
	ran := make(chan error, 1)
	for n := range tenants {
		if guests[n], err = h.guest(t, server.URL, n, n); err != nil {
			t.Fatal(err)
		}
		defer guests[n].c.Close()
		text, err := guests[n].ask("skill", map[string]any{"skill_name": "own"})
		if err != nil {
			t.Fatal(err)
		}
		first[n] = open(n)
		switch n {
		case 0:
			_, handle, _ = strings.Cut(text, `"session":"`)
			handle, _, _ = strings.Cut(handle, `"`)
		case 1:
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() {
				r, err := guests[1].c.CallTool(ctx, &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "own", "script_name": "say", "args": []string{"wait", filepath.Join(h.home, "go")}}})
				if err == nil && !strings.Contains(r.Content[0].(*mcp.TextContent).Text, wordOf(1)) {
					err = fmt.Errorf("got %s", r.Content[0].(*mcp.TextContent).Text)
				}
				ran <- err
			}()
		}
	}
	long, err := guests[2].c.CallTool(t.Context(), &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "own", "script_name": "say", "args": []string{"long"}}})
	if err != nil {
		t.Fatal(err)
	}
	kept := open(2)
	for range 2 {
		for n := 3; n < tenants; n++ {
			if _, err := guests[n].ask("skill", map[string]any{"skill_name": "own"}); err != nil {
				t.Error(err)
			}
		}
	}
	s.calls.mu.Lock()
	n := s.calls.tenants.series[""].n
	s.calls.mu.Unlock()
	if n < most || n > most+1 {
		t.Errorf("%g tenants are open", n)
	}
	if open(0) != nil || open(3) == first[3] || open(1) != first[1] || open(2) != kept || kept == nil {
		t.Errorf("the wrong ones are closed: %v %v %v %v", open(0), open(3), open(1), open(2))
	}
	h.write(t, "go", "")
	if err := <-ran; err != nil {
		t.Errorf("what was under way: %v", err)
	}
	if _, err := guests[0].ask("skill_read", map[string]any{"skill_name": "own", "path": "SKILL.md", "session": handle}); err != nil {
		t.Errorf("a handle: %v", err)
	}
	link, ok := long.Content[len(long.Content)-1].(*mcp.ResourceLink)
	if !ok {
		t.Fatalf("no link to a whole result: %+v", long.Content)
	}
	if r, err := guests[2].c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI}); err != nil || len(r.Contents[0].Text) < 100_000 {
		t.Errorf("a whole result: %v", err)
	}
	if _, err := os.Stat(filepath.Join(h.home, ".agent/tenants/t0/audit")); err != nil {
		t.Error(err)
	}
}
