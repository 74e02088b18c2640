package mcpserve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

// A person at the client is asked before content runs that nobody approved. The answer is for what was shown, for this call and caller.
func TestQuestions(t *testing.T) {
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, greet)
			about := "digest 1"
			var got []string
			kit := w.o.Kit
			w.o.Kit = func(ctx context.Context, c *skill.Catalog, s *session.Session) (*skilltool.Kit, error) {
				if CanAsk(ctx) {
					answer, err := Ask(ctx, about, "Let it run?")
					got = append(got, fmt.Sprint(answer, err))
				}
				return kit(ctx, c, s)
			}
			answer := &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": "yes"}}
			var asked []string
			c := w.client(t, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = append(asked, r.Params.Message)
				return answer, nil
			}}, version)
			for _, tt := range []struct {
				action, run, want string
			}{{"accept", "yes", "yes<nil>"}, {"accept", "once", "once<nil>"}, {"accept", "no", "no<nil>"}, {"decline", "yes", "no<nil>"}, {"cancel", "", "no<nil>"}, {"accept", "YES", "no<nil>"}} {
				answer, got, asked = &mcp.ElicitResult{Action: tt.action, Content: map[string]any{"run": tt.run}}, nil, nil
				_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"skill_name": "greet"}})
				if tt.run == "YES" && err != nil { // the client itself refuses what the schema does not have
					continue
				}
				if want := []string{errAsked.Error(), tt.want}; len(got) != 2 || got[1] != tt.want || len(asked) != 1 || err != nil {
					t.Errorf("%s %s: got %q, want %q; asked %q, %v", tt.action, tt.run, got, want, asked, err)
				}
			}
			if version != revisions[0] {
				return
			}
			// A client that answers what was not asked: another call, another content, another server, later.
			c, own := w.server(t, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}, version)
			var first *mcp.CallToolResult
			yes := mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": "yes"}}}
			for name, do := range map[string]func() string{
				"the answer":      func() string { rawCall(t, c, "greet", yes, first.RequestState); return "yes<nil>" },
				"of another call": func() string { rawCall(t, c, "notes", yes, first.RequestState); return "no<nil>" },
				"without a state": func() string { rawCall(t, c, "greet", yes, ""); return "no<nil>" },
				"a handle as state": func() string {
					rawCall(t, c, "greet", yes, own.seal("", &session.State{}))
					return "no<nil>"
				},
				"of other content": func() string {
					about = "digest 2"
					defer func() { about = "digest 1" }()
					rawCall(t, c, "greet", yes, first.RequestState)
					return "no<nil>"
				},
			} {
				first, got = rawCall(t, c, "greet", nil, ""), nil
				if want := do(); got[len(got)-1] != want {
					t.Errorf("%s: got %q, want %s", name, got, want)
				}
			}
		})
	}
}

// rawCall calls the tool skill as a client that answers questions itself.
func rawCall(t *testing.T, c *mcp.ClientSession, name string, given mcp.InputResponseMap, state string) *mcp.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"skill_name": name}, InputResponses: given, RequestState: state})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A state is good once, for the caller and the call that were asked, and for a while. Somebody else cannot write one.
func TestAnswers(t *testing.T) {
	now := time.Now()
	s := &Server{o: Options{Key: []byte(strings.Repeat("k", 32)), now: func() time.Time { return now }}, answered: map[string]time.Time{}}
	state := func(s *Server, id string) string {
		b, err := json.Marshal(&asked{ID: id, Of: "ada", Call: "call", About: "about", Given: map[string]string{"earlier": AnswerOnce}, Until: now.Add(answerTime)})
		if err != nil {
			t.Fatal(err)
		}
		return s.signed("question", b)
	}
	good := state(s, "1")
	other := &Server{o: Options{Key: []byte(strings.Repeat("x", 32))}}
	tenant := &Server{o: Options{Key: s.o.Key, Tenant: "elsewhere"}}
	said, proof, _ := strings.Cut(good, ".")
	read, err := base64.RawURLEncoding.DecodeString(said)
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString(bytes.Replace(read, []byte("earlier"), []byte("another"), 1)) + "." + proof
	for _, tt := range []struct {
		name, of, call, state string
		after                 time.Duration
		want                  bool
	}{
		{"another caller", "bob", "call", good, 0, false},
		{"another call", "ada", "other", good, 0, false},
		{"another key", "ada", "call", state(other, "1"), 0, false},
		{"another tenant", "ada", "call", state(tenant, "1"), 0, false},
		{"another earlier answer", "ada", "call", forged, 0, false},
		{"none", "ada", "call", "", 0, false},
		{"late", "ada", "call", good, answerTime + 1, false},
		{"the state", "ada", "call", good, answerTime, true},
		{"again", "ada", "call", good, 0, false},
		{"the next state", "ada", "call", state(s, "2"), 0, true},
	} {
		begun := now
		now = now.Add(tt.after)
		if was, ok := s.taken(tt.of, tt.call, tt.state); ok != tt.want || ok && was.Given["earlier"] != AnswerOnce {
			t.Errorf("%s: got %+v, %t", tt.name, was, ok)
		}
		now = begun
	}
	now = now.Add(answerTime + 1)
	if _, ok := s.taken("ada", "call", state(s, "3")); !ok || len(s.answered) != 1 {
		t.Errorf("states are remembered for too long: %v", s.answered)
	}
}

// A call with several questions is made when all are answered: each answer counts for its own question, and no answer of one attempt
// counts in another.
func TestSeveralQuestions(t *testing.T) {
	for _, version := range revisions {
		w := newWorld(t, greet)
		questions := []string{"Let it run?", "Make this call?"}
		var got []string
		kit := w.o.Kit
		w.o.Kit = func(ctx context.Context, c *skill.Catalog, s *session.Session) (*skilltool.Kit, error) {
			for i := 0; i < len(questions) && CanAsk(ctx); i++ {
				q := questions[i]
				answer, err := Ask(ctx, "about", q)
				if got = append(got, q+" "+answer); err != nil || answer == answerNo {
					return nil, errors.New("not made: " + q)
				}
			}
			return kit(ctx, c, s)
		}
		var asked []string
		answers := map[string]string{"Let it run?": AnswerOnce, "Make this call?": AnswerYes}
		c := w.client(t, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": answers[r.Params.Message]}}, nil
		}}, version)
		call := func() string {
			got, asked = nil, nil
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"skill_name": "greet"}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Content[0].(*mcp.TextContent).Text
		}
		for range 2 { // the second time both are asked again
			if text := call(); !strings.Contains(text, `"success":true`) || fmt.Sprint(asked) != fmt.Sprint(questions) {
				t.Errorf("%s: %s; asked %q, got %q", version, text, asked, got)
			}
		}
		answers["Make this call?"] = answerNo
		if text := call(); !strings.Contains(text, "not made: Make this call?") || len(asked) != 2 {
			t.Errorf("%s: a no: %s; asked %q, got %q", version, text, asked, got)
		}
		answers["Make this call?"], questions = AnswerYes, []string{"1", "2", "3", "4", "5"}
		for _, q := range questions {
			answers[q] = AnswerYes
		}
		if text := call(); !strings.Contains(text, "not made: 5") || len(asked) != maxQuestions {
			t.Errorf("%s: many: %s; asked %q", version, text, asked)
		}
		if version == revisions[0] {
			severalAttacks(t, w, &questions, &got)
		}
	}
}

// severalAttacks answers two questions as a client that writes what it likes.
func severalAttacks(t *testing.T, w *world, questions, got *[]string) {
	t.Helper()
	*questions = []string{"first", "second"}
	c, _ := w.server(t, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}, revisions[0])
	yes := mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": "yes"}}}
	ask := func(name string, given mcp.InputResponseMap, state string) (next, last string) {
		*got = nil
		next = rawCall(t, c, name, given, state).RequestState
		return next, (*got)[len(*got)-1]
	}
	first, _ := ask("greet", nil, "")
	second, last := ask("greet", yes, first)
	if second == "" || last != "second " {
		t.Fatalf("the second question is not asked: %q", last)
	}
	for name, tt := range map[string][2]string{
		"the first answer again":       {"greet", first},
		"the second for another call":  {"notes", second},
		"the second without the state": {"greet", ""},
	} {
		if next, last := ask(tt[0], yes, tt[1]); next != "" || last != "first no" {
			t.Errorf("%s: got %q, and another question: %t", name, last, next != "")
		}
	}
	if _, last := ask("greet", yes, second); last != "second yes" {
		t.Errorf("the second answer: %q", last)
	}
	if _, last := ask("greet", yes, second); last != "first no" {
		t.Errorf("the second answer again: %q", last)
	}
	// The answer to the second question, with the first one turned round.
	first, _ = ask("greet", nil, "")
	second, _ = ask("greet", yes, first)
	*questions = []string{"second", "first"}
	if _, last := ask("greet", yes, second); last != "first yes" {
		t.Errorf("both answers in another order: %q", last)
	}
	*questions = []string{"third", "second"}
	first, _ = ask("greet", nil, "")
	*questions = []string{"fourth", "third"}
	if next, last := ask("greet", yes, first); next != "" || last != "fourth no" {
		t.Errorf("an answer before its question: %q", last)
	}
}
