package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Wire names a protocol.
type Wire string

// The wires there are.
const (
	Anthropic Wire = "anthropic" // Messages: POST /v1/messages
	Responses Wire = "responses" // OpenAI's Responses: POST /v1/responses
	Chat      Wire = "chat"      // Chat Completions: POST /v1/chat/completions
	Gemini    Wire = "gemini"    // POST /v1beta/models/NAME:generateContent and :streamGenerateContent
)

// Request is one request to the server: what was sent, and what it means on every wire alike.
type Request struct {
	Number  int // from 0
	Wire    Wire
	Path    string
	Query   string
	Header  http.Header
	Body    []byte
	Refused string // why the server turned it away; "" when it did not

	Model     string
	Stream    bool
	MaxTokens int    // 0 when the request does not say
	CacheKey  string // 0 on wires without one
	System    string
	Tools     []Tool
	Messages  []Message

	// Prefix is what a provider caches: tools and system text, byte for byte as they were sent. Turns are the bytes
	// of each message or item after them.
	Prefix []byte
	Turns  [][]byte

	signatures bool // the client asked for the signatures of reasoning
	usage      bool // the client asked for the usage of a stream
	array      bool // a stream of Gemini that is a JSON array, not events
}

// Tool is a tool that the model was shown.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // as it was sent
}

// Message is one side's turn. Messages of one side in a row are one.
type Message struct {
	Role  string // "user" or "assistant"
	Parts []Part
}

// Part is a piece of a message: text, a call or a result.
type Part struct {
	Text   string
	Call   *Call
	Result *Result
}

// Result is what the model was told about a call.
type Result struct {
	ID     string
	Name   string // of the call, also on wires that name only its ID
	Text   string
	Failed bool // on the wires of Anthropic and Gemini; the others do not tell
}

// add appends a part, to the last message if that is of the same side.
func (q *Request) add(role string, parts ...Part) {
	if n := len(q.Messages); n > 0 && q.Messages[n-1].Role == role {
		q.Messages[n-1].Parts = append(q.Messages[n-1].Parts, parts...)
		return
	}
	q.Messages = append(q.Messages, Message{role, parts})
}

// Prompt returns the text of the last message, its parts joined by line breaks.
func (q *Request) Prompt() string {
	if len(q.Messages) == 0 {
		return ""
	}
	return q.Messages[len(q.Messages)-1].Text()
}

// Results returns all results of the conversation in their order.
func (q *Request) Results() []*Result {
	var out []*Result
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				out = append(out, p.Result)
			}
		}
	}
	return out
}

// LastResult returns the text of the last result, "" before there is one.
func (q *Request) LastResult() string {
	all := q.Results()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Text
}

// HasTool reports whether the model was shown a tool of that name.
func (q *Request) HasTool(name string) bool {
	return slices.ContainsFunc(q.Tools, func(t Tool) bool { return t.Name == name })
}

// Text returns the text of the message, its parts joined by line breaks.
func (m Message) Text() string {
	text := ""
	for _, p := range m.Parts {
		if p.Text != "" && text != "" {
			text += "\n"
		}
		text += p.Text
	}
	return text
}
