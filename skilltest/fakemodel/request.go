package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Wire names a protocol.
type Wire string

// The wires.
const (
	Anthropic Wire = "anthropic" // Messages: POST /v1/messages
	Responses Wire = "responses" // OpenAI's Responses: POST /v1/responses
	Chat      Wire = "chat"      // Chat Completions: POST /v1/chat/completions
	Gemini    Wire = "gemini"    // POST /v1beta/models/NAME:generateContent and :streamGenerateContent
)

// Request is one request to the server: the bytes, and a view that is the same for every wire.
type Request struct {
	Number  int // from 0
	Wire    Wire
	Path    string
	Query   string
	Header  http.Header
	Body    []byte
	Refused string // why the server refused it; "" if it did not

	Model     string
	Stream    bool
	MaxTokens int    // 0 if not set
	CacheKey  string // 0 on wires without one
	System    string
	Tools     []Tool
	Messages  []Message
	Shown     []Media // images and documents, in the order of the request; they are no parts of the messages

	// Prefix is the part that a provider caches: the bytes of the tools and the system text as sent. Turns are the
	// bytes of each message or item after them.
	Prefix []byte
	Turns  [][]byte

	signatures bool // the client asked for signatures of reasoning
	usage      bool // the client asked for usage in the stream
	array      bool // a Gemini stream as a JSON array, without events
}

// Tool is a tool that the model was shown.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // as sent
}

// Message is one side's turn. Successive messages of one side are joined.
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

// Result is the result of a call, as the model was shown it.
type Result struct {
	ID     string
	Name   string // the name of the call, also on wires that send only its ID
	Text   string
	Failed bool // set on the wires of Anthropic and Gemini; the others have no such field
}

// add appends a part, to the last message if it has the same role.
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

// Results returns all results of the conversation in order.
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

// LastResult returns the text of the last result, or "" if there is none.
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
