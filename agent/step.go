package agent

import (
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// Step is one thing that happens while a prompt is answered. Besides Depth, one field is set (Anew goes with Notice).
// Its texts come from models, tools and providers: whoever prints them sanitises them.
type Step struct {
	Depth  int        // 0, or 1 for what a sub-agent does
	Text   string     // a piece of an answer, goes on where the last one ended
	Call   *llm.Call  // a tool is about to be called
	Result *Result    // what it gave; follows its Call
	Usage  *llm.Usage // of one request, at its end
	Notice string     // what a person may want to know: a wait, a second attempt, a conversation shortened
	Anew   bool       // the Text since the last Call or Result is void: the answer begins again
	Done   *Answer    // the last step of all, at depth 0 only
}

// Result is what a tool gave.
type Result struct {
	Call   *llm.Call
	Result tool.Result
	Text   string // as the model gets it
	Cut    bool   // Text is not the whole result
}

// Answer is how a turn ended.
type Answer struct {
	Text  string    // what the model said last; of a turn that was stopped, as far as it came
	Turns int       // requests, those of sub-agents too
	Usage llm.Usage // of all of them, and of summaries
	Stop  Stop
}

// Stop tells why a turn ended.
type Stop string

// The ways a turn ends. With Cancelled and Failed goes an error, with the others none.
const (
	End       Stop = "end"       // the model has answered
	Empty     Stop = "empty"     // it ended without a word; Answer.Text is what it had said before its last call
	Length    Stop = "length"    // its answer ended in the middle: AnswerTokens or its context is used up
	Refused   Stop = "refused"   // the model or a filter declined
	Turns     Stop = "turns"     // MaxTurns is used up
	Tokens    Stop = "tokens"    // the next request would pass MaxTokens
	Time      Stop = "time"      // MaxTime is over
	Cancelled Stop = "cancelled" // the context was cancelled, the error is the context's
	Failed    Stop = "failed"    // the model could not be asked, the error says why
)
