package gemini

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// ownID begins the ids that this package gives to calls; the API never sees them.
const ownID = "gemini_call_"

// request is the body of a request.
type request struct {
	Contents         []content        `json:"contents"`
	GenerationConfig generationConfig `json:"generationConfig"`
	System           *content         `json:"systemInstruction,omitempty"`
	Tools            []tools          `json:"tools,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	Thinking        *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	Thoughts bool   `json:"includeThoughts"`
	Level    string `json:"thinkingLevel,omitempty"`
	Budget   int    `json:"thinkingBudget,omitempty"`
}

type tools struct {
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations"`
}

type functionDeclaration struct {
	Description string          `json:"description,omitempty"`
	Name        string          `json:"name"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// content is one side's turn; answers have it too.
type content struct {
	Parts []*part `json:"parts"`
	Role  string  `json:"role"`
}

// part is a piece of a turn: a call, a result, an image or a document, or a text. Text is a pointer since a part that holds a signature alone
// needs an empty text.
type part struct {
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *inlineData       `json:"inlineData,omitempty"`
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

func (p *part) text() string {
	if p.Text == nil {
		return ""
	}
	return *p.Text
}

// inlineData has the bytes of an image or a document, in base64.
type inlineData struct {
	Data     []byte `json:"data"`
	MIMEType string `json:"mimeType"`
}

type functionCall struct {
	Args json.RawMessage `json:"args,omitempty"`
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
}

type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// newRequest writes r as a request of the API. Schemas and arguments stay as they are: marshalling fails if one of
// them is not JSON.
func newRequest(r *llm.Request) *request {
	q := &request{
		Contents:         contents(r.Messages),
		GenerationConfig: generationConfig{MaxOutputTokens: max(0, min(r.MaxTokens, math.MaxInt32))},
	}
	if r.Effort != (llm.Effort{}) {
		q.GenerationConfig.Thinking = &thinkingConfig{true, r.Effort.Level, r.Effort.Budget}
	}
	if r.System != "" {
		q.System = &content{Parts: []*part{{Text: &r.System}}, Role: "user"}
	}
	var declared []functionDeclaration
	for _, t := range r.Tools {
		declared = append(declared, functionDeclaration{t.Description, t.Name, t.Input})
	}
	if len(declared) > 0 {
		q.Tools = []tools{{declared}}
	}
	return q
}

// contents translates the messages.
func contents(msgs []llm.Message) []content {
	out := []content{}
	for _, m := range wire.Messages(msgs) {
		role := "user"
		if m.Role == llm.Assistant {
			role = "model"
		}
		if parts := parts(m); len(parts) > 0 {
			out = append(out, content{Parts: parts, Role: role})
		}
	}
	return out
}

// parts translates a message, with the results first. Their images and documents follow them: only newer models take them within.
func parts(m llm.Message) []*part {
	var results, shown, rest []*part
	show := func(m *llm.Media) *part { return &part{InlineData: &inlineData{m.Data, m.Type}} }
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			results = append(results, &part{FunctionResponse: response(p.Result)})
			for i := range p.Result.Media {
				shown = append(shown, show(&p.Result.Media[i]))
			}
		case p.Media != nil:
			rest = append(rest, show(p.Media))
		case p.Call != nil:
			rest = append(rest, &part{FunctionCall: call(p.Call)})
		case p.State != nil && p.State.Owner == provider:
			rest = sign(rest, p.State.Data)
		case p.Text != "":
			rest = append(rest, &part{Text: &p.Text})
		}
	}
	return slices.Concat(results, shown, rest)
}

func call(c *llm.Call) *functionCall {
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return &functionCall{Args: args, ID: apiID(c.ID), Name: c.Name}
}

func response(r *llm.Result) *functionResponse {
	key := "output"
	if r.Failed {
		key = "error"
	}
	return &functionResponse{ID: apiID(r.ID), Name: r.Name, Response: map[string]string{key: r.Text}}
}

// apiID returns the id of a call as the API knows it.
func apiID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}

// signature is the llm.State of this package. It follows what it signs.
type signature struct {
	Signature string `json:"thoughtSignature"`
	Call      bool   `json:"call,omitempty"`    // it signs the call before it
	Text      string `json:"text,omitempty"`    // else: it signs this text, which is the end of the text before it
	Thought   bool   `json:"thought,omitempty"` // the text is reasoning, and is kept nowhere else
}

// sign puts a signature back on its part. A part that has changed goes without one: the API takes a missing signature
// better than a wrong one.
func sign(parts []*part, state json.RawMessage) []*part {
	var s signature
	if json.Unmarshal(state, &s) != nil || s.Signature == "" {
		return parts
	}
	last := &part{}
	if n := len(parts); n > 0 && parts[n-1].ThoughtSignature == "" {
		last = parts[n-1]
	}
	switch text := last.text(); {
	case s.Call:
		if last.FunctionCall != nil {
			last.ThoughtSignature = s.Signature
		}
	case s.Thought || s.Text == "":
		return append(parts, &part{Text: &s.Text, Thought: s.Thought, ThoughtSignature: s.Signature})
	case text == s.Text:
		last.ThoughtSignature = s.Signature
	case strings.HasSuffix(text, s.Text):
		text = strings.TrimSuffix(text, s.Text)
		last.Text = &text
		return append(parts, &part{Text: &s.Text, ThoughtSignature: s.Signature})
	}
	return parts
}
