package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// fakeToolsets has tools without any process. It counts what a toolset.Host would start and call.
type fakeToolsets struct {
	mu      sync.Mutex
	tools   map[string][]tool.Tool // by canonical name of the skill
	fails   map[string]error
	known   map[string]bool
	started []string
	called  []string
	hangs   bool // a start takes until it is given up

	registered string // the skill for which the program has toolsets
}

// echoTool is a tool of a class that returns its arguments.
func (f *fakeToolsets) echoTool(skillName, class, name, schema string) tool.Tool {
	return tool.Tool{Name: name, Source: skillName + "." + class, Description: "Does " + name + ". Carefully.", Input: json.RawMessage(schema),
		Call: func(_ context.Context, args json.RawMessage) tool.Result {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.called = append(f.called, skillName+"."+class+"."+name+string(args))
			return tool.Success(args, "called "+name)
		}}
}

func (f *fakeToolsets) Tools(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, error) {
	if _, err := admit(ctx, s); err != nil {
		return nil, err
	}
	if f.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[s.Canonical()] {
		f.started = append(f.started, s.Canonical())
		f.known[s.Canonical()] = f.fails[s.Canonical()] == nil
	}
	return f.tools[s.Canonical()], f.fails[s.Canonical()]
}

func (f *fakeToolsets) ToolsOf(ctx context.Context, s *skill.Skill, admit script.Admit, class string) ([]tool.Tool, error) {
	if _, err := admit(ctx, s); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []tool.Tool
	for _, t := range f.tools[s.Canonical()] {
		if t.Source == s.Canonical()+"."+class {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		f.started = append(f.started, s.Canonical()+"."+class)
	}
	return out, nil
}

func (f *fakeToolsets) Registered(canonical string) bool { return f.registered == canonical }

func (f *fakeToolsets) Known(_ context.Context, s *skill.Skill, _ script.Admit) ([]tool.Tool, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tools[s.Canonical()], f.known[s.Canonical()]
}

const nameSchema = `{"type":"object","properties":{"name":{"type":"string"},"language":{"type":"string"}},"required":["name"]}`

// toolsetFiles are a skill with a toolset, one with a server, one with tools of the same names, and one with scripts alone.
func toolsetFiles(rules string) tree {
	return tree{
		"hello/SKILL.md":  skillText("hello", "toolsets: [toolsets.hello:Greeter]\n"+rules, "Greet."),
		"server/SKILL.md": skillText("server", "", "Serve."),
		"server/mcp.json": `{"mcpServers":{"github":{"command":"x"}}}`,
		"twin/SKILL.md":   skillText("twin", "toolsets: [toolsets.twin:Twin]\n", "Twin."),
		"plain/SKILL.md":  skillText("plain", "", "Plain."),
	}
}

func newFake() *fakeToolsets {
	f := &fakeToolsets{known: map[string]bool{}, fails: map[string]error{}}
	f.tools = map[string][]tool.Tool{
		"hello":  {f.echoTool("hello", "Greeter", "greet", nameSchema), f.echoTool("hello", "Greeter", "bash", `{"type":"object"}`)},
		"server": {f.echoTool("server", "github", "issues/search", nameSchema)},
		"twin":   {f.echoTool("twin", "Twin", "greet", nameSchema), f.echoTool("twin", "Twin", "wave", nameSchema)},
	}
	return f
}

// conversation is what a program does with a kit: an executor, and tools that are added before each request.
type conversation struct {
	t      *testing.T
	kit    *Kit
	exec   *tool.Executor
	events []trace.Event
}

func converse(t *testing.T, f *fakeToolsets, files tree, o session.Options, change func(*Options)) *conversation {
	t.Helper()
	c := &conversation{t: t}
	tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) { c.events = append(c.events, e) })
	o.Trace = tracer
	c.kit, c.exec = checked(t, files, o, func(ko *Options) {
		ko.Toolsets, ko.Trace = f, tracer
		if change != nil {
			change(ko)
		}
	})
	c.exec.Trace, c.exec.After = tracer, c.kit.After
	return c
}

// more adds the tools of active skills and returns their names.
func (c *conversation) more() string {
	var names []string
	for _, t := range c.kit.More(c.t.Context(), c.exec.Tools) {
		if err := c.exec.Tools.Add(t); err != nil {
			c.t.Error(err)
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

func (c *conversation) call(name, args string) tool.Result {
	return c.exec.Call(c.t.Context(), name, json.RawMessage(args))
}

// The name that a model has for a tool is changed only as far as no other tool of the skill is really called so.
func TestOwnNamesFirst(t *testing.T) {
	f := newFake()
	f.tools["twin"] = []tool.Tool{f.echoTool("twin", "Twin", "2nd", nameSchema), f.echoTool("twin", "Twin", "_nd", nameSchema)}
	c := converse(t, f, toolsetFiles(""), session.Options{}, nil)
	c.call("skill", `{"skill_name":"twin"}`)
	c.more()
	c.call("_nd", `{}`)
	if !slices.Equal(f.called, []string{"twin.Twin._nd{}"}) {
		t.Errorf("called %v", f.called)
	}
}

// R116, R117, R118: an active skill's tools are tools of the model, after those there are; toolset_call calls any of them. The first of
// a name wins and the other is named in a warning, or gets its skill's name with Show.Prefix.
func TestToolsetsOfActiveSkills(t *testing.T) {
	for _, prefix := range []bool{false, true} {
		f := newFake()
		c := converse(t, f, toolsetFiles(""), session.Options{}, func(o *Options) { o.Show.Prefix = prefix })
		if got := c.more(); got != "" || len(f.started) > 0 {
			t.Fatalf("before an activation: tools %q, started %v", got, f.started)
		}
		r := c.call("skill", `{"skill_name":"hello"}`)
		want := `[This skill has tools: greet(name, language), bash(). Call them directly; one that you do not have is called by toolset_call with skill_name 'hello'.]`
		if a, _ := r.Result.(Activation); !strings.HasSuffix(a.Content, want) {
			t.Errorf("the activation ends with %q, want %q", a.Content, want)
		}
		if r := c.call("skill", `{"skill_name":"twin"}`); !r.Success {
			t.Fatal(r.Message)
		}
		names, collisions := "greet wave", []string{"Tool name collision: 'bash' from hello.Greeter.bash conflicts with bash (using first)",
			"Tool name collision: 'greet' from twin.Twin.greet conflicts with hello.Greeter.greet (using first)"}
		if prefix {
			names, collisions = "greet hello__bash twin__greet wave", nil
		}
		if got := c.more(); got != names {
			t.Errorf("prefix %v: got the tools %q, want %q", prefix, got, names)
		}
		if got := c.more(); got != "" {
			t.Errorf("the second time: got the tools %q", got)
		}
		var warned []string
		for _, e := range c.events {
			if e.Kind == trace.ToolCollided {
				warned = append(warned, e.Message)
			}
		}
		if !slices.Equal(warned, collisions) {
			t.Errorf("prefix %v: warned of %q, want %q", prefix, warned, collisions)
		}
		for _, tt := range []struct{ tool, args, want string }{
			{"greet", `{"name":"Ada"}`, `hello.Greeter.greet{"name":"Ada"}`},
			{"wave", `{}`, `twin.Twin.wave{}`},
			{"toolset_call", `{"skill_name":"Twin","tool_name":"greet","args":{"name":"Bob"}}`, `twin.Twin.greet{"name":"Bob"}`},
			{"toolset_call", `{"skill":"twin","tool":"Twin.greet","args":"{\"name\":\"Bob\"}"}`, `twin.Twin.greet{"name":"Bob"}`},
			{"toolset_call", `{"skill_name":"twin","tool_name":"twin.Twin.greet"}`, `twin.Twin.greet{}`},
			{"toolset_call", `{"skill_name":"twin","tool_name":"twin__greet","args":null}`, `twin.Twin.greet{}`},
			{"toolset_call", `{"skill_name":"hello","tool_name":"bash"}`, `hello.Greeter.bash{}`},
			{"toolset_call", `{"skill_name":"server","tool_name":"issues/search"}`, `server.github.issues/search{}`},
			{"toolset_call", `{"skill_name":"server","tool_name":"issues_search"}`, `server.github.issues/search{}`},
		} {
			f.called = nil
			c.events = nil
			if r := c.call(tt.tool, tt.args); !r.Success || len(f.called) != 1 || f.called[0] != tt.want {
				t.Errorf("%s %s: %s, called %v, want %s", tt.tool, tt.args, r.Encode(), f.called, tt.want)
			}
			full, _, _ := strings.Cut(tt.want, "{")
			if e := c.events[len(c.events)-1]; e.Kind != trace.ToolCalled || e.Tool != full {
				t.Errorf("%s %s: the call is traced as %s %s", tt.tool, tt.args, e.Kind, e.Tool)
			}
		}
		if r := c.call("bash", `{"command":"ls"}`); r.Message != "" || r.Result != nil || len(f.called) != 1 {
			if s, _ := r.Result.(json.RawMessage); s != nil {
				t.Errorf("bash is the tool of the skill: %s", r.Encode())
			}
		}
		if !slices.Equal(f.started, []string{"hello", "twin", "server"}) {
			t.Errorf("started %v", f.started)
		}
	}
}

func TestToolsetFailures(t *testing.T) {
	f := newFake()
	f.fails["twin"] = errors.New("Toolset toolsets.twin:Twin of skill 'twin': no module named nothing")
	f.tools["twin"] = nil
	c := converse(t, f, toolsetFiles(""), session.Options{}, nil)
	greet, failed := c.kit.Tool(t.Context(), "hello", "greet")
	if failed != nil {
		t.Fatal(failed)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"toolset_call", `{}`, "skill_name is required"},
		{"toolset_call", `{"skill_name":"hello"}`, "tool_name is required"},
		{"toolset_call", `{"skill_name":"nobody","tool_name":"x"}`, "Skill 'nobody' not loaded or installed"},
		{"toolset_call", `{"skill_name":"../x","tool_name":"x"}`, "Invalid skill name: '../x'"},
		{"toolset_call", `{"skill_name":"plain","tool_name":"x"}`, "Tool 'x' not found: skill 'plain' has no toolsets"},
		{"toolset_call", `{"skill_name":"hello","tool_name":"x"}`, "Tool 'x' not found in the toolsets of skill 'hello'. There are: greet, bash"},
		{"toolset_call", `{"skill_name":"hello","tool_name":"greet","args":[1]}`, `args must be an object with the tool's arguments, such as {"name": "Ada"}`},
		{"toolset_call", `{"skill_name":"hello","tool_name":"greet","args":"x"}`, `args must be an object`},
		{"toolset_call", `{"skill_name":"hello","tool_name":"greet","name":"Ada"}`, `unknown argument "name"`},
		{"toolset_call", `{"skill_name":"twin","tool_name":"x"}`, "Toolset toolsets.twin:Twin of skill 'twin': no module named nothing"},
		{"toolset_list", `{"skill_name":"twin"}`, "Toolset toolsets.twin:Twin of skill 'twin': no module named nothing"},
		{"toolset_list", `{"tool_name":"x"}`, "skill_name is required with tool_name"},
		{"toolset_list", `{"skill_name":"nobody"}`, "Skill 'nobody' not found"},
		{"toolset_list", `{"skill_name":"hello","tool_name":"x"}`, "Tool 'x' not found"},
	} {
		if r := c.call(tt.tool, tt.args); r.Success || !strings.HasPrefix(strings.TrimPrefix(r.Message, "arguments do not fit the tool's schema: "), tt.want) {
			t.Errorf("%s %s: got %s, want %q", tt.tool, tt.args, r.Encode(), tt.want)
		}
	}
	if r := c.call("skill", `{"skill_name":"twin"}`); !r.Success || !strings.Contains(result(r), "no module named nothing]") {
		t.Errorf("C58: a skill whose toolset fails stays: %s", r.Encode())
	}
	for _, want := range [][]string{{f.fails["twin"].Error()}, nil} { // the user hears it once
		if got := c.kit.Broken(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if r := c.call("toolset_list", `{"skill_name":"plain"}`); !r.Success || result(r) != `{"plain":[]}` {
		t.Errorf("a skill without toolsets: %s", r.Encode())
	}
	if len(f.called) > 0 {
		t.Errorf("called %v", f.called)
	}
	f.tools["hello"] = nil
	e, err := c.kit.o.Catalog().Lookup("hello")
	if err != nil {
		t.Fatal(err)
	}
	at, err := e.Location(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(at), "new.md"), []byte("another content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := greet.Call(t.Context(), json.RawMessage(`{}`)); r.Success || !strings.Contains(r.Message, "its toolset no longer has it") {
		t.Errorf("a tool that another content does not have: %s", r.Encode())
	}
}

// A skill with 60 tools: neither the list nor the activation nor the request has them all at length, and each can be seen.
func TestManyTools(t *testing.T) {
	f := newFake()
	f.tools["hello"] = nil
	for i := range 160 {
		one := f.echoTool("hello", "Greeter", fmt.Sprintf("tool_%03d", i), nameSchema)
		one.Description = strings.Repeat("long words ", 100)
		f.tools["hello"] = append(f.tools["hello"], one)
	}
	c := converse(t, f, toolsetFiles(""), session.Options{}, nil)
	r := c.call("skill", `{"skill_name":"hello"}`)
	if text := string(r.Encode()); len(text) > 2500 || !strings.Contains(text, "and 140 more, which toolset_list with skill_name 'hello' lists. They are called by toolset_call") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if got := c.more(); got != "" {
		t.Errorf("the request has the tools %s", got)
	}
	r = c.call("toolset_list", `{"skill_name":"hello"}`)
	if text := string(r.Encode()); len(text) > 20_000 || !strings.Contains(r.Message, "Skill 'hello' has 160 tools; tool_name shows one with its arguments; 60 more are not listed here") || strings.Contains(text, "properties") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	r = c.call("toolset_list", `{"skill_name":"hello","tool_name":"tool_159"}`)
	if text := string(r.Encode()); !r.Success || !strings.Contains(text, `"language"`) {
		t.Errorf("one tool: %s", text)
	}
	r = c.call("toolset_list", `{}`)
	if text := string(r.Encode()); len(text) > 20_000 || !strings.Contains(r.Message, "these skills have toolsets that were not started yet, call toolset_list with skill_name: server, twin") {
		t.Errorf("all: %d bytes: %s", len(text), r.Message)
	}
	if r := c.call("toolset_call", `{"skill_name":"hello","tool_name":"tool_159"}`); !r.Success {
		t.Errorf("got %s", r.Encode())
	}
	if !slices.Equal(f.started, []string{"hello"}) {
		t.Errorf("started %v", f.started)
	}

	short := newFake()
	c = converse(t, short, toolsetFiles(""), session.Options{}, func(o *Options) { o.Show.CallOnly = true })
	if r := c.call("skill", `{"skill_name":"hello"}`); !strings.Contains(result(r), "They are called by toolset_call with skill_name 'hello'; toolset_list shows their arguments.]") || c.more() != "" {
		t.Errorf("CallOnly: %s", r.Encode())
	}
	if r := c.call("toolset_list", `{"skill_name":"hello"}`); !strings.Contains(result(r), `"input":{"type":"object","properties"`) {
		t.Errorf("a short list has no arguments: %s", r.Encode())
	}
}

// A server's tools are offered without toolsets in a manifest, with names that providers accept; the two fixed tools come with them.
func TestLateFixedTools(t *testing.T) {
	files := toolsetFiles("")
	delete(files, "hello/SKILL.md")
	delete(files, "twin/SKILL.md")
	f := newFake()
	c := converse(t, f, files, session.Options{}, nil)
	if _, ok := c.exec.Tools.Lookup("toolset_call"); ok {
		t.Error("toolset_call is there although no manifest names toolsets")
	}
	c.call("skill", `{"skill_name":"server"}`)
	if got := c.more(); got != "toolset_list toolset_call issues_search" {
		t.Errorf("got the tools %q", got)
	}
	if r := c.call("issues_search", `{"name":"x"}`); !r.Success || f.called[0] != `server.github.issues/search{"name":"x"}` {
		t.Errorf("got %s, called %v", r.Encode(), f.called)
	}
	for name, want := range map[string]string{"": "_", "a.b": "a_b", "-x": "_x", "9x": "_x", "größe": "gr__e", strings.Repeat("a", 100): strings.Repeat("a", 64)} {
		if got := modelName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// R120, C57: nothing of an untrusted skill starts; the answer is that of its scripts, and a yes is for the present content.
func TestUntrustedToolsets(t *testing.T) {
	for _, tt := range []struct {
		name    string
		approve func(context.Context, *skill.Skill) (bool, error)
		note    string
		started bool
	}{
		{"nobody to ask", nil, "[Skill 'hello' is not trusted: its scripts are not run.]", false},
		{"no", func(context.Context, *skill.Skill) (bool, error) { return false, nil }, "toolset_list with skill_name 'hello' asks the user.]", false},
		{"yes", func(context.Context, *skill.Skill) (bool, error) { return true, nil }, "toolset_list with skill_name 'hello' asks the user.]", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			f.known["twin"] = true // it ran, and is no longer trusted
			k, _ := kit(t, kitOptions{files: toolsetFiles(""), change: func(o *Options) { o.Toolsets, o.Policy.Approve = f, tt.approve }})
			c := &conversation{t: t, kit: k, exec: &tool.Executor{Tools: &tool.Set{}, Check: k.Check}}
			for _, one := range k.Tools() {
				if err := c.exec.Tools.Add(one); err != nil {
					t.Fatal(err)
				}
			}
			if r := c.call("skill", `{"skill_name":"hello"}`); !strings.Contains(result(r), tt.note) || c.more() != "" || len(f.started) > 0 {
				t.Errorf("activated: %s, started %v", r.Encode(), f.started)
			}
			c.call("skill", `{"skill_name":"twin"}`)
			c.more()
			for _, call := range []string{"toolset_list", "toolset_call"} {
				r := c.call(call, `{"skill_name":"hello","tool_name":"greet"}`)
				if r.Success != tt.started || !tt.started && (r.Error != tool.PermissionDenied || r.Reason != ReasonUntrusted) {
					t.Errorf("%s: %s", call, r.Encode())
				}
			}
			r := c.call("toolset_call", `{"skill_name":"twin","tool_name":"wave"}`)
			if r.Success != tt.started || !tt.started && r.Reason != ReasonUntrusted {
				t.Errorf("a tool that is known: %s", r.Encode())
			}
			if (len(f.started) > 0) != tt.started || (len(f.called) > 0) != tt.started {
				t.Errorf("started %v, called %v", f.started, f.called)
			}
			if tt.started && c.more() == "" {
				t.Error("the tools are not offered after the yes")
			}
		})
	}
}

// R120, C8: a tool of a toolset is allowed where a rule names it, by its own name and through toolset_call alike; a skill's own
// list binds its own tools, too. What is not allowed does not start either.
func TestToolsetRestrictions(t *testing.T) {
	for _, tt := range []struct {
		rules        string
		starts       bool
		greet, other bool // hello.Greeter.greet, twin.Twin.wave
	}{
		{"allowed-tools: Read", false, false, false},
		{"allowed-tools: '[]'", false, false, false},
		{"allowed-tools: Bash Read script_run", false, false, false},
		{"allowed-tools: greet Read", true, true, false},
		{"allowed-tools: hello.Greeter.greet", true, true, false},
		{"allowed-tools: hello__greet", true, true, false},
		{"allowed-tools: toolset_hello_*", true, true, false},
		{"allowed-tools: toolset_call", true, true, true},
		{"disallowed-tools: greet", true, false, true},
		{"disallowed-tools: hello__*", true, false, true},
		{"disallowed-tools: toolset_call", true, false, false},
		{"disallowed-tools: toolset_list", false, false, true},
	} {
		f := newFake()
		f.known["twin"] = true
		c := converse(t, f, toolsetFiles(tt.rules+"\n"), session.Options{}, nil)
		if r := c.call("skill", `{"skill_name":"hello"}`); !r.Success {
			t.Fatal(r.Message)
		}
		if started := slices.Contains(f.started, "hello"); started != tt.starts {
			t.Errorf("%s: started %v", tt.rules, f.started)
		}
		c.more()
		for _, way := range []struct{ tool, args string }{{"greet", `{}`}, {"toolset_call", `{"skill_name":"hello","tool_name":"greet"}`}} {
			if _, ok := c.exec.Tools.Lookup(way.tool); !ok {
				continue
			}
			r := c.call(way.tool, way.args)
			if r.Success != tt.greet {
				t.Errorf("%s: %s: %s", tt.rules, way.tool, r.Encode())
			}
			if tt.starts && !tt.greet && (r.Reason != "tool_not_allowed" || !strings.HasPrefix(r.Message, "Tool 'hello.Greeter.greet' not allowed by skill 'hello'.")) {
				t.Errorf("%s: %s: %s", tt.rules, way.tool, r.Encode())
			}
		}
		if r := c.call("toolset_call", `{"skill_name":"twin","tool_name":"wave"}`); r.Success != tt.other {
			t.Errorf("%s: another skill's tool: %s", tt.rules, r.Encode())
		}
		if !tt.greet && slices.ContainsFunc(f.called, func(s string) bool { return strings.HasPrefix(s, "hello.") }) {
			t.Errorf("%s: called %v", tt.rules, f.called)
		}
	}
}

// A file of servers declares toolsets by either of its names.
func TestServerFiles(t *testing.T) {
	for _, name := range []string{"mcp.json", ".mcp.json"} {
		f := newFake()
		c := converse(t, f, tree{"server/SKILL.md": skillText("server", "", "Serve."), "server/" + name: `{"mcpServers":{"github":{"command":"x"}}}`}, session.Options{}, nil)
		if r := userCall(t, c.kit, "server", "issues/search", nil); !r.Success {
			t.Errorf("%s: %s", name, r.Encode())
		}
	}
}

// R127: guards know a tool of a toolset by its names, by whichever way it is called, also in a sub-agent.
func TestToolsetGuards(t *testing.T) {
	for _, matcher := range []string{"wave", "twin__wave", "twin.Twin.wave", `twin\..*`} {
		files := toolsetFiles("")
		for name, text := range hooked(preToolUse("'"+matcher+"'", `bash "${CLAUDE_PLUGIN_ROOT}"/scripts/guard.sh`)) {
			files[name] = text
		}
		f := newFake()
		f.known["twin"] = true
		c := converse(t, f, files, session.Options{}, func(o *Options) { o.Hooks = true })
		c.call("skill", `{"skill_name":"x"}`)
		sub, err := c.kit.Sub(t.Context(), tool.Fork{Skill: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		in := &conversation{t: t, kit: sub, exec: &tool.Executor{Tools: &tool.Set{}, Check: sub.Check}}
		in.more()
		for _, one := range []*conversation{c, in} {
			r := one.call("toolset_call", `{"skill_name":"twin","tool_name":"wave","args":{"name":"secret"}}`)
			if r.Reason != reasonHook || !strings.HasPrefix(r.Message, "Tool 'twin.Twin.wave' not allowed by a hook of skill 'x': no secrets, please") || len(f.called) > 0 {
				t.Errorf("%s: %s", matcher, r.Encode())
			}
		}
		if r := c.call("toolset_call", `{"skill_name":"twin","tool_name":"wave"}`); !r.Success {
			t.Errorf("%s: %s", matcher, r.Encode())
		}
		f.called = nil
	}
}

// R129: a sub-agent's skill brings its tools, and what the parent allows binds them.
func TestToolsetsOfSubAgents(t *testing.T) {
	f := newFake()
	files := toolsetFiles("")
	files["bound/SKILL.md"] = skillText("bound", "allowed-tools: twin.Twin.wave\n", "Bound.")
	files["twin/SKILL.md"] = skillText("twin", "context: fork\ntoolsets: [toolsets.twin:Twin]\n", "Twin.")
	c := converse(t, f, files, session.Options{}, func(o *Options) { o.Forks = true })
	c.call("skill", `{"skill_name":"bound"}`)
	sub, err := c.kit.Sub(t.Context(), tool.Fork{Skill: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	in := &conversation{t: t, kit: sub, exec: &tool.Executor{Tools: &tool.Set{}, Check: sub.Check}}
	if got := in.more(); got != "toolset_list toolset_call greet wave" {
		t.Errorf("got the tools %q", got)
	}
	if r := in.call("wave", `{}`); !r.Success {
		t.Errorf("wave: %s", r.Encode())
	}
	if r := in.call("greet", `{}`); r.Success || r.Reason != "tool_not_allowed" {
		t.Errorf("greet: %s", r.Encode())
	}
	if c.more() != "" {
		t.Error("the conversation itself has the tools of its sub-agent")
	}
}

// The policy may keep toolsets from starting, and is asked again when the model calls toolset_list.
func TestStartsIsAsked(t *testing.T) {
	f := newFake()
	var asked []string
	c := converse(t, f, toolsetFiles(""), session.Options{}, func(o *Options) {
		o.Policy.Starts = func(_ context.Context, name string, called bool) error {
			asked = append(asked, fmt.Sprint(name, called))
			if called {
				return nil
			}
			return errors.New("toolsets are not started: the mode is read-only")
		}
	})
	if r := c.call("skill", `{"skill_name":"hello"}`); !strings.Contains(result(r), "[toolsets are not started: the mode is read-only]") {
		t.Errorf("got %s", r.Encode())
	}
	if r := c.call("toolset_call", `{"skill_name":"hello","tool_name":"greet"}`); r.Success || r.Error != tool.PermissionDenied || len(f.started) > 0 {
		t.Errorf("got %s, started %v", r.Encode(), f.started)
	}
	if r := c.call("toolset_list", `{"skill_name":"hello"}`); !r.Success || len(f.started) != 1 {
		t.Errorf("got %s, started %v", r.Encode(), f.started)
	}
	if got := fmt.Sprint(asked); got != "[hellofalse hellofalse hellotrue]" {
		t.Errorf("asked %s", got)
	}
	if got := c.more(); got != "greet" {
		t.Errorf("got the tools %q", got)
	}
	text := c.kit.Carry(t.Context()).Body
	if !strings.Contains(text, "This skill has tools: greet(name, language), bash()") {
		t.Errorf("a shortened conversation forgets the tools:\n%s", text)
	}
	if c.call("skill", `{"skill_name":"hello","action":"deactivate"}`); c.more() != "" {
		t.Error("tools were added twice")
	}
	if r := c.call("greet", `{}`); !r.Success {
		t.Errorf("after the skill was left: %s", r.Encode())
	}
}

// userCall calls a tool as a user does.
func userCall(t *testing.T, k *Kit, skillName, toolName string, args json.RawMessage) tool.Result {
	t.Helper()
	own, err := k.Tool(t.Context(), skillName, toolName)
	if err != nil {
		return k.Failure(t.Context(), err, skillName)
	}
	return own.Call(t.Context(), args)
}

// A name with the class starts one toolset only, while what the toolsets have is not known. A name without it starts all.
func TestToolOfClassStartsOneToolset(t *testing.T) {
	for name, want := range map[string]string{
		"Greeter.greet":       "hello.Greeter",
		"hello.Greeter.greet": "hello.Greeter",
		"greet":               "hello",
		"Nobody.greet":        "hello",
	} {
		f := newFake()
		k, _ := kit(t, kitOptions{files: toolsetFiles(""), trust: skill.TrustRoot, change: func(o *Options) { o.Toolsets, o.ByUser = f, true }})
		r := userCall(t, k, "hello", name, json.RawMessage(`{"name":"Ada"}`))
		if len(f.started) != 1 || f.started[0] != want || r.Success == (name == "Nobody.greet") {
			t.Errorf("%s: started %v, want %s: %s", name, f.started, want, r.Encode())
		}
		if r := userCall(t, k, "hello", "greet", json.RawMessage(`{"name":"Ada"}`)); !r.Success {
			t.Errorf("%s: then a name without a class: %s", name, r.Encode())
		}
	}
}

// The calls of a user: a list and a call, with the failures of scripts.
func TestToolsetsByUser(t *testing.T) {
	f := newFake()
	k, _ := kit(t, kitOptions{files: toolsetFiles(""), trust: skill.TrustRoot, change: func(o *Options) { o.Toolsets, o.ByUser = f, true }})
	tools, err := k.ListTools(t.Context(), "Hello")
	if err != nil || len(tools) != 2 || tools[0].Full != "hello.Greeter.greet" {
		t.Fatalf("got %v, %v", tools, err)
	}
	if r := userCall(t, k, "hello", "greet", json.RawMessage(`{"name":"Ada"}`)); !r.Success || f.called[0] != `hello.Greeter.greet{"name":"Ada"}` {
		t.Errorf("got %s, called %v", r.Encode(), f.called)
	}
	if tools, err := k.ListTools(t.Context(), "plain"); err != nil || len(tools) != 0 {
		t.Errorf("got %v, %v", tools, err)
	}
	var e *script.Error
	if _, err := k.ListTools(t.Context(), "nobody"); !errors.As(err, &e) || e.Code != script.NotFound {
		t.Errorf("got %v", err)
	}
	untrusted, _ := kit(t, kitOptions{files: toolsetFiles(""), change: func(o *Options) { o.Toolsets, o.ByUser = newFake(), true }})
	if _, err := untrusted.ListTools(t.Context(), "hello"); !errors.As(err, &e) || e.Reason != ReasonUntrusted {
		t.Errorf("got %v", err)
	}
	if r := userCall(t, untrusted, "hello", "greet", nil); r.Reason != ReasonUntrusted {
		t.Errorf("got %s", r.Encode())
	}
	look := newFake()
	k, _ = kit(t, kitOptions{files: toolsetFiles(""), trust: skill.TrustRoot, change: func(o *Options) { o.Toolsets, o.ByUser = look, true }})
	if r := k.Activate(t.Context(), "hello", ""); !strings.Contains(result(r), "[This skill has toolsets: toolset_list with skill_name 'hello' shows their tools.]") || len(look.started) > 0 {
		t.Errorf("a user who looks at an activation starts %v: %s", look.started, r.Encode())
	}
}

func TestWithoutToolsets(t *testing.T) {
	k, _ := kit(t, kitOptions{files: toolsetFiles(""), trust: skill.TrustRoot})
	for _, one := range k.Tools() {
		if strings.HasPrefix(one.Name, "toolset_") {
			t.Errorf("there is %s", one.Name)
		}
	}
	if r := k.Activate(t.Context(), "hello", ""); !r.Success || strings.Contains(result(r), "toolset") || k.More(t.Context(), &tool.Set{}) != nil {
		t.Errorf("got %s", r.Encode())
	}
	if _, err := k.ListTools(t.Context(), "hello"); err == nil {
		t.Error("there are tools")
	}
}

// A skill that declares no toolset can have one of the program: its tools are listed, called and offered like others.
func TestToolsetsOfTheProgram(t *testing.T) {
	f := newFake()
	f.registered = "plain"
	f.tools["plain"] = []tool.Tool{f.echoTool("plain", "InGo", "sum", `{"type":"object"}`)}
	f.known["plain"] = true
	c := converse(t, f, tree{"plain/SKILL.md": skillText("plain", "", "Plain.")}, session.Options{}, nil)
	if _, ok := c.exec.Tools.Lookup("toolset_call"); !ok {
		t.Error("toolset_call is missing from the start")
	}
	if r := c.call("toolset_call", `{"skill_name":"plain","tool_name":"sum","args":{"a":1}}`); !r.Success {
		t.Errorf("got %+v", r)
	}
	if r := c.call("skill", `{"skill_name":"plain"}`); !r.Success || c.more() != "sum" {
		t.Errorf("got %+v and no tool sum", r)
	}
}
