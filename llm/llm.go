// Package llm is one language model behind one method: a request in, a stream of events out (text, calls of tools,
// what the provider wants to see again, usage, the reason of the stop).
//
// The data types carry no vendor's name; the packages below this one translate them to the wires of the vendors.
// The package knows no skills, runs no tools and reads no environment: keys and addresses come in as options.
// A Model is safe for concurrent use; a Request and its parts must not change while a stream of it is read.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests.
type Model interface {
	// Stream sends r and yields the answer's events as they arrive. The last event of an answer that is complete has
	// Stop set; an error ends the stream, and is an *Error wherever its cause is the provider or the way to it.
	// Breaking off the loop or cancelling ctx ends the request.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// ModelFunc makes a Model of a function.
type ModelFunc func(ctx context.Context, r *Request) iter.Seq2[Event, error]

// Stream calls f.
func (f ModelFunc) Stream(ctx context.Context, r *Request) iter.Seq2[Event, error] { return f(ctx, r) }

// Request is what a model is asked. System and Tools are the stable prefix: whoever keeps their bytes and their order
// from turn to turn pays for them once, since providers cache what does not change.
type Request struct {
	System    string    `json:"system,omitempty"`
	Tools     []Tool    `json:"tools,omitempty"`
	Messages  []Message `json:"messages"`
	MaxTokens int       `json:"max_tokens,omitempty"` // of the answer; 0 means the provider's default
	CacheKey  string    `json:"cache_key,omitempty"`  // names the conversation, for providers that route by it; may be empty
}

// Tool is one thing that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"` // JSON Schema of the arguments, an object
}

// Role tells who speaks.
type Role string

// The two sides of a conversation. Results of tools are the user's.
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
	Call   *Call   `json:"call,omitempty"`   // of the assistant
	Result *Result `json:"result,omitempty"` // of the user: the answer to a call
	State  *State  `json:"state,omitempty"`  // of the assistant
}

// Call is the model's wish to have a tool called.
type Call struct {
	ID   string          `json:"id"` // unique within a conversation
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`          // always valid JSON; {} when Raw is set
	Raw  string          `json:"raw,omitempty"` // what the model sent, where that is not a JSON object
}

// Result is what a tool gave back.
type Result struct {
	ID     string `json:"id"` // of the call
	Name   string `json:"name"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// State is what a provider must see again, unchanged and in its place, for the conversation to go on: signatures of
// its reasoning. Others pass over it.
type State struct {
	Owner string          `json:"owner"` // the package's name: anthropic, openai, gemini
	Data  json.RawMessage `json:"data"`
}

// Event is one step of an answer: exactly one field is set.
type Event struct {
	Text  string     `json:"text,omitempty"` // goes on where the last one ended
	Call  *Call      `json:"call,omitempty"` // complete
	State *State     `json:"state,omitempty"`
	Usage *Usage     `json:"usage,omitempty"` // of the whole request so far; the last one counts
	Stop  StopReason `json:"stop,omitempty"`
}

// Usage counts tokens as the provider bills them.
type Usage struct {
	Input      int `json:"input"`                 // all tokens of the request, cached ones too
	CacheRead  int `json:"cache_read,omitempty"`  // of Input: read from the provider's cache
	CacheWrite int `json:"cache_write,omitempty"` // of Input: written to it
	Output     int `json:"output"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output}
}

// StopReason tells why an answer ended.
type StopReason string

// The reasons there are.
const (
	StopEnd     StopReason = "end"     // the model has said what it had to say
	StopCalls   StopReason = "calls"   // it waits for results
	StopLength  StopReason = "length"  // MaxTokens or the context is used up
	StopRefused StopReason = "refused" // the model or a filter declined
)
