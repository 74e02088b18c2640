package mcpserve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The answers to a question.
const (
	answerNo   = "no"
	AnswerOnce = "once" // for this call
	AnswerYes  = "yes"
)

// errAsked is the error of Ask for a call that ends with the question. The call must do nothing more.
var errAsked = errors.New("the user is being asked")

const (
	answerTime   = 10 * time.Minute // for all questions of a call
	maxQuestions = 4                // of one call
	maxTaken     = 10_000           // states that are remembered
)

// answerKey names the question of a call, and the field of its answer.
const answerKey = "run"

type askingKey struct{}

// asking is what a call asks the person at the client.
type asking struct {
	s     *Server
	there bool // the client can ask
	came  bool // the call has an answer

	mu  sync.Mutex
	was asked               // what is known of the call: its answers, and the question that was asked last
	met bool                // the call came to that question again
	out *mcp.CallToolResult // the question to ask; nil without one
}

// asked is what a state says of a question, and of what the person has said to earlier ones of the same call.
type asked struct {
	ID    string            `json:"id"` // a state is taken once
	Of    string            `json:"of"`
	Call  string            `json:"call"`            // the hash of the tool and its arguments
	About string            `json:"about"`           // the hash of what the person was shown
	Given map[string]string `json:"given,omitempty"` // the answers that let the call go on, by the hash of their question
	Until time.Time         `json:"until"`
}

func (s *Server) asking(of string, req *mcp.CallToolRequest) *asking {
	a := &asking{s: s}
	if p := req.Session.InitializeParams(); p != nil && p.Capabilities != nil {
		can := p.Capabilities.Elicitation
		a.there = can != nil && (can.Form != nil || can.URL == nil)
	}
	if !a.there {
		return a
	}
	call := hash(req.Params.Name, canonical(req.Params.Arguments))
	a.was = asked{Of: of, Call: call, Until: s.o.now().Add(answerTime)}
	given, _ := req.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	if a.came = given != nil; !a.came {
		return a
	}
	if was, ok := s.taken(of, call, req.Params.RequestState); ok {
		a.was = *was
		if answer, _ := given.Content[answerKey].(string); given.Action == "accept" && slices.Contains([]string{AnswerOnce, AnswerYes}, answer) {
			if a.was.Given == nil {
				a.was.Given = map[string]string{}
			}
			a.was.Given[a.was.About] = answer
		}
	}
	return a
}

// taken returns what a state says: of a question of this call, that is not too old, and that no answer has come to before.
func (s *Server) taken(of, call, state string) (*asked, bool) {
	b, ok := s.proven("question", state)
	var was asked
	now := s.o.now()
	if !ok || json.Unmarshal(b, &was) != nil || was.Of != of || was.Call != call || now.After(was.Until) {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetAnswers(now)
	if _, before := s.answered[was.ID]; before || len(s.answered) == maxTaken {
		return nil, false
	}
	s.answered[was.ID] = was.Until
	return &was, true
}

// forgetAnswers forgets the states that are too old. The caller holds the lock.
func (s *Server) forgetAnswers(now time.Time) {
	maps.DeleteFunc(s.answered, func(_ string, until time.Time) bool { return now.After(until) })
}

// CanAsk reports whether the client of a call can ask a person. ctx is that of Options.Kit, or of what the kit calls.
func CanAsk(ctx context.Context) bool {
	a, _ := ctx.Value(askingKey{}).(*asking)
	return a != nil && a.there
}

// Ask asks the person at the client a question, and returns one of the answers. about is what the answer is for, such as the digest of a
// skill: an answer to a question with another about or text counts as no. The first time it returns an error, and the call must do nothing
// more: it is made again when there is an answer, and may then ask another question. Without a person the answer is no.
func Ask(ctx context.Context, about, text string) (string, error) {
	a, _ := ctx.Value(askingKey{}).(*asking)
	if a == nil || !a.there {
		return answerNo, nil
	}
	shown := hash(about, text)
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer := a.was.Given[shown]; answer != "" {
		a.met = a.met || shown == a.was.About
		return answer, nil
	}
	if a.came && !a.met || len(a.was.Given) == maxQuestions { // the person said no, or what was asked is not what comes now
		return answerNo, nil
	}
	if a.out != nil {
		return "", errAsked
	}
	ask := a.was
	ask.ID, ask.About = rand.Text(), shown
	state, err := json.Marshal(&ask)
	if err != nil {
		return "", err
	}
	a.out = &mcp.CallToolResult{RequestState: a.s.signed("question", state), InputRequests: mcp.InputRequestMap{answerKey: &mcp.ElicitParams{Mode: "form", Message: text,
		RequestedSchema: map[string]any{"type": "object", "required": []string{answerKey}, "properties": map[string]any{answerKey: map[string]any{
			"type": "string", "title": "Let them run?", "enum": []string{answerNo, AnswerOnce, AnswerYes}, "default": answerNo}}}}}}
	return "", errAsked
}

// question returns the result that asks; nil without a question.
func (a *asking) question() *mcp.CallToolResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out
}

// canonical returns JSON in one form: a client may write the arguments otherwise when it calls again.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, _ := json.Marshal(v) // it was read from JSON
	return string(b)
}

// hash returns a hash of some texts.
func hash(texts ...string) string {
	b, err := json.Marshal(texts)
	if err != nil { // texts only
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
