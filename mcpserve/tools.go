package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// describe returns the tools over a catalogue as a client sees them.
func (s *Server) describe(ctx context.Context, c *skill.Catalog) ([]*mcp.Tool, error) {
	kit, err := s.o.Kit(ctx, c, s.o.Session())
	if err != nil {
		return nil, err
	}
	defer kit.End(context.WithoutCancel(ctx))
	var out []*mcp.Tool
	for _, t := range kit.Tools() {
		input, err := withSession(t.Input)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		about := t.Description
		if t.Name == skillTool {
			about = s.listed(c)
		}
		out = append(out, &mcp.Tool{Name: t.Name, Description: cut(about, s.o.Limits.Description), InputSchema: input, Annotations: hints(t.Name)})
	}
	return out, nil
}

const skillTool = "skill"

// listed returns the description of the tool skill: a list of skills that fits.
func (s *Server) listed(c *skill.Catalog) string {
	most := s.o.Limits.Description - utf8.RuneCountInString(sessionNote)
	o := &disclose.Options{Search: disclose.SearchTool}
	for {
		text, err := disclose.ToolList(c, o)
		if err != nil { // the style is ours: only a mistake of this program gets here
			panic(err)
		}
		size := utf8.RuneCountInString(text.Body)
		if size <= most || o.Budget == 1 {
			return cut(text.Body, most) + sessionNote
		}
		o.Budget = max(1, text.Tokens*most/size*9/10)
	}
}

// sessionNote tells a model what a handle is for.
const sessionNote = "\nAn activation returns metadata.session: give it to later calls as `session`, so that the skill is active for them."

// withSession returns the schema of a tool with the handle as a further property.
func withSession(schema json.RawMessage) (map[string]any, error) {
	var out map[string]any
	if err := json.Unmarshal(schema, &out); err != nil {
		return nil, err
	}
	properties, _ := out["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	properties["session"] = map[string]any{"type": "string", "description": "metadata.session of an earlier result of the tool skill"}
	out["properties"] = properties
	return out, nil
}

// hints tells a client what a tool does at most. Only scripts and toolsets change anything.
func hints(name string) *mcp.ToolAnnotations {
	runs := name == "script_run" || name == "toolset_call" || name == "toolset_list"
	return &mcp.ToolAnnotations{ReadOnlyHint: !runs, DestructiveHint: &runs, OpenWorldHint: &runs}
}

// call answers tools/call.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	of := caller(req.Extra)
	ctx = trace.WithIdentity(ctx, trace.Identity{Agent: clientName(of, req.Session)})
	ctx = withProgress(withParent(ctx, req), req)
	handle, args, err := takeSession(req.Params.Arguments)
	if err != nil {
		return s.result(of, tool.CauseArguments.Failure(err.Error())), nil
	}
	asking := s.asking(of, req)
	r := s.do(context.WithValue(ctx, askingKey{}, asking), c, req.Params.Name, of, handle, args)
	if q := asking.question(); q != nil {
		return q, nil // nothing has run: the call comes again with the answer
	}
	return s.result(of, r), nil
}

// withParent returns the context of a call that belongs to a span of the client.
func withParent(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Extra != nil {
		ctx = trace.WithParent(ctx, req.Extra.Header.Get("traceparent"))
	}
	text, _ := req.Params.Meta["traceparent"].(string)
	return trace.WithParent(ctx, text)
}

// do calls a tool for a caller, in the session of a handle.
func (s *Server) do(ctx context.Context, c *skill.Catalog, name, of, handle string, args json.RawMessage) tool.Result {
	conversation := s.o.Session()
	if handle != "" {
		if r := s.restore(ctx, c, conversation, of, handle); r != nil {
			return *r
		}
	}
	kit, err := s.o.Kit(ctx, c, conversation)
	if err != nil {
		return tool.CauseUnknown.Failure(err.Error())
	}
	defer kit.End(context.WithoutCancel(ctx))
	set := &tool.Set{}
	for _, t := range kit.Tools() {
		if err := set.Add(t); err != nil {
			return tool.CauseUnknown.Failure(err.Error())
		}
	}
	r := (&tool.Executor{Tools: set, Check: kit.Check, After: kit.After, Trace: s.o.Trace}).Call(ctx, name, args)
	if name == skillTool && r.Success {
		s.hand(of, conversation, &r)
	}
	return r
}

// restore makes the skills of a handle active again. It returns a result if the call must not go on: a skill that is gone or has changed
// would no longer restrict it.
func (s *Server) restore(ctx context.Context, c *skill.Catalog, conversation *session.Session, of, handle string) *tool.Result {
	st, err := s.open(of, handle)
	if err != nil {
		r := tool.CauseArguments.Failure(err.Error())
		return &r
	}
	for _, o := range conversation.Restore(ctx, c, *st) {
		if o.Err != nil {
			r := tool.CauseArguments.Failure(fmt.Sprintf("The session cannot go on: skill '%s': %v. Activate it again, without `session`.", o.Name, o.Err))
			return &r
		}
	}
	return nil
}

// hand adds the handle of a session to a result.
func (s *Server) hand(of string, conversation *session.Session, r *tool.Result) {
	if st := conversation.State(); len(st.Active) > 0 {
		if r.Metadata == nil {
			r.Metadata = map[string]any{}
		}
		r.Metadata["session"] = s.seal(of, &st)
	}
}

// takeSession takes the handle out of the arguments of a call.
func takeSession(raw json.RawMessage) (handle string, args json.RawMessage, err error) {
	if len(raw) == 0 {
		return "", json.RawMessage("{}"), nil
	}
	if raw, err = tool.Object(raw); err != nil {
		return "", nil, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", nil, err
	}
	given, ok := all["session"]
	if !ok {
		return "", raw, nil
	}
	if err := json.Unmarshal(given, &handle); err != nil {
		return "", nil, errors.New("`session` must be the string that the tool skill returned")
	}
	delete(all, "session")
	args, err = json.Marshal(all)
	return handle, args, err
}

// caller returns whose token came with a request; "" without one.
func caller(x *mcp.RequestExtra) string {
	if x == nil {
		return ""
	}
	return subject(x.TokenInfo)
}

// clientName returns who calls, and how its program calls itself: for the log, never for a decision.
func clientName(of string, client *mcp.ServerSession) string {
	name := "mcp"
	if of != "" {
		name += ":" + of
	}
	if p := client.InitializeParams(); p != nil && p.ClientInfo != nil {
		name += ":" + cut(p.ClientInfo.Name, 64)
	}
	return name
}

// perProgress is the least time between two messages of progress of one call.
const perProgress = 250 * time.Millisecond

// withProgress returns a context that tells the client of a call what its script prints, if the client wants that.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	var last time.Time
	var n float64
	return tool.WithWatch(ctx, func(e tool.Event) {
		text := strings.TrimSpace(e.Text)
		if e.Kind != tool.EventOutput && e.Kind != tool.EventProgress || text == "" || time.Since(last) < perProgress {
			return
		}
		last, n = time.Now(), n+1
		text = text[strings.LastIndexByte(text, '\n')+1:]
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: cut(text, maxProgress)})
	})
}

// maxProgress is how much of a line is told as progress, in characters.
const maxProgress = 500
