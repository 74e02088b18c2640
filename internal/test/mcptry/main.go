// Command mcptry uses a server of other people by package mcphost, and says what works: mcptry URL, or mcptry COMMAND ARGUMENT...
//
// The server has the tools greet, fail, slow, ask and more, the prompt hello and the resource demo://note, as those in scripts/mcphost have.
// It ends with 1 if something is not as it must be. What the server does not declare is skipped, and said.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/tool"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcptry URL, or mcptry COMMAND ARGUMENT...")
		os.Exit(2)
	}
	t := &trial{}
	if err := t.run(os.Args[1:]); err != nil {
		fmt.Println("FAIL ", err)
		os.Exit(1)
	}
	if t.failed {
		os.Exit(1)
	}
}

// trial is one use of a server.
type trial struct {
	h      *mcphost.Host
	tools  map[string]tool.Tool
	failed bool

	mu   sync.Mutex
	told []string
}

// program returns how a command is started.
func program(args []string) func(context.Context, *mcphost.Pipes) error {
	return func(ctx context.Context, p *mcphost.Pipes) error {
		c := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // it is the command that the caller names
		c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = p.In, p.Out, p.Err, time.Second
		if err := c.Start(); err != nil {
			return err
		}
		p.Started()
		return c.Wait()
	}
}

func (t *trial) run(args []string) error {
	s := mcphost.Server{Label: "demo", Run: program(args), Timeout: 20 * time.Second, Start: 2 * time.Minute}
	if strings.HasPrefix(args[0], "http") {
		s.Run, s.URL = nil, args[0]
	}
	var err error
	t.h, err = mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{s}, Elicit: func(_ context.Context, q *mcphost.Question) (*mcphost.Answer, error) {
		t.tell(fmt.Sprintf("asked %s %s %d", q.Label, q.Message, len(q.Fields)))
		return &mcphost.Answer{Action: mcphost.ActionAccept, Content: map[string]any{"name": "Ada"}}, nil
	}})
	if err != nil {
		return err
	}
	defer t.h.Close()
	ctx := context.Background()
	if err := t.list(ctx); err != nil {
		return err
	}
	i := t.h.Info("demo")
	fmt.Printf("      %s %s, revision %s, %s\n", i.Name, i.Version, i.Protocol, strings.Join(i.Features, " "))
	t.calls(ctx)
	t.lists(ctx, &i)
	t.changes(ctx)
	return nil
}

func (t *trial) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = append(t.told, text)
}

func (t *trial) list(ctx context.Context) error {
	all, err := t.h.Tools(ctx)
	t.tools = map[string]tool.Tool{}
	for _, x := range all {
		t.tools[strings.TrimPrefix(x.Name, "mcp__demo__")] = x
	}
	return err
}

// check says whether what was got has what must be in it.
func (t *trial) check(what, got, want string) {
	if strings.Contains(got, want) {
		fmt.Println("ok   ", what)
		return
	}
	t.failed = true
	fmt.Printf("FAIL  %s: got %.500q, want %q\n", what, got, want)
}

func (t *trial) call(ctx context.Context, name, args string) string {
	x, ok := t.tools[name]
	if !ok {
		return "there is no tool " + name
	}
	r := x.Call(ctx, json.RawMessage(args))
	return string(r.Encode())
}

func (t *trial) calls(ctx context.Context) {
	t.check("a call", t.call(ctx, "greet", `{"name":"Ada"}`), "hello Ada")
	t.check("a failure", t.call(ctx, "fail", `{}`), "no tea today")
	t.check("wrong arguments", t.call(ctx, "greet", `{"name":7}`), `"success":false`)
	watched := tool.WithWatch(ctx, func(e tool.Event) { t.tell(fmt.Sprint(e.Kind, " ", e.Text, " ", e.Done, "/", e.Total)) })
	t.check("a slow call", t.call(watched, "slow", `{}`), "done")
	t.check("progress", fmt.Sprint(t.told), "progress half 1/2")
	t.check("a question", t.call(ctx, "ask", `{}`), "you are Ada")
	t.check("what is asked", fmt.Sprint(t.told), "asked demo Who? 1")
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	t.check("a call that is given up", t.call(short, "slow", `{}`), "timeout")
	t.check("a call after it", t.call(ctx, "greet", `{"name":"Bo"}`), "hello Bo")
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() { t.tell(t.call(ctx, "greet", fmt.Sprintf(`{"name":"p%d"}`, n))) })
	}
	wg.Wait()
	t.check("sixteen calls at a time", fmt.Sprint(t.told), "hello p15")
}

func (t *trial) lists(ctx context.Context, i *mcphost.Info) {
	prompts, err := t.h.Prompts(ctx, "demo")
	t.check("prompts", fmt.Sprint(prompts, err), "hello")
	messages, err := t.h.Prompt(ctx, "demo", "hello", map[string]string{"who": "Ada"})
	t.check("a prompt", fmt.Sprint(messages, err), "Say hello to Ada")
	if slices.Contains(i.Features, "completions") {
		values, err := t.h.Complete(ctx, "demo", "hello", "who", "A", nil)
		t.check("completion", fmt.Sprint(values, err), "Ada")
	} else {
		fmt.Println("      it does not complete")
	}
	resources, _, err := t.h.Resources(ctx, "demo", "")
	t.check("resources", fmt.Sprint(resources, err), "demo://note")
	contents, err := t.h.Read(ctx, "demo", "demo://note")
	t.check("a resource", fmt.Sprint(contents, err), "a note")
	if _, ok := t.h.Extension("demo", "io.modelcontextprotocol/skills"); !ok {
		fmt.Println("      it has no skills")
		return
	}
	var skills struct{ Skills []struct{ URI string } }
	err = t.h.Ask(ctx, "demo", "skills/list", struct{}{}, &skills)
	t.check("skills", fmt.Sprint(skills, err), "skill://tea/SKILL.md")
}

// changes has the server add a tool. A server need not tell.
func (t *trial) changes(ctx context.Context) {
	t.check("a tool more", t.call(ctx, "more", `{}`), "added")
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if t.h.News() == nil {
			continue
		}
		if err := t.list(ctx); err != nil {
			t.check("the list again", err.Error(), "late")
			return
		}
		t.check("a list that changed", t.call(ctx, "late", `{}`), "late")
		return
	}
	fmt.Println("      it does not tell that its list changed")
}
