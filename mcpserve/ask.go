package mcpserve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// answerTime is how long an answer may take.
const answerTime = 10 * time.Minute

// answerKey names the question of a call, and the field of its answer.
const answerKey = "run"

type askingKey struct{}

// asking is what a call asks the person at the client.
type asking struct {
	s     *Server
	of    string
	call  string // the hash of the tool and its arguments
	state string // of the question that was asked before; "" without one
	given *mcp.ElicitResult
	there bool // the client can ask

	mu  sync.Mutex
	out *mcp.CallToolResult // the question to ask; nil without one
}

// asked is what a state says of a question.
type asked struct {
	Of    string    `json:"of"`
	Call  string    `json:"call"`
	About string    `json:"about"` // the hash of what the person was shown
	Until time.Time `json:"until"`
}

func (s *Server) asking(of string, req *mcp.CallToolRequest) *asking {
	a := &asking{s: s, of: of, state: req.Params.RequestState}
	a.given, _ = req.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	if p := req.Session.InitializeParams(); p != nil && p.Capabilities != nil {
		can := p.Capabilities.Elicitation
		if a.there = can != nil && (can.Form != nil || can.URL == nil); a.there {
			a.call = hash(req.Params.Name, canonical(req.Params.Arguments))
		}
	}
	return a
}

// CanAsk reports whether the client of a call can ask a person. ctx is that of Options.Kit, or of what the kit calls.
func CanAsk(ctx context.Context) bool {
	a, _ := ctx.Value(askingKey{}).(*asking)
	return a != nil && a.there
}

// Ask asks the person at the client a question, and returns one of the answers. about is what the answer is for, such as the digest of a
// skill: an answer to a question with another about or text counts as no. The first time it returns errAsked, and the call is made
// again when there is an answer. Without a person the answer is no.
func Ask(ctx context.Context, about, text string) (string, error) {
	a, _ := ctx.Value(askingKey{}).(*asking)
	if a == nil || !a.there {
		return answerNo, nil
	}
	shown := hash(about, text)
	if a.given != nil {
		if answer, _ := a.given.Content[answerKey].(string); a.given.Action == "accept" && a.answers(shown) && slices.Contains([]string{AnswerOnce, AnswerYes}, answer) {
			return answer, nil
		}
		return answerNo, nil
	}
	state, err := json.Marshal(&asked{a.of, a.call, shown, a.s.o.Now().Add(answerTime)})
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out = &mcp.CallToolResult{RequestState: a.s.signed("question", state), InputRequests: mcp.InputRequestMap{answerKey: &mcp.ElicitParams{Mode: "form", Message: text,
		RequestedSchema: map[string]any{"type": "object", "required": []string{answerKey}, "properties": map[string]any{answerKey: map[string]any{
			"type": "string", "title": "Let them run?", "enum": []string{answerNo, AnswerOnce, AnswerYes}, "default": answerNo}}}}}}
	return "", errAsked
}

// answers reports whether the answer that came is for this call and what was shown, and is not too old.
func (a *asking) answers(shown string) bool {
	b, ok := a.s.proven("question", a.state)
	var was asked
	return ok && json.Unmarshal(b, &was) == nil && was.Of == a.of && was.Call == a.call && was.About == shown && !a.s.o.Now().After(was.Until)
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
