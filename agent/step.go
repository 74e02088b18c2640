package agent

import (
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// Step is one event while a prompt is answered. Apart from Depth and Of, one field is set (Anew comes with Notice). Its texts
// come from models, tools and providers: the caller sanitises them before printing.
type Step struct {
	Depth   int        // 0, or 1 for what a sub-agent does
	Of      string     // the ID of the call that the sub-agent answers; "" at depth 0
	Text    string     // the next piece of an answer
	Thought string     // the next piece of what the model thinks before it answers, or of a summary of it
	Call    *llm.Call  // a tool is about to be called
	Result  *Result    // the result of the last Call
	Usage   *llm.Usage // of one request, at its end
	Model   string     // the model of that request, as Options.Identity names it
	Notice  string     // for the user: a wait, a second attempt, a shortened conversation, a turn that goes on
	Anew    bool       // discard the Text since the last Call or Result: the answer starts again
	Done    *Answer    // the last step, at depth 0 only
}

// Result is the result of a tool.
type Result struct {
	Call   *llm.Call
	Result tool.Result
	Text   string // as the model gets it
	Cut    bool   // Text is not the whole result
}

// Answer is how a turn ended.
type Answer struct {
	Text  string    // the model's last text; of a stopped turn, the part that arrived
	Turns int       // requests, including those of sub-agents
	Usage llm.Usage // of all requests, including summaries
	Stop  Stop
	Cut   int // of an answer that ended as Length: its tokens; 0 if the provider does not count them
}

// Stop says why a turn ended.
type Stop string

// The ways a turn ends. Only Cancelled and Failed come with an error.
const (
	End       Stop = "end"       // the model has answered
	Empty     Stop = "empty"     // the last answer has no text; Answer.Text is the text before its last call
	Length    Stop = "length"    // the answer was cut: AnswerTokens or the context is used up
	Refused   Stop = "refused"   // the model or a filter declined
	Turns     Stop = "turns"     // MaxTurns is used up
	Tokens    Stop = "tokens"    // the next request would pass MaxTokens
	Time      Stop = "time"      // MaxTime is over
	Cancelled Stop = "cancelled" // the context was cancelled, the error is the context's
	Failed    Stop = "failed"    // the model could not be asked, the error says why
)
