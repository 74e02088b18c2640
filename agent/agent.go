// Package agent runs the loop between a model and its tools: it asks the model, runs the tools that it calls, returns
// their results, and repeats until the model has answered or a limit is reached.
//
// The system text and a text for each turn are handed in: the package knows no skills, reads no environment, and runs
// only the tools of its executor. The history only grows: a request repeats the bytes of the one before it, which keeps
// the caches of providers valid. Only shortening the conversation changes it, and Options.More, which adds tools after those
// that were sent before.
// It starts no goroutine: Options.Together may, for sub-agents. A Conversation is for one goroutine at a time.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// The values that stand for zero in Options.
const (
	defaultMaxTurns = 50
	resultLimit     = 40_000 // characters of one tool result that the model gets; all results of one answer: half of Window
	DefaultWindow   = 180_000
)

// maxContinued is how often Options.Continue can keep one turn going.
const maxContinued = 3

// The steps that a conversation traces, besides trace.AgentAnswered for each prompt and trace.ModelRequested for each request. Its
// executor traces the tool calls.
const (
	AgentForked           trace.Kind = "agent_forked"           // one sub-agent, from its prompt to its answer
	ConversationShortened trace.Kind = "conversation_shortened" // older turns became a summary
)

// errBusy says that an Ask on the conversation has not ended.
var errBusy = errors.New("the conversation is busy with another prompt")

// errNoPrompt is the error of an Ask whose prompt is empty or white space.
var errNoPrompt = errors.New("the prompt is empty")

// Options configures a Conversation. Only Model must be set.
type Options struct {
	Model   llm.Model
	Tools   *tool.Executor // nil means no tools; the model is sent the tools that its Set has at New
	System  string         // the stable prefix, together with the tools
	History []llm.Message  // an earlier conversation to continue, from Messages; repaired if necessary
	Offered []llm.Tool     // the tools that its model was sent, from Offered: they keep their places and their bytes, and those of Tools that are new follow
	Counted Counted        // its size, from Counted; zero means that it is estimated

	// Record, if set, is told of each change of what the model is sent, in order, before a model or a tool is asked next. A
	// sub-agent's own messages are not recorded. Nil records nothing.
	Record func(Change)

	// Turn returns a text that is placed before the prompt in the user's message and stays there. It is called once per
	// prompt. Nil, or "", means none.
	Turn func(ctx context.Context, prompt string) string
	// Continue is called when the model has answered and the turn would end. A text that it returns keeps the turn going: the
	// model gets it as a message of the user. It is called with how often it did so in this turn; after three times
	// its text is only reported, as a Step.Notice like the others. Nil, or "", means that the turn ends.
	Continue func(ctx context.Context, before int) string
	// More returns tools that the model is offered from the next request on. It is called before each request of a turn. They are
	// added to the Set of Tools and sent after the tools that were sent before, which keep their places and their bytes, until
	// the conversation ends. The Set must therefore be of this conversation alone. A tool whose name is taken is left out. Nil
	// means none.
	More func(ctx context.Context) []tool.Tool
	// Carry returns a text that is kept when the conversation is shortened. Nil, or "", means none. If ctx is done, the
	// conversation stays unchanged.
	Carry func(ctx context.Context) string
	// Fork returns the options of the sub-agent that a tool asks for. Nil means these options without History, Turn,
	// Continue, More, Carry, End and Record, whatever model and agent the tool names. The limits of a sub-agent never exceed what its parent has left,
	// and it cannot start another. If Fork returns an error or options without a Model, the call fails.
	Fork func(ctx context.Context, f tool.Fork) (*Options, error)
	// Together runs the sub-agents that several calls of one tool in a row ask for. Each of runs is one, which one goroutine ranges over;
	// Together yields the steps of all from one goroutine, each with the index of its run, and returns when all have ended, also after
	// the loop was left. Nil means one sub-agent after the other.
	Together func(runs []iter.Seq[Step]) iter.Seq2[int, Step]
	// End, in the options that Fork returned, is called once when the sub-agent has finished, however it ended. Nil means
	// nothing.
	End func(ctx context.Context)
	// Retry, if set, repeats failed requests as llm.Retry does and reports each wait by Step.Notice. Nil means no retry.
	Retry *llm.RetryOptions

	// Watch, if set, gets the events of each call while it runs, with its ID and depth, possibly in another goroutine and between
	// two steps. It must return at once; see tool.WithWatch. Nil means nothing.
	Watch func(tool.Event)

	MaxTurns  int           // requests for one prompt, including those of sub-agents; 0 means 50; of one answer 100 calls are run
	MaxTokens int           // input and output of all requests for one prompt, as llm.Usage.Charged counts them; the last answer may exceed it; 0 means no limit
	MaxTime   time.Duration // for one prompt; 0 means no limit

	Window       int        // tokens of the model's context; 0 means DefaultWindow; at 80 % the conversation is shortened
	AnswerTokens int        // the longest answer; 0 means the provider's default
	Effort       llm.Effort // how much the model thinks; not for summaries of the conversation
	CacheKey     string     // names the conversation, for providers that route by it; may be empty

	Trace trace.Tracer
	// Identity says for whom the steps are taken; see trace.WithIdentity. A sub-agent has one of its own.
	Identity trace.Identity
	Now      func() time.Time // measures what is traced; nil means time.Now
}

// Conversation is a model, its tools, and the messages so far.
type Conversation struct {
	o      Options // with the defaults filled in
	tools  []llm.Tool
	depth  int // 1 in a sub-agent
	number int // of a sub-agent, from 1
	forks  int // sub-agents so far
	busy   atomic.Bool

	messages []llm.Message // alternating, the user's first; shared with requests, so no element is ever changed
	ids      map[string]bool
	usage    llm.Usage
	spent    int // charged tokens of all requests, estimated if the provider does not count them

	known int // tokens of the conversation as the last request counted them
	bytes int // added since
	held  int // of known, what the provider has in its cache

	refused int // tokens that were too many for the provider; 0 if none were
}

// New returns a conversation. It panics if o has no model.
func New(o *Options) *Conversation {
	if o == nil || o.Model == nil {
		panic("agent: Options.Model is needed")
	}
	c := &Conversation{o: *o}
	c.o.History, c.o.Offered, c.o.Counted = nil, nil, Counted{}
	if c.o.Tools == nil {
		c.o.Tools = &tool.Executor{}
	}
	if c.o.Tools.Tools == nil {
		with := *c.o.Tools
		with.Tools = &tool.Set{}
		c.o.Tools = &with
	}
	if c.o.MaxTurns == 0 {
		c.o.MaxTurns = defaultMaxTurns
	}
	if c.o.Window == 0 {
		c.o.Window = DefaultWindow
	}
	if c.o.Now == nil {
		c.o.Now = time.Now
	}
	c.tools = slices.Clone(o.Offered)
	for t := range c.o.Tools.Tools.All() {
		if !c.offers(t.Name) {
			c.tools = append(c.tools, offered(t))
		}
	}
	c.replace(repair(o.History))
	c.count(o.Counted)
	return c
}

// offers reports whether the model is offered a tool of that name.
func (c *Conversation) offers(name string) bool {
	return slices.ContainsFunc(c.tools, func(t llm.Tool) bool { return t.Name == name })
}

// offered returns a tool as the model gets it.
func offered(t tool.Tool) llm.Tool {
	return llm.Tool{Name: t.Name, Description: t.Description, Input: schema(t.Input)}
}

// grow adds the tools of Options.More at the end of those that the model is offered.
func (c *Conversation) grow(ctx context.Context) {
	if c.o.More == nil {
		return
	}
	for _, t := range c.o.More(ctx) {
		if c.o.Tools.Tools.Add(t) != nil || c.offers(t.Name) { // the latter was offered before History
			continue
		}
		added := []llm.Tool{offered(t)}
		c.tools = slices.Concat(c.tools, added)
		c.bytes += prefixSize("", added)
		c.record(Change{Tools: added})
	}
}

func schema(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return slices.Clone(input)
}

// Messages returns the messages so far. The caller owns the slice; its elements are shared and must not be changed.
func (c *Conversation) Messages() []llm.Message { return slices.Clone(c.messages) }

// Usage returns the sum of all requests, including those of sub-agents and summaries.
func (c *Conversation) Usage() llm.Usage { return c.usage }

// Size estimates the tokens of the next request without its prompt.
func (c *Conversation) Size() int { return c.known + c.bytes/bytesPerToken }

// Reset removes all messages. Usage continues. It returns an error during an Ask.
func (c *Conversation) Reset() error {
	if !c.busy.CompareAndSwap(false, true) {
		return errBusy
	}
	defer c.busy.Store(false)
	c.exchange(nil)
	return nil
}

// Run asks one prompt in a new conversation. The answer is never nil: with an error it holds what was said so far.
func Run(ctx context.Context, o *Options, prompt string) (*Answer, error) {
	for s, err := range New(o).Ask(ctx, prompt) {
		if s.Done != nil {
			return s.Done, err
		}
	}
	return &Answer{Stop: Failed}, errors.New("the turn ended without an answer")
}
