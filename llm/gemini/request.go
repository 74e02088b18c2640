package gemini

import (
	"encoding/json"
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// ownID begins the ids that this package gives to calls; the API never sees them.
const ownID = "gemini_call_"

// config translates what stands ahead of the messages.
func config(r *llm.Request) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{
		AutomaticContinuation: genai.Ptr(false),
		HTTPOptions:           &genai.HTTPOptions{ExtrasRequestProvider: restore},
		MaxOutputTokens:       int32(min(r.MaxTokens, math.MaxInt32)),
	}
	if r.System != "" {
		c.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: r.System}}}
	}
	var tools []*genai.FunctionDeclaration
	for _, t := range r.Tools {
		f := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if len(t.Input) > 0 {
			f.ParametersJsonSchema = string(t.Input) // restore makes JSON of it
		}
		tools = append(tools, f)
	}
	if len(tools) > 0 {
		c.Tools = []*genai.Tool{{FunctionDeclarations: tools}}
	}
	return c
}

// contents translates the messages.
func contents(msgs []llm.Message) []*genai.Content {
	var out []*genai.Content
	for _, m := range wire.Messages(msgs) {
		role := genai.RoleUser
		if m.Role == llm.Assistant {
			role = genai.RoleModel
		}
		if parts := parts(m); len(parts) > 0 {
			out = append(out, &genai.Content{Role: string(role), Parts: parts})
		}
	}
	return out
}

// parts translates a message, results ahead of everything else.
func parts(m llm.Message) []*genai.Part {
	var results, rest []*genai.Part
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			results = append(results, &genai.Part{FunctionResponse: response(p.Result)})
		case p.Call != nil:
			rest = append(rest, &genai.Part{FunctionCall: &genai.FunctionCall{ID: apiID(p.Call.ID), Name: p.Call.Name, Args: carry(p.Call.Args)}})
		case p.State != nil && p.State.Owner == provider:
			rest = sign(rest, p.State.Data)
		case p.Text != "":
			rest = append(rest, &genai.Part{Text: p.Text})
		}
	}
	return append(results, rest...)
}

func response(r *llm.Result) *genai.FunctionResponse {
	key := "output"
	if r.Failed {
		key = "error"
	}
	return &genai.FunctionResponse{ID: apiID(r.ID), Name: r.Name, Response: map[string]any{key: r.Text}}
}

// apiID returns the id of a call as the API knows it.
func apiID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}

func carry(args json.RawMessage) map[string]any {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return map[string]any{exactKey: string(args)}
}

// signature is the llm.State of this package. It follows what it signs.
type signature struct {
	Signature []byte `json:"thoughtSignature"`
	Call      bool   `json:"call,omitempty"`    // it signs the call ahead of it
	Text      string `json:"text,omitempty"`    // else: it signs this text, which is the end of the text ahead of it
	Thought   bool   `json:"thought,omitempty"` // the text is reasoning, and stands nowhere else
}

// sign puts a signature back on its part. A part that has changed goes without: the API takes a missing one better
// than a wrong one.
func sign(parts []*genai.Part, state json.RawMessage) []*genai.Part {
	var s signature
	if json.Unmarshal(state, &s) != nil || len(s.Signature) == 0 {
		return parts
	}
	last := &genai.Part{}
	if n := len(parts); n > 0 && parts[n-1].ThoughtSignature == nil {
		last = parts[n-1]
	}
	switch {
	case s.Call:
		if last.FunctionCall != nil {
			last.ThoughtSignature = s.Signature
		}
	case s.Thought || s.Text == "":
		return append(parts, &genai.Part{Text: s.Text, Thought: s.Thought, ThoughtSignature: s.Signature})
	case last.Text == s.Text:
		last.ThoughtSignature = s.Signature
	case strings.HasSuffix(last.Text, s.Text):
		last.Text = strings.TrimSuffix(last.Text, s.Text)
		return append(parts, &genai.Part{Text: s.Text, ThoughtSignature: s.Signature})
	}
	return parts
}
