// Package agent is the loop between a model and its tools: it asks the model, runs the tools that it calls, gives
// back what they say, and goes on until the model has answered or a bound is reached.
//
// The system text and a text for each turn are handed in: the package knows no skills, reads no environment, and runs
// nothing but the tools of the executor that it is given. Its history only grows; what was sent once is sent again
// with the same bytes, so that the caches of providers hold, and only shortening the conversation changes it.
// It starts no goroutine. A Conversation is for one goroutine at a time.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// The values that stand for zero in Options.
const (
	DefaultMaxTurns    = 50
	DefaultResultLimit = 40_000
	DefaultWindow      = 180_000
)

// The steps that a conversation traces, besides the tool calls that its executor does.
const (
	ModelRequested        trace.Kind = "model_requested"        // one request, with its usage
	AgentForked           trace.Kind = "agent_forked"           // one sub-agent, from its prompt to its answer
	AgentAnswered         trace.Kind = "agent_answered"         // one prompt, from its arrival to its end
	ConversationShortened trace.Kind = "conversation_shortened" // older turns became a summary
)

// ErrBusy is returned by what needs a conversation that no Ask is at work on.
var ErrBusy = errors.New("the conversation is at work on another prompt: wait for its end or cancel it")

// ErrNoPrompt is what an Ask ends with whose prompt is empty or blank.
var ErrNoPrompt = errors.New("the prompt is empty")

// Options configures a Conversation. Only Model must be set.
type Options struct {
	Model   llm.Model
	Tools   *tool.Executor // nil means no tools; those that its Set has at New are the ones that the model is told of
	System  string         // the stable prefix, together with the tools
	History []llm.Message  // where the conversation starts from: what Messages returned once; repaired where need be

	// Turn returns the text of one turn, which is placed in the user's message ahead of the prompt and stays there.
	// It is called once per prompt. Nil, or "", means none.
	Turn func(ctx context.Context, prompt string) string
	// Carry returns what must outlive a shortening of the conversation. Nil, or "", means nothing. Where ctx ends
	// meanwhile the conversation stays as it is.
	Carry func(ctx context.Context) string
	// Fork returns the options of the sub-agent that a tool asks for. Nil means these ones, without History, Turn
	// and Carry, whatever model and agent the tool names. The bounds of a sub-agent never exceed what its parent
	// has left, and it starts no other one. After an error, and where the options have no Model, the call fails.
	Fork func(ctx context.Context, f tool.Fork) (*Options, error)
	// Retry, when set, asks again as llm.Retry does and tells of it by Step.Notice. Nil leaves it to Model.
	Retry *llm.RetryOptions

	MaxTurns  int           // requests for one prompt, those of sub-agents too; 0 means DefaultMaxTurns; of one answer 100 calls are run
	MaxTokens int           // input and output of all requests for one prompt, passed by one answer at most; 0 means no limit
	MaxTime   time.Duration // for one prompt; 0 means no limit

	ResultLimit  int    // characters of one tool result that the model gets; 0 means DefaultResultLimit; all results of one answer: half of Window
	Window       int    // tokens of the model's context; 0 means DefaultWindow; at 80 % the conversation is shortened
	AnswerTokens int    // the longest answer; 0 means the provider's default
	CacheKey     string // names the conversation, for providers that route by it; may be empty

	Trace trace.Tracer
	Now   func() time.Time // measures what is traced; nil means time.Now
}

// Conversation is a model, its tools, and what was said so far.
type Conversation struct {
	o     Options // with the defaults filled in
	tools []llm.Tool
	depth int // 1 in a sub-agent
	busy  atomic.Bool

	messages []llm.Message // alternating, the user's first; shared with requests, so that no element is ever changed
	ids      map[string]bool
	usage    llm.Usage
	spent    int // tokens of all requests, estimated where the provider does not count

	known int // tokens of the conversation as the last request counted them
	bytes int // of what has come since
}

// New returns a conversation. It panics without a model: that is a mistake of the program.
func New(o *Options) *Conversation {
	if o.Model == nil {
		panic("agent: a conversation needs a model")
	}
	c := &Conversation{o: *o}
	c.o.History = nil
	if c.o.Tools == nil {
		c.o.Tools = &tool.Executor{}
	}
	if c.o.Tools.Tools == nil {
		c.o.Tools = &tool.Executor{Tools: &tool.Set{}, Check: c.o.Tools.Check, Trace: c.o.Tools.Trace}
	}
	if c.o.MaxTurns == 0 {
		c.o.MaxTurns = DefaultMaxTurns
	}
	if c.o.ResultLimit == 0 {
		c.o.ResultLimit = DefaultResultLimit
	}
	if c.o.Window == 0 {
		c.o.Window = DefaultWindow
	}
	if c.o.Now == nil {
		c.o.Now = time.Now
	}
	for t := range c.o.Tools.Tools.All() {
		c.tools = append(c.tools, llm.Tool{Name: t.Name, Description: t.Description, Input: schema(t.Input)})
	}
	c.replace(mend(o.History))
	return c
}

func schema(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return slices.Clone(input)
}

// Messages returns what was said so far. The list is the caller's, its parts are shared and must not be changed.
func (c *Conversation) Messages() []llm.Message { return slices.Clone(c.messages) }

// Usage returns the sum of all requests, those of sub-agents and of summaries too.
func (c *Conversation) Usage() llm.Usage { return c.usage }

// Size returns about how many tokens the next request has, before a prompt is added to it.
func (c *Conversation) Size() int { return c.known + c.bytes/bytesPerToken }

// Reset forgets what was said. Usage goes on counting. The error is ErrBusy or nil.
func (c *Conversation) Reset() error {
	if !c.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer c.busy.Store(false)
	c.replace(nil)
	return nil
}

// Run asks one prompt in a fresh conversation. The answer is never nil: beside an error it holds what was said so far.
func Run(ctx context.Context, o *Options, prompt string) (*Answer, error) {
	for s, err := range New(o).Ask(ctx, prompt) {
		if s.Done != nil {
			return s.Done, err
		}
	}
	return &Answer{Stop: Failed}, errors.New("the turn ended without an answer")
}
