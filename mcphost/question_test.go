package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const form = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"age":{"type":"integer"},"name":{"type":"string","title":"Name"}},"required":["name"]}}`

// asking is a modern server whose call needs the answer to a question. It says what it got.
func asking(questions string) fake {
	return func(r *request) (string, string) {
		if r.Method != "tools/call" {
			return modern(r)
		}
		if r.Params.InputResponses == nil {
			return `{"resultType":"input_required","requestState":"sealed","inputRequests":` + questions + `}`, ""
		}
		text, _ := json.Marshal(fmt.Sprintf("%s %s", r.Params.InputResponses, r.Params.RequestState))
		return `{"resultType":"complete","content":[{"type":"text","text":` + string(text) + `}]}`, ""
	}
}

func elicit(action string, content map[string]any) func(context.Context, *Question) (*Answer, error) {
	return func(context.Context, *Question) (*Answer, error) { return &Answer{action, content}, nil }
}

// A question of a modern server comes with the result of a call, and the call is made again with the answer.
func TestQuestions(t *testing.T) {
	name := map[string]any{"name": "Ada"}
	one := func(params string) string { return `{"q":{"method":"elicitation/create","params":` + params + `}}` }
	for _, tt := range []struct {
		name, questions string
		elicit          func(context.Context, *Question) (*Answer, error)
		want            string
	}{
		{"a form", one(form), elicit(ActionAccept, name), `{"q":{"action":"accept","content":{"name":"Ada"}}} sealed`},
		{"no", one(form), elicit(ActionDecline, nil), `{"q":{"action":"decline"}} sealed`},
		{"nothing", one(form), elicit("", nil), `{"q":{"action":"cancel"}} sealed`},
		{"an error", one(form), func(context.Context, *Question) (*Answer, error) { return nil, errors.New("no terminal") }, `{"q":{"action":"cancel"}} sealed`},
		{"not filled in", one(form), elicit(ActionAccept, nil), `{"q":{"_meta":{"agent-base/reason":"field \"name\" is not filled in"},"action":"decline"}} sealed`},
		{"another type", one(form), elicit(ActionAccept, map[string]any{"name": "Ada", "age": "old"}), `"age\" does not take old`},
		{"nobody to ask", one(form), nil, "it asks for something that was not declared"},
		{"a model", `{"q":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}`, elicit(ActionAccept, nil), "it asks for something that was not declared"},
		{"folders", `{"q":{"method":"roots/list"}}`, elicit(ActionAccept, nil), "its answer cannot be used"},
		{"something else", `{"q":{"method":"shell/run","params":{}}}`, elicit(ActionAccept, nil), "its answer cannot be used"},
		{"a password", one(`{"message":"m","requestedSchema":{"type":"object","properties":{"pass_word":{"type":"string"}}}}`), elicit(ActionAccept, nil), `a secret is never given in a form`},
		{"a password by its format", one(`{"message":"m","requestedSchema":{"type":"object","properties":{"x":{"type":"string","format":"password"}}}}`), elicit(ActionAccept, nil), `a secret is never given in a form`},
		{"an object", one(`{"message":"m","requestedSchema":{"type":"object","properties":{"x":{"type":"object","properties":{}}}}}`), elicit(ActionAccept, nil), `which is no text, number or choice`},
		{"an address", one(`{"mode":"url","message":"m","url":"https://example.com/login","elicitationId":"7"}`), elicit(ActionAccept, name), `{"q":{"action":"accept"}} sealed`},
		{"a bad address", one(`{"mode":"url","message":"m","url":"javascript:alert(1)","elicitationId":"7"}`), elicit(ActionAccept, name), `"action":"decline"`},
		{"without a bound", `{}`, elicit(ActionAccept, nil), "it asked for more 10 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := asking(tt.questions)
			if tt.name == "without a bound" {
				f = func(r *request) (string, string) {
					if r.Method != "tools/call" {
						return modern(r)
					}
					return `{"resultType":"input_required","inputRequests":{}}`, ""
				}
			}
			h, _ := host(t, f, &HostOptions{Elicit: tt.elicit})
			all := toolsOf(t, h)
			r := call(t, &all[0], `{}`)
			if text := fmt.Sprint(r.Result, r.Message); !strings.Contains(text, tt.want) {
				t.Errorf("got %s", r.Encode())
			}
		})
	}
}

// The fields of a form come with those that must be filled in first.
func TestFields(t *testing.T) {
	h, _ := host(t, asking(`{"q":{"method":"elicitation/create","params":{"message":"\u001b[31mm","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"enumNames":["X","Y"]},"b":{"type":"boolean","default":true},"c":{"type":"string","oneOf":[{"const":"1","title":"One"}],"description":"D"},"d":{"type":"array","items":{"type":"string","enum":["p"]}}},"required":["c","b"]}}}}`), &HostOptions{Elicit: func(_ context.Context, q *Question) (*Answer, error) {
		if got := fmt.Sprintf("%+v", *q); got != `{Label:demo Mode:form Message:[31mm Fields:[{Name:c Title: Description:D Type:string Enum:[1] EnumTitles:[One] Default:[] Required:true Format:} {Name:b Title: Description: Type:boolean Enum:[] EnumTitles:[] Default:[116 114 117 101] Required:true Format:} {Name:a Title: Description: Type:string Enum:[x y] EnumTitles:[X Y] Default:[] Required:false Format:} {Name:d Title: Description: Type:array Enum:[p] EnumTitles:[] Default:[] Required:false Format:}] URL: ID:}` {
			t.Errorf("got %s", got)
		}
		return &Answer{ActionAccept, map[string]any{"c": "1", "b": false, "d": []string{"p"}, "else": 1}}, nil
	}})
	all := toolsOf(t, h)
	if r := call(t, &all[0], `{}`); fmt.Sprint(r.Result) != `{"q":{"action":"accept","content":{"b":false,"c":"1","d":["p"]}}} sealed` {
		t.Errorf("got %s", r.Encode())
	}
}

func TestFits(t *testing.T) {
	for _, tt := range []struct {
		f    Field
		v    any
		want bool
	}{
		{Field{Type: "string"}, "x", true}, {Field{Type: "string"}, 1, false}, {Field{Type: "string", Enum: []string{"a"}}, "x", false},
		{Field{Type: "integer"}, 3, true}, {Field{Type: "integer"}, 3.5, false}, {Field{Type: "integer"}, json.Number("7"), true}, {Field{Type: "integer"}, "3", false},
		{Field{Type: "number"}, 3.5, true}, {Field{Type: "number"}, true, false}, {Field{Type: "boolean"}, true, true}, {Field{Type: "boolean"}, "true", false},
		{Field{Type: "array", Enum: []string{"a"}}, []any{"a"}, true}, {Field{Type: "array", Enum: []string{"a"}}, []any{1}, false}, {Field{Type: "array", Enum: []string{"a"}}, []string{"b"}, false},
	} {
		if got := tt.f.fits(tt.v); got != tt.want {
			t.Errorf("%+v takes %v: %t", tt.f, tt.v, got)
		}
	}
	for name, want := range map[string]bool{"password": true, "Pass-Word": true, "api_key": true, "accessToken": true, "client secret": true, "otp": true, "pin": false, "name": false, "adopt": false, "laptop": false, "keyword": false} {
		if got := isSecret(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An older server asks by a request of its own, and only while a call is under way; nothing else that it asks for is given.
func TestOldQuestions(t *testing.T) {
	var asked atomic.Int32
	heard := make(chan string, 100)
	var p *program
	f := func(r *request) (string, string) {
		switch {
		case r.Method == "": // an answer
			heard <- string(r.ID) + string(r.Result) + string(r.Error)
			return "", ""
		case r.Method == "tools/call":
			go func() {
				p.write(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":` + form + `}`)
				got := <-heard
				p.write(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
				got += <-heard
				p.write(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
				text, _ := json.Marshal(got + <-heard)
				p.write(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[{"type":"text","text":` + string(text) + `}]}}`)
			}()
			return "", ""
		}
		return refusing(r)
	}
	h, p := hostWith(t, &p, f, &HostOptions{Elicit: func(context.Context, *Question) (*Answer, error) {
		asked.Add(1)
		return &Answer{ActionAccept, map[string]any{"name": "Ada"}}, nil
	}})
	all := toolsOf(t, h)
	r := call(t, &all[0], `{}`)
	if text := fmt.Sprint(r.Result); text != `"q"{"action":"accept","content":{"name":"Ada"}}"r"{"code":-32601,"message":"method not found: \"roots/list\""}"s"{"code":-32601,"message":"method not found: \"sampling/createMessage\""}` {
		t.Errorf("got %s", text)
	}
	p.write(`{"jsonrpc":"2.0","id":"q2","method":"elicitation/create","params":` + form + `}`)
	if got := <-heard; !strings.Contains(got, `"decline"`) || asked.Load() != 1 {
		t.Errorf("got %s, asked %d times", got, asked.Load())
	}
}

// hostWith is host for a server that needs to know itself.
func hostWith(t *testing.T, p **program, f fake, o *HostOptions) (*Host, *program) {
	h, own := host(t, nil, o)
	own.f = f
	*p = own
	return h, own
}

// What a person takes to answer does not count as time of the call, and a question ends with its call.
func TestSlowAnswer(t *testing.T) {
	var cancel context.CancelFunc
	h, _ := host(t, asking(`{"q":{"method":"elicitation/create","params":`+form+`}}`), &HostOptions{Servers: []Server{{Timeout: 200 * time.Millisecond}}, Elicit: func(ctx context.Context, _ *Question) (*Answer, error) {
		if cancel != nil {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		select {
		case <-time.After(time.Second):
			return &Answer{ActionAccept, map[string]any{"name": "Ada"}}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	all := toolsOf(t, h)
	if r := call(t, &all[0], `{}`); !r.Success {
		t.Errorf("got %s", r.Encode())
	}
	ctx, end := context.WithCancel(t.Context())
	cancel = end
	if r := all[0].Call(ctx, nil); r.Reason != "stopped" {
		t.Errorf("got %s", r.Encode())
	}
}

// A question of an older server ends with the call for which it asks.
func TestForgottenQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var p *program
	h, p := hostWith(t, &p, func(r *request) (string, string) {
		if r.Method == "tools/call" {
			go p.write(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":` + form + `}`)
			return "", ""
		}
		return refusing(r)
	}, &HostOptions{Elicit: func(ctx context.Context, _ *Question) (*Answer, error) {
		cancel()
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}})
	all := toolsOf(t, h)
	if r := all[0].Call(ctx, nil); r.Reason != "stopped" {
		t.Errorf("got %s", r.Encode())
	}
	<-ended
}

// Whatever a form asks for, it is read or refused.
func FuzzFields(f *testing.F) {
	f.Add(form)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}},"required":["b","a"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var schema any
		if json.Unmarshal([]byte(text), &schema) != nil {
			return
		}
		q, err := question(&mcp.ElicitParams{RequestedSchema: schema})
		if err != nil {
			return
		}
		for _, field := range q.Fields {
			if isSecret(field.Name) || field.Type == "" {
				t.Errorf("got %+v", field)
			}
		}
		_, _ = q.fit(map[string]any{"a": "x"})
	})
}
