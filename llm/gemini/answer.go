package gemini

import (
	"encoding/json"

	"google.golang.org/genai"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// answer puts the chunks of a stream together.
type answer struct {
	ids     *wire.IDs
	calls   bool
	blocked bool
	finish  genai.FinishReason
}

// take returns what a chunk means. Its end comes with the end of the stream: some models say STOP in every chunk.
func (a *answer) take(c *genai.GenerateContentResponse) []llm.Event {
	var events []llm.Event
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" {
		a.blocked = true
	}
	if len(c.Candidates) > 0 && c.Candidates[0] != nil {
		first := c.Candidates[0]
		if first.Content != nil {
			for _, p := range first.Content.Parts {
				events = append(events, a.part(p)...)
			}
		}
		if first.FinishReason != "" && first.FinishReason != genai.FinishReasonUnspecified {
			a.finish = first.FinishReason
		}
	}
	if u := c.UsageMetadata; u != nil {
		events = append(events, llm.Event{Usage: &llm.Usage{
			Input:     int(u.PromptTokenCount) + int(u.ToolUsePromptTokenCount),
			CacheRead: int(u.CachedContentTokenCount),
			Output:    int(u.CandidatesTokenCount) + int(u.ThoughtsTokenCount),
		}})
	}
	return events
}

// part returns the events of a part: what it says, then its signature.
func (a *answer) part(p *genai.Part) []llm.Event {
	if p == nil {
		return nil
	}
	var events []llm.Event
	s := signature{Signature: p.ThoughtSignature}
	switch {
	case p.FunctionCall != nil:
		a.calls, s.Call = true, true
		c := &llm.Call{ID: a.ids.Unique(p.FunctionCall.ID), Name: p.FunctionCall.Name}
		c.Args, c.Raw = wire.Args(unwrap(p.FunctionCall.Args))
		events = append(events, llm.Event{Call: c})
	case p.Thought:
		s.Thought, s.Text = true, p.Text
	case p.Text != "":
		s.Text = p.Text
		events = append(events, llm.Event{Text: p.Text})
	}
	if len(s.Signature) == 0 {
		return events
	}
	data, err := json.Marshal(s)
	if err != nil {
		return events // strings and bytes always go
	}
	return append(events, llm.Event{State: &llm.State{Owner: provider, Data: data}})
}

// broken reports whether the answer ended because the model's call was no call.
func (a *answer) broken() bool {
	switch a.finish {
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls:
		return true
	}
	return false
}

// reason returns why the answer ended, or false if it did not, or not well.
func (a *answer) reason() (llm.StopReason, bool) {
	switch a.finish {
	case "":
		return llm.StopRefused, a.blocked
	case genai.FinishReasonMaxTokens:
		return llm.StopLength, true
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return llm.StopRefused, true
	}
	if a.calls {
		return llm.StopCalls, !a.broken()
	}
	return llm.StopEnd, !a.broken()
}
