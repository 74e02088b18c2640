package mcphost

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of what a server asks.
const (
	maxRounds    = 10 // answers to one call that ask for more
	maxQuestions = 20 // while calls are under way
	maxFields    = 64 // of a form
)

// newClient returns the client. It declares what it can do, and nothing that a server could use without the user: no sampling, no roots.
func (c *Conn) newClient() *mcp.Client {
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}
	if c.o.Elicit != nil {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	}
	if c.o.Changed != nil {
		o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { c.o.Changed("tools") }
		o.PromptListChangedHandler = func(context.Context, *mcp.PromptListChangedRequest) { c.o.Changed("prompts") }
		o.ResourceListChangedHandler = func(context.Context, *mcp.ResourceListChangedRequest) { c.o.Changed("resources") }
	}
	if c.o.remote != nil { // a process's are taken from what it writes
		o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.progress(r.Params.ProgressToken, &Progress{r.Params.Progress, r.Params.Total, r.Params.Message})
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent-base", Version: "1"}, o)
	client.AddReceivingMiddleware(c.receive)
	client.AddSendingMiddleware(c.send)
	return client
}

// receive answers the requests of a server itself: the SDK would say which roots there are, and refuse some forms with an error.
func (c *Conn) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch method {
		case "elicitation/create":
			p, ok := r.GetParams().(*mcp.ElicitParams)
			if !ok || p == nil || c.o.Elicit == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is nobody to ask"}
			}
			return c.elicit(ctx, p), nil
		case "sampling/createMessage", "roots/list":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not declared"}
		}
		return next(ctx, method, r)
	}
}

// begun notes that a call is under way, and returns what notes its end.
func (c *Conn) begun() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls--; c.calls == 0 {
			c.asked = 0
			if c.giveUp != nil {
				c.giveUp()
			}
		}
		if c.o.remote != nil {
			c.o.remote.noise.Store(0)
		}
	}
}

// mayAsk counts a question of the server, and reports whether it is put to the user.
func (c *Conn) mayAsk() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.calls > 0 && c.asked <= maxQuestions
}

// more is what a result asks for in place of an answer.
type more struct {
	needed    bool
	questions mcp.InputRequestMap
	state     string
}

// rounds sends a request, and again with the answers to what it asks for.
func (c *Conn) rounds(ctx context.Context, send func(mcp.InputResponseMap, string) (more, error)) error {
	defer c.begun()()
	var answers mcp.InputResponseMap
	state := ""
	for range maxRounds {
		m, err := send(answers, state)
		if err != nil || !m.needed {
			return own(err)
		}
		if answers, err = c.answers(ctx, m.questions); err != nil {
			return err
		}
		state = m.state
	}
	return &Error{Message: fmt.Sprintf("it asked for more %d times", maxRounds)}
}

// answers answers the questions in the result of a call, one after the other.
func (c *Conn) answers(ctx context.Context, questions mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	out := mcp.InputResponseMap{}
	for _, id := range slices.Sorted(maps.Keys(questions)) {
		p, ok := questions[id].(*mcp.ElicitParams)
		if !ok || c.o.Elicit == nil {
			return nil, &Error{Message: "it asks for something that was not declared"}
		}
		out[id] = c.elicit(ctx, p)
	}
	return out, ctx.Err()
}

// elicit puts a question to the user. What is no question that may be put is declined.
func (c *Conn) elicit(ctx context.Context, p *mcp.ElicitParams) *mcp.ElicitResult {
	q, err := question(p)
	if err == nil && !c.mayAsk() {
		err = errors.New("there is no call for which it may ask, or it asked too often")
	}
	if err != nil {
		return declined(err)
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	ctx, end := c.question(ctx)
	defer end()
	if ctx.Err() != nil {
		return &mcp.ElicitResult{Action: ActionCancel}
	}
	a, err := c.o.Elicit(ctx, q)
	switch {
	case err != nil || a == nil || ctx.Err() != nil:
		return &mcp.ElicitResult{Action: ActionCancel}
	case a.Action != ActionAccept:
		return &mcp.ElicitResult{Action: cmp.Or(a.Action, ActionCancel)}
	case q.Mode == ModeURL:
		return &mcp.ElicitResult{Action: ActionAccept}
	}
	content, err := q.fit(a.Content)
	if err != nil {
		return declined(err)
	}
	return &mcp.ElicitResult{Action: ActionAccept, Content: content}
}

// question returns the context of a question: it is over with the last call that is under way, because an older server does not say for which one
// it asks.
func (c *Conn) question(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.giveUp = cancel; c.calls == 0 {
		cancel()
	}
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.giveUp = nil
	}
}

// declined says no, and why.
func declined(why error) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: ActionDecline, Meta: mcp.Meta{"agent-base/reason": why.Error()}}
}

// question checks a question of a server.
func question(p *mcp.ElicitParams) (*Question, error) {
	q := &Question{Mode: p.Mode, Message: Plain(p.Message, maxMessageText), ID: Plain(p.ElicitationID, 200)}
	if q.Mode == "" {
		q.Mode = modeForm
		if p.URL != "" || p.ElicitationID != "" {
			q.Mode = ModeURL
		}
	}
	switch q.Mode {
	case ModeURL:
		q.URL = p.URL
		return q, CheckURL(p.URL)
	case modeForm:
		var err error
		q.Fields, err = fields(p.RequestedSchema)
		return q, err
	}
	return nil, fmt.Errorf("there is no mode %.40q", q.Mode)
}

// property is a field of a form as a server describes it.
type property struct {
	Type, Title, Description, Format string
	Default                          json.RawMessage
	Enum                             []string
	EnumNames                        []string
	OneOf                            []option
	Items                            *struct {
		Type  string
		Enum  []string
		AnyOf []option
	}
	Properties json.RawMessage
}

type option struct{ Const, Title string }

// fields reads the schema of a form: those that must be filled in first, as the server orders them, and then the others by name. The SDK
// does not keep their order.
func fields(schema any) ([]Field, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its form has %d bytes, at most %d are possible", len(raw), maxSchema)
	}
	var form struct {
		Type       string
		Properties map[string]property
		Required   []string
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("its form cannot be read: %w", err)
	}
	if len(form.Properties) > maxFields {
		return nil, fmt.Errorf("its form has %d fields, at most %d are possible", len(form.Properties), maxFields)
	}
	names := slices.Sorted(maps.Keys(form.Properties))
	place := func(name string) int {
		if i := slices.Index(form.Required, name); i >= 0 {
			return i
		}
		return len(form.Required)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	var out []Field
	for _, name := range names {
		p := form.Properties[name]
		f, err := p.field(name)
		if err != nil {
			return nil, err
		}
		f.Required = slices.Contains(form.Required, name)
		out = append(out, f)
	}
	return out, nil
}

func (p *property) field(name string) (Field, error) {
	f := Field{Name: name, Title: Plain(p.Title, 200), Description: Plain(p.Description, maxMessageText), Type: p.Type, Enum: p.Enum, EnumTitles: p.EnumNames, Default: p.Default, Format: p.Format}
	options := p.OneOf
	if p.Type == "array" && p.Items != nil {
		f.Enum, options = p.Items.Enum, p.Items.AnyOf
	}
	for _, o := range options {
		f.Enum, f.EnumTitles = append(f.Enum, o.Const), append(f.EnumTitles, Plain(o.Title, 200))
	}
	if len(f.EnumTitles) != len(f.Enum) {
		f.EnumTitles = nil
	}
	switch {
	case isSecret(name), isSecret(p.Title), isSecret(p.Format):
		return f, fmt.Errorf("its form asks for %q: a secret is never given in a form, only at an address (mode url)", name)
	case name != Plain(name, 100) || p.Properties != nil || !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, p.Type):
		return f, fmt.Errorf("its form has the field %.100q, which is no text, number or choice", name)
	case p.Type == "array" && len(f.Enum) == 0:
		return f, fmt.Errorf("its form has the list %.100q without choices", name)
	}
	return f, nil
}

// secrets are words in the names of fields that ask for one.
var secrets = []string{"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey", "accesskey", "credential", "cvv", "cvc", "creditcard", "cardnumber", "onetimecode", "otp"}

// isSecret reports whether a name is that of a secret, however it is written.
func isSecret(name string) bool {
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- .", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return slices.ContainsFunc(secrets, func(word string) bool {
		if len(word) < 5 { // part of other words
			return bare == word || strings.HasSuffix(bare, word) && len(bare) <= len(word)+4
		}
		return strings.Contains(bare, word)
	})
}

// fit returns the content of an answer with the types that the form asks for.
func (q *Question) fit(content map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, f := range q.Fields {
		v, ok := content[f.Name]
		if !ok || v == nil {
			if f.Required {
				return nil, fmt.Errorf("field %q is not filled in", f.Name)
			}
			continue
		}
		if !f.fits(v) {
			return nil, fmt.Errorf("field %q does not take %.100v", f.Name, v)
		}
		out[f.Name] = v
	}
	return out, nil
}

// fits reports whether a value is one that the field takes.
func (f *Field) fits(v any) bool {
	one := func(v any) bool {
		s, ok := v.(string)
		return ok && (len(f.Enum) == 0 || slices.Contains(f.Enum, s))
	}
	switch f.Type {
	case "string":
		return one(v)
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "array":
		if all, ok := v.([]string); ok {
			return !slices.ContainsFunc(all, func(s string) bool { return !one(s) })
		}
		all, ok := v.([]any)
		return ok && !slices.ContainsFunc(all, func(v any) bool { return !one(v) })
	}
	n, err := json.Marshal(v)
	if err != nil || n[0] == '"' || n[0] == '{' || n[0] == '[' || string(n) == "true" || string(n) == "false" {
		return false
	}
	return f.Type == "number" || !strings.ContainsAny(string(n), ".eE")
}
