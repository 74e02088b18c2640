package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/trace"
)

// world is a folder of skills and what serves them.
type world struct {
	dir string
	o   *Options

	mu      sync.Mutex
	catalog *skill.Catalog // nil: opened when it is asked for
	opened  int            // how often that was
}

// newWorld writes skills, whose files are given by their paths.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	for name, text := range files {
		w.write(t, name, text)
	}
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	w.o = &Options{
		Catalog: func(ctx context.Context) (*skill.Catalog, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.catalog != nil {
				return w.catalog, nil
			}
			w.opened++
			var err error
			w.catalog, err = skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.Dir(w.dir, nil), Trust: skill.TrustRoot}}})
			return w.catalog, err
		},
		Kit: func(_ context.Context, c *skill.Catalog, s *session.Session) (*skilltool.Kit, error) {
			return skilltool.New(&skilltool.Options{Catalog: func() *skill.Catalog { return c }, Session: s, Scripts: host, Show: skilltool.Show{Listing: true}}), nil
		},
	}
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.catalog = nil
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil { //nolint:gosec // scripts are executable
		t.Fatal(err)
	}
}

// client returns a client of a new server.
func (w *world) client(t *testing.T, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	c, _ := w.server(t, o, version)
	return c
}

// server returns a client of a new server, and that.
func (w *world) server(t *testing.T, o *mcp.ClientOptions, version string) (*mcp.ClientSession, *Server) {
	t.Helper()
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), inR, outW) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	for _, method := range []string{"skills/list", "skills/get", "resources/directory/read"} {
		if err := mcp.AddSendingCustomMethod[*listParams, *anything](client, method); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return c, s
}

// revisions are one of each era.
var revisions = []string{"2026-07-28", "2025-06-18"}

// answer is the envelope of a result.
type answer struct {
	Success  bool
	Error    string
	Reason   string
	Message  string
	Result   json.RawMessage
	Metadata struct{ Session string }
}

// call calls a tool, and checks that what it returns has both its forms.
func call(t *testing.T, c *mcp.ClientSession, name string, args map[string]any) answer {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	var a answer
	var both, structured any
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	_ = json.Unmarshal([]byte(text), &both)
	b, _ := json.Marshal(r.StructuredContent)
	_ = json.Unmarshal(b, &structured)
	if fmt.Sprint(both) != fmt.Sprint(structured) { // C83
		t.Errorf("the text is %s, the value %s", text, b)
	}
	if r.IsError == a.Success || strings.Contains(text, "duration_ms") || strings.Contains(text, `"sandbox"`) { // C83
		t.Errorf("isError is %t: %s", r.IsError, text)
	}
	return a
}

var greet = map[string]string{
	"greet/SKILL.md":         "---\nname: greet\ndescription: Greets people.\nallowed-tools: script_run\n---\nRun scripts/hello.sh.\n",
	"greet/scripts/hello.sh": "#!/bin/sh\necho \"hello $1\"\n",
	"notes/SKILL.md":         "---\nname: notes\ndescription: Keeps notes.\n---\nWrite them down.\n",
}

// A client of each era finds a skill, activates it and runs its script; nothing is read before it asks.
func TestServe(t *testing.T) {
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, greet)
			c := w.client(t, nil, version)
			if got := c.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("got revision %s", got)
			}
			if w.opened > 0 {
				t.Error("the skills were read before the first answer")
			}
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if got, want := strings.Join(names, " "), "script_help script_list script_run skill skill_read"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if a := call(t, c, "skill", map[string]any{"skill_name": "greet"}); !a.Success || !strings.Contains(string(a.Result), "Run scripts/hello.sh") {
				t.Errorf("got %+v", a)
			}
			if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "hello", "args": []string{"Ada"}}); !a.Success || string(a.Result) != `"hello Ada\n"` {
				t.Errorf("got %+v", a)
			}
			if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "helo"}); a.Success || a.Error != "not_found" {
				t.Errorf("got %+v", a)
			}
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "bash"}); err == nil {
				t.Error("a tool that is not there was called")
			}
			after, err := c.ListTools(t.Context(), nil)
			if err != nil || len(after.Tools) != len(list.Tools) {
				t.Errorf("a call changed the list: %v", err)
			}
		})
	}
}

// C79: calls stand alone, and a handle carries what is active, with what it allows, to any server with the same key.
func TestHandles(t *testing.T) {
	w := newWorld(t, greet)
	w.o.Key = []byte(strings.Repeat("k", 32))
	now := time.Now()
	w.o.now = func() time.Time { return now }
	c := w.client(t, nil, "")
	first := call(t, c, "skill", map[string]any{"skill_name": "greet"})
	if again := call(t, c, "skill", map[string]any{"skill_name": "greet"}); string(again.Result) != string(first.Result) {
		t.Errorf("the second conversation got %s", again.Result)
	}
	read := func(c *mcp.ClientSession, handle any) answer {
		return call(t, c, "skill_read", map[string]any{"skill_name": "notes", "path": "SKILL.md", "session": handle})
	}
	if a := call(t, c, "skill_read", map[string]any{"skill_name": "notes", "path": "SKILL.md"}); !a.Success {
		t.Errorf("without a handle: %+v", a)
	}
	handle := first.Metadata.Session
	if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "hello", "session": handle}); !a.Success {
		t.Errorf("what the skill allows: %+v", a)
	}
	elsewhere := w.client(t, nil, "")
	if a := read(elsewhere, handle); a.Success || a.Error != "permission_denied" {
		t.Errorf("what the skill does not allow: %+v", a)
	}
	for name, bad := range map[string]any{
		"no handle": "x", "empty": ".", "changed": "A" + handle[1:], "without its proof": handle[:strings.IndexByte(handle, '.')+1],
		"a number": 7, "very long": strings.Repeat("A", maxHandle) + "." + handle,
	} {
		if a := read(c, bad); a.Success || a.Reason != "invalid_arguments" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	w.o.Key = []byte(strings.Repeat("x", 32))
	if a := read(w.client(t, nil, ""), handle); a.Success || !strings.Contains(a.Message, "no handle of this server") {
		t.Errorf("with another key: %+v", a)
	}
	w.write(t, "greet/SKILL.md", strings.Replace(greet["greet/SKILL.md"], "allowed-tools: script_run\n", "", 1))
	if a := read(c, handle); a.Success || !strings.Contains(a.Message, "cannot go on") {
		t.Errorf("after a change of the skill: %+v", a)
	}
	w.write(t, "greet/SKILL.md", greet["greet/SKILL.md"])
	now = now.Add(holds + time.Second)
	if a := read(c, handle); a.Success || !strings.Contains(a.Message, "24 hours") {
		t.Errorf("a day later: %+v", a)
	}
}

// Descriptions and results keep within what clients take.
func TestLimits(t *testing.T) {
	files := map[string]string{"big/SKILL.md": "---\nname: big\ndescription: Prints much.\n---\nBody\n", "big/scripts/much.sh": "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n"}
	for i := range 300 {
		files[fmt.Sprintf("skill-%03d/SKILL.md", i)] = fmt.Sprintf("---\nname: skill-%03d\ndescription: Does what number %d does — carefully, and for those who ask.\n---\nBody\n", i, i)
	}
	w := newWorld(t, files)
	c := w.client(t, nil, "")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if n := utf8.RuneCountInString(tool.Description); n > 4096 {
			t.Errorf("%s: %d characters", tool.Name, n)
		}
		if tool.Name == "skill" && (!strings.Contains(tool.Description, "skill-000") || !strings.HasSuffix(tool.Description, sessionNote) || !strings.Contains(tool.Description, "search")) {
			t.Errorf("got %s", tool.Description)
		}
	}
	a := call(t, c, "script_run", map[string]any{"skill_name": "big", "script_name": "much"})
	if n := len(a.Result); !a.Success || n < 30_000 || n > 30_100 || !strings.Contains(string(a.Result), "70000 characters are left out here") {
		t.Errorf("got %d characters, %t", n, a.Success)
	}
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "big", "script_name": "much"}})
	if err != nil || len(r.Content) != 2 {
		t.Fatalf("got %+v, %v", r, err)
	}
	link := r.Content[1].(*mcp.ResourceLink)
	kept, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
	if err != nil || kept.Contents[0].Text != strings.Repeat("x", 100_000) || *link.Size != 100_000 {
		t.Errorf("got %d bytes, %v", *link.Size, err)
	}
	if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: wholeScheme + "other"}); err == nil {
		t.Error("what is not there was read")
	}
}

// What a script prints is told while it runs, and the end of a call ends the script.
func TestProgressAndCancel(t *testing.T) {
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			w := newWorld(t, map[string]string{
				"slow/SKILL.md":        "---\nname: slow\ndescription: Takes its time.\n---\nBody\n",
				"slow/scripts/wait.sh": "#!/bin/sh\necho begun\nwhile [ ! -e " + mark + " ]; do sleep 0.05; done\necho over\n",
			})
			said := make(chan string, 16)
			c := w.client(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { said <- r.Params.Message }}, version)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			params := &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "slow", "script_name": "wait"}}
			params.SetProgressToken("p")
			go func() {
				_, err := c.CallTool(ctx, params)
				ended <- err
			}()
			if got := <-said; got != "begun" {
				t.Errorf("got %q", got)
			}
			cancel()
			if err := <-ended; err == nil {
				t.Error("the call was not cancelled")
			}
			if a := call(t, c, "skill", map[string]any{"skill_name": "slow"}); !a.Success { // the server goes on
				t.Errorf("got %+v", a)
			}
		})
	}
}

// Whoever calls is named in the log.
func TestClientInTheLog(t *testing.T) {
	w := newWorld(t, greet)
	var agents []string
	w.o.Trace = trace.TracerFunc(func(ctx context.Context, e trace.Event) {
		if e.Kind == trace.ToolCalled {
			agents = append(agents, trace.IdentityOf(ctx).Agent)
		}
	})
	call(t, w.client(t, nil, ""), "skill", map[string]any{"skill_name": "greet"})
	if fmt.Sprint(agents) != "[mcp:test]" {
		t.Errorf("got %q", agents)
	}
}

// A call belongs to the span that the client names.
func TestParentOfCall(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	w := newWorld(t, greet)
	var got []string
	w.o.Trace = trace.TracerFunc(func(ctx context.Context, e trace.Event) {
		if e.Kind == trace.ToolCalled {
			got = append(got, trace.ParentOf(ctx))
		}
	})
	c := w.client(t, nil, "")
	for _, meta := range []mcp.Meta{{"traceparent": parent}, {"traceparent": 7}, nil} {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: "skill", Arguments: map[string]any{"skill_name": "greet"}}); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(got) != "["+parent+"  ]" {
		t.Errorf("got %q", got)
	}
}

// A person calls for a skill by its prompt, also for one that is hidden from models, and its handle works.
func TestPrompts(t *testing.T) {
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				"greet/SKILL.md":         strings.Replace(greet["greet/SKILL.md"], "allowed-tools", "argument-hint: <warm|cool|warmest>\ndisable-model-invocation: true\nallowed-tools", 1),
				"greet/scripts/hello.sh": greet["greet/scripts/hello.sh"],
				"notes/SKILL.md":         greet["notes/SKILL.md"],
				"own/SKILL.md":           "---\nname: own\ndescription: For models.\nuser-invocable: false\n---\nBody\n",
			})
			c := w.client(t, nil, version)
			list, err := c.ListPrompts(t.Context(), nil)
			if err != nil || len(list.Prompts) != 2 || list.Prompts[0].Name != "greet" || list.Prompts[0].Arguments[0].Description != "<warm|cool|warmest>" || list.Prompts[1].Arguments != nil {
				t.Fatalf("got %+v, %v", list, err)
			}
			got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"args": "warm"}})
			if err != nil {
				t.Fatal(err)
			}
			text := got.Messages[0].Content.(*mcp.TextContent).Text
			_, rest, ok := strings.Cut(text, `"session": "`)
			handle, _, _ := strings.Cut(rest, `"`)
			if !ok || !strings.Contains(text, "The user called for the skill 'greet'") || !strings.Contains(text, "Run scripts/hello.sh") {
				t.Errorf("got %s", text)
			}
			if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "hello"}); a.Success {
				t.Error("a model ran a script of a hidden skill")
			}
			if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "hello", "session": handle}); !a.Success {
				t.Errorf("got %+v", a)
			}
			for _, name := range []string{"own", "none"} {
				if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name}); err == nil {
					t.Errorf("%s is a prompt", name)
				}
			}
			for text, want := range map[string]string{"wa": "[warm warmest]", "": "[warm cool warmest]", "x": "[]"} {
				r, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "args", Value: text}})
				if err != nil || fmt.Sprint(r.Completion.Values) != want {
					t.Errorf("%q: got %+v, %v", text, r, err)
				}
			}
		})
	}
}

// Clients are told of changes on disk, and not of the first list.
func TestChanges(t *testing.T) {
	w := newWorld(t, greet)
	for _, version := range revisions {
		told, files := make(chan bool, 64), make(chan bool, 64) // a slow machine tells more than once
		o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- true },
			ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { files <- true }}
		c, s := w.server(t, o, version)
		if err := s.Changed(t.Context()); err != nil { // nobody has asked for the tools yet
			t.Fatal(err)
		}
		<-files
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		w.write(t, "more-"+version[:4]+"/SKILL.md", "---\nname: more-"+version[:4]+"\ndescription: One more.\n---\nBody\n")
		if len(told) > 0 {
			t.Error("the first list was told as a change")
		}
		if err := s.Changed(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-told
		<-files
		list, err := c.ListTools(t.Context(), nil)
		if err != nil || !strings.Contains(fmt.Sprint(list.Tools[3].Description), "more-"+version[:4]) {
			t.Errorf("%s: got %v, %v", version, list, err)
		}
	}
}

// What was cut is kept for its caller, for a while, and within a limit.
func TestWholes(t *testing.T) {
	var w wholes
	now := time.Now()
	link := w.keep(now, "ada", "text")
	for _, tt := range []struct {
		of, uri string
		after   time.Duration
		want    bool
	}{{"ada", link.URI, wholeFor, true}, {"bob", link.URI, 0, false}, {"ada", link.URI + "x", 0, false}, {"ada", link.URI, wholeFor + 1, false}} {
		if text, ok := w.find(now.Add(tt.after), tt.of, tt.uri); ok != tt.want || ok && text != "text" {
			t.Errorf("%+v: got %q, %t", tt, text, ok)
		}
	}
	if w.keep(now, "ada", strings.Repeat("x", mostWhole+1)) != nil {
		t.Error("too much was kept")
	}
	w.keep(now, "ada", strings.Repeat("x", mostWhole))
	if _, ok := w.find(now, "ada", link.URI); ok || w.size != mostWhole || len(w.all) != 1 {
		t.Errorf("kept %d bytes in %d results", w.size, len(w.all))
	}
	w.keep(now.Add(wholeFor+1), "ada", "new")
	if w.size != 3 {
		t.Errorf("kept %d bytes", w.size)
	}
}

func TestOptions(t *testing.T) {
	w := newWorld(t, nil)
	for name, o := range map[string]*Options{"none": nil, "no catalog": {Kit: w.o.Kit}, "no kit": {Catalog: w.o.Catalog}, "a short key": {Catalog: w.o.Catalog, Kit: w.o.Kit, Key: make([]byte, 31)}} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
