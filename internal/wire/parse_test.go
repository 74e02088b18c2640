package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name, key, value string
		want             time.Duration
	}{
		{"none", "Retry-After", "", 0},
		{"seconds", "Retry-After", "12", 12 * time.Second},
		{"part of a second", "Retry-After", "0.5", 500 * time.Millisecond},
		{"milliseconds", "Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"date", "Retry-After", "Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"date gone by", "Retry-After", "Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{"negative", "Retry-After", "-1", 0},
		{"no number", "Retry-After", "NaN", 0},
		{"without end", "Retry-After", "1e300", math.MaxInt64},
		{"words", "Retry-After", "later", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wire.RetryAfter(http.Header{tt.key: {tt.value}}, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct{ name, base, want string }{
		{"vendor", "", "https://vendor.example"},
		{"local", "http://127.0.0.1:8080/", "http://127.0.0.1:8080"},
		{"path", "https://gateway.example/team/", "https://gateway.example/team"},
		{"no scheme", "localhost:8080", ""},
		{"other scheme", "file:///etc", ""},
		{"no host", "http://", ""},
		{"user", "http://u:p@host", ""},
		{"query", "http://host?x=1", ""},
		{"no URL", "http://%zz", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := wire.Endpoint("test", tt.base, "https://vendor.example")
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestCheckKey(t *testing.T) {
	for _, key := range []string{"", "a b", "key\r\nX-Evil: 1", "kéy"} {
		err := wire.CheckKey("test", key, true)
		if e, ok := err.(*llm.Error); !ok || e.Kind != llm.BadKey || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: got %v, want bad_key without the key", key, err)
		}
	}
	if err := wire.CheckKey("test", "sk-1_x", true); err != nil {
		t.Error(err)
	}
	if err := wire.CheckKey("test", "", false); err != nil {
		t.Error(err)
	}
}

func TestArgs(t *testing.T) {
	tests := []struct{ name, text, args, raw string }{
		{"object", ` {"id":12345678901234567890} `, `{"id":12345678901234567890}`, ""},
		{"nothing", "  ", "{}", ""},
		{"array", "[1]", "{}", "[1]"},
		{"cut", `{"a":`, "{}", `{"a":`},
		{"two", `{}{}`, "{}", `{}{}`},
		{"bytes", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if args, raw := wire.Args(tt.text); string(args) != tt.args || raw != tt.raw {
				t.Errorf("got %s and %q, want %s and %q", args, raw, tt.args, tt.raw)
			}
		})
	}
}

// F12: a count that could lift a limit is rejected.
func TestCheckTokens(t *testing.T) {
	for _, n := range []int64{-1, math.MinInt64, 1<<30 + 1, math.MaxInt64} {
		var e *llm.Error
		if err := wire.CheckTokens("test", 5, n, 5); !errors.As(err, &e) || e.Kind != llm.Malformed || e.Provider != "test" {
			t.Errorf("%d: got %v, want malformed", n, err)
		}
	}
	if err := wire.CheckTokens("test", 0, 5, 1<<30); err != nil {
		t.Error(err)
	}
}

func FuzzArgs(f *testing.F) {
	f.Add(`{"a":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		args, _ := wire.Args(text)
		var object map[string]json.RawMessage
		if err := json.Unmarshal(args, &object); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	})
}

func TestMessages(t *testing.T) {
	call := &llm.Call{ID: "1", Name: "hello"}
	in := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{{Text: "a"}, {Text: ""}}},
		{Role: llm.User, Parts: []llm.Part{{Text: "b"}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Text: ""}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Call: call}}},
	}
	want := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{{Text: "a"}, {Text: "b"}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Call: call}}},
	}
	if got := wire.Messages(in); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(in[0].Parts) != 2 {
		t.Error("the caller's messages were changed")
	}
}

// What says most about a failure is told, without the key.
func TestExplain(t *testing.T) {
	const key = "sk-123456789"
	caller := &wire.Caller{Provider: "p", Key: key, Refused: func(*wire.Exchange) *llm.Error {
		return &llm.Error{Kind: llm.BadKey, Provider: "p", Message: "refused: " + key}
	}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	broken := &llm.Error{Kind: llm.Cut, Provider: "p", Message: "broken off"}
	for _, c := range []struct {
		name string
		ctx  context.Context
		x    wire.Exchange
		err  error
		want string
	}{
		{"the caller ended it", ended, wire.Exchange{Status: 500, Err: broken}, errors.New("e"), "context canceled"},
		{"the provider refused", t.Context(), wire.Exchange{Status: 401, Err: broken}, nil, "refused: [the key]"},
		{"it broke off", t.Context(), wire.Exchange{Status: 200, Err: broken}, errors.New("e"), "broken off"},
		{"another failure", t.Context(), wire.Exchange{Err: errors.New("odd")}, errors.New("e"), "odd"},
		{"an event says so", t.Context(), wire.Exchange{Status: 200}, &llm.Error{Kind: llm.Overloaded, Provider: "p", Message: "full: " + key}, "full: [the key]"},
		{"nothing was sent", t.Context(), wire.Exchange{}, errors.New("no JSON"), "the request cannot be made: no JSON"},
	} {
		if err := c.x.Explain(c.ctx, c.err, caller); err == nil || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestFailureMessage(t *testing.T) {
	tests := []struct{ name, message, body, want string }{
		{"the provider's", "no such model", "{}", "no such model"},
		{"text", "", " upstream is down\n", "upstream is down"},
		{"a page", "", "<html>", "Bad Gateway"},
		{"data", "", `{"a":1}`, "Bad Gateway"},
		{"bytes", "", "\xff", "Bad Gateway"},
		{"long", strings.Repeat("x", 3000), "", strings.Repeat("x", 2000) + " …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := &wire.Exchange{Status: 502, Body: []byte(tt.body)}
			if got := x.Failure("test", tt.message, time.Now()); got.Message != tt.want || got.Kind != llm.Overloaded {
				t.Errorf("got %s %q, want %q", got.Kind, got.Message, tt.want)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	msgs := []llm.Message{{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "c_2"}}, {Text: "x"}}}}
	for range 2 { // the same each time
		ids := wire.NewIDs("c_", msgs)
		var got []string
		for _, id := range []string{"", "own", "own", "c_2"} {
			got = append(got, ids.Unique(id))
		}
		if want := []string{"c_3", "own", "c_4", "c_5"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
