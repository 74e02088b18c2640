package agent

import (
	"slices"

	"github.com/agent-base/agent-base/llm"
)

// Change is one change of what the model of a conversation is sent. Who keeps all changes can continue the conversation
// in another process with the same bytes, by Options.History, Options.Offered and Options.Counted. Exactly one field is set,
// but for All. The parts are shared and must not be changed.
type Change struct {
	Added    llm.Message   // its parts stand at the end now: as a message, or in the last one if that has the same role
	Taken    bool          // the last part of the last message is taken back: the prompt of a turn whose first request failed
	Replaced bool          // the messages are All now
	All      []llm.Message // none means that the conversation is empty
	Tools    []llm.Tool    // offered from now on, after the others
}

// Counted is the size of a conversation, as far as it is known.
type Counted struct {
	Tokens int `json:"tokens,omitempty"` // that the last request counted
	Bytes  int `json:"bytes,omitempty"`  // added since
	Window int `json:"window,omitempty"` // tokens of the model's context, if the provider refused more than that
}

// Counted returns the size of the conversation now.
func (c *Conversation) Counted() Counted {
	return Counted{c.known, c.bytes, c.refused}
}

// Offered returns the tools that the model is offered, in their order. The caller owns the slice, not the schemas.
func (c *Conversation) Offered() []llm.Tool { return slices.Clone(c.tools) }

// count takes over the size of an earlier conversation.
func (c *Conversation) count(o Counted) {
	if o.Tokens > 0 || o.Bytes > 0 {
		c.known, c.bytes = o.Tokens, o.Bytes
	}
	if o.Window > 0 {
		c.o.Window = min(c.o.Window, o.Window)
		c.refused = c.o.Window
	}
}

func (c *Conversation) record(change Change) {
	if c.o.Record != nil {
		c.o.Record(change)
	}
}

// exchange sets the history and records it.
func (c *Conversation) exchange(messages []llm.Message) {
	c.replace(messages)
	c.record(Change{Replaced: true, All: messages})
}
