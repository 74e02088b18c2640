package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// connected are the MCP servers that a conversation uses. A nil one has none.
type connected struct {
	host *mcphost.Host
	done func() // ends them
	gate *gate
	life context.Context // for what nobody waits for
	only bool            // what was seen before is shown; nothing is started for it

	mu      sync.Mutex
	prompts map[string][]string // names of the prompts that were asked for, by server
}

// open makes the servers that the settings name ready. It starts none. elicits says that their questions are put to the user.
func (w *worker) openServers(ctx context.Context, elicits bool) error {
	o := &servers.Options{Denied: func() runner.Denied { return w.kit.DeniedFiles() }, Ask: w.serverHost}
	if w.approver != nil && elicits {
		o.Elicit = func(ctx context.Context, q *mcphost.Question) (*mcphost.Answer, error) {
			return (&form{w.approver, q, w.s.Settings.Browse}).fill(ctx)
		}
	}
	host, problems, done, err := w.s.Served.Converse(ctx, w.s.MCP, o)
	if err != nil {
		return err
	}
	for _, p := range problems {
		w.s.Out.WarnProblem(p)
	}
	if len(host.Labels()) > 0 {
		w.servers = &connected{host: host, done: done, gate: w.gate, life: context.WithoutCancel(w.as(ctx)), prompts: map[string][]string{}}
	}
	return nil
}

// serverHost decides about a host that the program of a server wants to reach.
func (w *worker) serverHost(ctx context.Context, label, host string) runner.Verdict {
	a := asker{whose: "mcp:" + label, who: "the MCP server " + label, always: "always: the server is given it"}
	if e, err := w.s.MCP.Find(ctx, label); err == nil {
		a.keep = func(ctx context.Context, hosts []string) error {
			return w.s.MCP.Grant(ctx, e, want.Each(want.Host, want.Seen, hosts...))
		}
	}
	return w.hosts.begin(a).ask(ctx, host)
}

// tools returns the tools of all servers. Those whose tools were never seen are started for that. What cannot be used is a problem for
// say.
func (v *connected) tools(ctx context.Context, say func(error)) []tool.Tool {
	if v == nil {
		return nil
	}
	if v.only {
		return v.host.Known()
	}
	tools, err := v.host.Tools(ctx)
	if err != nil && ctx.Err() == nil {
		say(err)
	}
	for i := range tools {
		tools[i] = v.guarded(tools[i])
	}
	return append(tools, v.resourceTools()...)
}

// serverTools returns the tools of MCP servers.
func (w *worker) serverTools(ctx context.Context) (tools []tool.Tool) {
	if w.servers != nil {
		_ = w.s.Out.Busy("starting MCP servers", func() error { tools = w.servers.tools(ctx, w.sayServers); return nil })
	}
	return tools
}

// sayServers tells the user which servers cannot be used.
func (w *worker) sayServers(err error) { w.s.Out.Warn(err.Error()) }

// guarded returns a tool that the policy decides about first.
func (v *connected) guarded(t tool.Tool) tool.Tool {
	name, next, reads := t.Name, t.Call, v.host.ReadOnly(t.Name)
	t.Call = func(ctx context.Context, args json.RawMessage) tool.Result {
		if why := v.gate.refuseCall(ctx, name, &permit.Call{Tool: name, Kind: permit.Server, Args: args, Reads: reads}); why != nil {
			return *why
		}
		return next(ctx, args)
	}
	return t
}

// more returns tools that servers have and set lacks, when a server says that its tools have changed.
func (v *connected) more(ctx context.Context, set *tool.Set, say func(error)) []tool.Tool {
	if v == nil || len(v.host.News()) == 0 {
		return nil
	}
	return slices.DeleteFunc(v.tools(ctx, say), func(t tool.Tool) bool {
		_, there := set.Lookup(t.Name)
		return there
	})
}

// labels returns the labels of the servers.
func (v *connected) labels() []string {
	if v == nil {
		return nil
	}
	return v.host.Labels()
}

// promptsOf returns the names of the prompts of a server, as far as they are known. It asks for them, and does not wait for that.
func (v *connected) promptsOf(label string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	names, asked := v.prompts[label]
	if !asked {
		v.prompts[label] = nil
		go func() { // it ends with the host at the latest
			if all, err := v.host.Prompts(v.life, label); err == nil {
				v.mu.Lock()
				defer v.mu.Unlock()
				v.prompts[label] = promptNames(all)
			}
		}()
	}
	return names
}

// close ends the servers.
func (v *connected) close() {
	if v != nil {
		v.done()
	}
}

// The tools that read resources of servers.
const (
	mcpResources = "mcp_resources"
	mcpRead      = "mcp_read"
)

// resourceTools returns the tools that list and read resources, none if no server has any.
func (v *connected) resourceTools() []tool.Tool {
	var labels []string
	for _, label := range v.host.Labels() {
		if slices.Contains(v.host.Info(label).Features, "resources") {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 {
		return nil
	}
	server, err := json.Marshal(map[string]any{"type": "string", "enum": labels})
	if err != nil {
		return nil
	}
	list := tool.Tool{Name: mcpResources, Description: "List the resources of an MCP server.",
		Input: fmt.Appendf(nil, `{"type":"object","properties":{"server":%s},"required":["server"]}`, server),
		Call: func(ctx context.Context, args json.RawMessage) tool.Result {
			var a struct{ Server string }
			if err := tool.Arguments(args, &a); err != nil {
				return tool.CauseArguments.Failure(err.Error())
			}
			return v.list(ctx, a.Server)
		}}
	read := v.guarded(tool.Tool{Name: mcpRead, Description: "Read a resource of an MCP server.",
		Input: fmt.Appendf(nil, `{"type":"object","properties":{"server":%s,"uri":{"type":"string"}},"required":["server","uri"]}`, server),
		Call: func(ctx context.Context, args json.RawMessage) tool.Result {
			var a struct{ Server, URI string }
			if err := tool.Arguments(args, &a); err != nil {
				return tool.CauseArguments.Failure(err.Error())
			}
			text, err := v.read(ctx, a.Server, a.URI)
			if err != nil {
				return tool.CauseIO.Failure(err.Error())
			}
			return tool.Success(text, "")
		}})
	return []tool.Tool{list, read}
}

// mostResources is how many resources a list has.
const mostResources = 500

// list returns the resources of a server as a result for a model.
func (v *connected) list(ctx context.Context, label string) tool.Result {
	type resource struct {
		URI         string `json:"uri"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
	}
	out, more := []resource{}, ""
	for cursor := ""; ; {
		page, next, err := v.host.Resources(ctx, label, cursor)
		if err != nil {
			return tool.CauseIO.Failure(err.Error())
		}
		for _, r := range page {
			out = append(out, resource{r.URI, r.Name, mcphost.Plain(r.Description, 200)})
		}
		if cursor = next; next == "" || len(out) >= mostResources {
			break
		}
	}
	if len(out) > mostResources {
		out, more = out[:mostResources], fmt.Sprintf("only the first %d are listed", mostResources)
	}
	return tool.Success(out, more)
}

// mostRead is how many bytes of a resource a model gets.
const mostRead = 100_000

// read returns the text of a resource.
func (v *connected) read(ctx context.Context, label, uri string) (string, error) {
	parts, err := v.host.Read(ctx, label, uri)
	if err != nil {
		return "", err
	}
	text := ""
	for _, c := range parts {
		if c.Blob != nil {
			c.Text = fmt.Sprintf("[%s, %d bytes, not shown]", c.MIMEType, len(c.Blob))
		}
		text = disclose.Join(text, c.Text)
	}
	if plain := mcphost.Plain(text, mostRead); len(plain) < len(text) {
		return plain + fmt.Sprintf("\n[cut: %d bytes in all]", len(text)), nil
	}
	return text, nil
}
