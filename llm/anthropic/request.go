package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// request is the body of a request.
type request struct {
	MaxTokens int       `json:"max_tokens"`
	Messages  []message `json:"messages"`
	Model     string    `json:"model"`
	System    []*block  `json:"system,omitempty"`
	Tools     []tool    `json:"tools,omitempty"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Output    *output   `json:"output_config,omitempty"`
}

// thinking asks the model to think: by itself, or within a budget of tokens.
type thinking struct {
	Type    string `json:"type"`
	Display string `json:"display,omitempty"`
	Budget  int    `json:"budget_tokens,omitempty"`
}

type output struct {
	Effort string `json:"effort"`
}

type message struct {
	Content []*block `json:"content"`
	Role    llm.Role `json:"role"`
}

// block is a piece of a message, or the system text. Which fields are set depends on the type. Thinking and Signature
// are pointers since the API wants them back even if they are empty.
type block struct {
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Data         string          `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Name         string          `json:"name,omitempty"`
	Text         string          `json:"text,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
	Content      []*block        `json:"content,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Title        string          `json:"title,omitempty"`
	Type         string          `json:"type"`
}

// source has the bytes of an image or a document, in base64.
type source struct {
	Data      []byte `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"`
}

type tool struct {
	InputSchema  json.RawMessage `json:"input_schema"`
	Name         string          `json:"name"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
	Description  string          `json:"description,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

func ephemeral() *cacheControl { return &cacheControl{Type: "ephemeral"} }

// newRequest translates a request. Four places are marked for the cache, which is all that the API takes: the last
// tool, the system text, and the ends of the last two messages of the user. The API finds what the request before this
// one marked at its end, since that place is marked again, however many blocks were added (it looks back over 20).
func newRequest(m *model, r *llm.Request) *request {
	q := &request{MaxTokens: m.answer, Messages: []message{}, Model: m.name, Stream: true}
	if r.MaxTokens > 0 {
		q.MaxTokens = r.MaxTokens
	}
	q.think(r.Effort)
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{InputSchema: or(t.Input, `{"type":"object"}`), Name: t.Name, Description: t.Description})
	}
	if n := len(q.Tools); n > 0 {
		q.Tools[n-1].CacheControl = ephemeral()
	}
	if !onlySpace(r.System) {
		q.System = []*block{{Type: "text", Text: r.System, CacheControl: ephemeral()}}
	}
	for _, m := range wire.Messages(r.Messages) {
		if blocks := blocks(m); len(blocks) > 0 {
			q.Messages = append(q.Messages, message{Role: m.Role, Content: blocks})
		}
	}
	mark(q.Messages)
	return q
}

// leastBudget is the smallest budget for thinking that the API takes.
const leastBudget = 1024

// think asks for an effort. A budget leaves half of the answer to what is said.
func (q *request) think(e llm.Effort) {
	if e.Level != "" {
		q.Thinking, q.Output = &thinking{Type: "adaptive", Display: "summarized"}, &output{e.Level}
		return
	}
	if budget := min(e.Budget, q.MaxTokens/2); budget >= leastBudget {
		q.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
}

// mark marks the ends of the last two messages of the user. Reasoning takes no mark.
func mark(msgs []message) {
	left := 2
	for _, m := range slices.Backward(msgs) {
		if left == 0 || m.Role != llm.User {
			continue
		}
		if last := m.Content[len(m.Content)-1]; last.Type != "thinking" && last.Type != "redacted_thinking" {
			last.CacheControl = ephemeral()
			left--
		}
	}
}

// blocks translates a message. The API wants results first, and no text of spaces alone.
func blocks(m llm.Message) []*block {
	var results, rest []*block
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			results = append(results, result(p.Result))
		case p.Call != nil:
			rest = append(rest, &block{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: or(p.Call.Args, `{}`)})
		case p.State != nil && p.State.Owner == provider:
			rest = append(rest, thoughtBlock(p.State.Data)...)
		case p.Media != nil:
			rest = append(rest, show(p.Media))
		case !onlySpace(p.Text):
			rest = append(rest, &block{Type: "text", Text: p.Text})
		}
	}
	return append(results, rest...)
}

func result(r *llm.Result) *block {
	b := &block{Type: "tool_result", ToolUseID: r.ID, IsError: r.Failed}
	if !onlySpace(r.Text) {
		b.Content = []*block{{Type: "text", Text: r.Text}}
	}
	for i := range r.Media {
		b.Content = append(b.Content, show(&r.Media[i]))
	}
	return b
}

// show translates an image or a document.
func show(m *llm.Media) *block {
	b := &block{Type: "image", Source: &source{m.Data, m.Type, "base64"}}
	if m.Document() {
		b.Type, b.Title = "document", m.Name
	}
	return b
}

// thoughtState is the llm.State of a block of reasoning: the block.
type thoughtState struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// thoughtBlock returns the block of a state, or nothing if the state is not one of this package's.
func thoughtBlock(state json.RawMessage) []*block {
	var s thoughtState
	if json.Unmarshal(state, &s) != nil {
		return nil
	}
	switch s.Type {
	case "thinking":
		return []*block{{Type: s.Type, Thinking: &s.Thinking, Signature: &s.Signature}}
	case "redacted_thinking":
		return []*block{{Type: s.Type, Data: s.Data}}
	}
	return nil
}

// or returns data, or fallback if data is empty.
func or(data json.RawMessage, fallback string) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage(fallback)
	}
	return data
}

func onlySpace(text string) bool { return strings.TrimSpace(text) == "" }
