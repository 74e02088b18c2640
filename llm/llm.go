// Package llm defines a language model with one method, which takes a request and returns a stream of events: text, tool
// calls, states that the provider needs again, usage, and the stop reason.
//
// The types are independent of vendors; the subpackages translate them to the protocols of vendors. The package knows no
// skills, runs no tools and reads no environment: keys and addresses are options. A Model is safe for concurrent use. A
// Request and its parts must not change while its stream is read.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests.
type Model interface {
	// Stream sends r and yields the events of the answer as they arrive. The last event of a complete answer has Stop set.
	// An error ends the stream; it is an *Error if its cause is the provider or the connection to it. Leaving the loop or
	// cancelling ctx ends the request.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// ModelFunc makes a Model of a function.
type ModelFunc func(ctx context.Context, r *Request) iter.Seq2[Event, error]

// Stream calls f.
func (f ModelFunc) Stream(ctx context.Context, r *Request) iter.Seq2[Event, error] { return f(ctx, r) }

// Request is one request to a model. System and Tools are the stable prefix: providers cache it if its bytes stay the same
// from turn to turn.
type Request struct {
	System    string    `json:"system,omitempty"`
	Tools     []Tool    `json:"tools,omitempty"`
	Messages  []Message `json:"messages"`
	MaxTokens int       `json:"max_tokens,omitempty"` // limit of the answer; 0 means the provider's default
	Effort    Effort    `json:"effort,omitzero"`      // how much the model thinks; zero means the provider's default
	CacheKey  string    `json:"cache_key,omitempty"`  // names the conversation, for providers that route by it; may be empty
}

// Effort is how much a model thinks before it answers. At most one field is set, as the model wants it. With one, providers that
// show what a model thinks are asked to.
type Effort struct {
	Level  string `json:"level,omitempty"`  // the provider's word, such as "high"
	Budget int    `json:"budget,omitempty"` // tokens to think
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"` // JSON Schema of the arguments, an object
}

// Role is the side that speaks.
type Role string

// The two sides of a conversation. Tool results belong to the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one side's turn.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a message: exactly one field is set.
type Part struct {
	Text   string  `json:"text,omitempty"`
	Media  *Media  `json:"media,omitempty"`  // of the user
	Call   *Call   `json:"call,omitempty"`   // of the assistant
	Result *Result `json:"result,omitempty"` // of the user: the answer to a call
	State  *State  `json:"state,omitempty"`  // of the assistant
}

// Call is a request of the model to call a tool.
type Call struct {
	ID   string          `json:"id"` // unique within a conversation
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`          // always valid JSON; {} when Raw is set
	Raw  string          `json:"raw,omitempty"` // what the model sent, if it is not a JSON object
}

// Result is the result of a tool.
type Result struct {
	ID     string  `json:"id"` // of the call
	Name   string  `json:"name"`
	Text   string  `json:"text"`
	Media  []Media `json:"media,omitempty"` // that the tool returned, if it did not fail
	Failed bool    `json:"failed,omitempty"`
}

// State is data that a provider must get back unchanged and in place to continue the conversation, such as signatures of
// its reasoning. Other providers ignore it.
type State struct {
	Owner string          `json:"owner"` // the package's name: anthropic, openai, gemini
	Data  json.RawMessage `json:"data"`
}

// Event is one step of an answer: exactly one field is set.
type Event struct {
	Text    string     `json:"text,omitempty"`    // the next piece
	Thought string     `json:"thought,omitempty"` // the next piece of what the model thinks, or of a summary; not part of the message
	Call    *Call      `json:"call,omitempty"`    // complete
	State   *State     `json:"state,omitempty"`
	Usage   *Usage     `json:"usage,omitempty"` // of the whole request so far; the last event counts
	Stop    StopReason `json:"stop,omitempty"`
}

// Usage counts tokens as the provider bills them.
type Usage struct {
	Input      int `json:"input"`                 // all tokens of the request, including cached ones
	CacheRead  int `json:"cache_read,omitempty"`  // of Input: read from the provider's cache
	CacheWrite int `json:"cache_write,omitempty"` // of Input: written to it
	Output     int `json:"output"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output}
}

// Charged returns the tokens with those that were read from the provider's cache counted as a tenth, as most providers charge them or less.
func (u Usage) Charged() int { return u.Input - u.CacheRead + u.CacheRead/10 + u.Output }

// StopReason is why an answer ended.
type StopReason string

// The reasons.
const (
	StopEnd     StopReason = "end"     // the model finished
	StopCalls   StopReason = "calls"   // the model waits for results
	StopLength  StopReason = "length"  // MaxTokens or the context is used up
	StopRefused StopReason = "refused" // the model or a filter declined
)
