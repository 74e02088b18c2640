package openai

import (
	"encoding/json"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// responseEvent is one event of Responses; which fields are there depends on the type.
type responseEvent struct {
	Type     string          `json:"type"`
	Delta    json.RawMessage `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response *struct {
		Error             json.RawMessage `json:"error"`
		IncompleteDetails *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *tokens `json:"usage"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// outputItem is a piece of the answer.
type outputItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Status    string `json:"status"`
}

type responsesReader struct {
	ids     *wire.IDs
	calls   bool
	refused bool
	spoke   bool // the last item was text
	thought bool // a part of the summary of a thought has come
}

func (r *responsesReader) read(data []byte) ([]llm.Event, error) {
	if string(data) == "[DONE]" {
		return nil, nil // some servers end every stream with it
	}
	var e responseEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, malformed(data, err)
	}
	switch e.Type {
	case "response.output_text.delta":
		return r.say(words(e.Delta)), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return r.think(words(e.Delta)), nil
	case "response.reasoning_summary_part.added":
		return r.part(), nil
	case "response.refusal.delta":
		r.refused = true
		return r.say(words(e.Delta)), nil
	case "response.output_item.added":
		return r.begin(e.Item), nil
	case "response.output_item.done":
		return r.item(data, e.Item)
	case "response.completed", "response.incomplete":
		return r.finish(&e)
	case "response.failed":
		if e.Response == nil {
			return nil, midway(nil)
		}
		return nil, midway(e.Response.Error)
	case "error":
		return nil, midway(data)
	}
	if e.Type == "" && len(e.Error) > 0 && string(e.Error) != "null" {
		return nil, midway(e.Error)
	}
	return nil, nil
}

// end returns nothing, because only an event ends an answer.
func (r *responsesReader) end() []llm.Event { return nil }

func (r *responsesReader) say(text string) []llm.Event {
	if text == "" {
		return nil
	}
	r.spoke = true
	return []llm.Event{{Text: text}}
}

func (r *responsesReader) think(text string) []llm.Event {
	if text == "" {
		return nil
	}
	r.thought = true
	return []llm.Event{{Thought: text}}
}

// part parts a summary of a thought from the one before it.
func (r *responsesReader) part() []llm.Event {
	if !r.thought {
		return nil
	}
	r.thought = false
	return []llm.Event{{Thought: "\n\n"}}
}

// begin parts a message from one just before it.
func (r *responsesReader) begin(raw json.RawMessage) []llm.Event {
	var item outputItem
	if r.spoke && json.Unmarshal(raw, &item) == nil && item.Type == "message" {
		return []llm.Event{{Text: "\n\n"}}
	}
	return nil
}

func (r *responsesReader) item(data []byte, raw json.RawMessage) ([]llm.Event, error) {
	var item outputItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return nil, malformed(data, err)
	}
	switch item.Type {
	case "function_call":
		r.calls, r.spoke = true, false
		return []llm.Event{{Call: newCall(r.ids, item.CallID, item.Name, item.Arguments)}}, nil
	case "reasoning":
		if state := sealed(raw); state != nil {
			r.spoke = false
			return []llm.Event{{State: &llm.State{Owner: provider, Data: state}}}, nil
		}
	}
	return nil, nil
}

func (r *responsesReader) finish(e *responseEvent) ([]llm.Event, error) {
	var events []llm.Event
	stop := llm.StopEnd
	if r.calls {
		stop = llm.StopCalls
	}
	if r.refused {
		stop = llm.StopRefused
	}
	if e.Type == "response.incomplete" {
		stop = llm.StopLength
	}
	if e.Response != nil {
		if d := e.Response.IncompleteDetails; d != nil && d.Reason == "content_filter" {
			stop = llm.StopRefused
		}
		if e.Response.Usage != nil {
			usage, err := e.Response.Usage.usage()
			if err != nil {
				return nil, err
			}
			events = append(events, llm.Event{Usage: usage})
		}
	}
	return append(events, llm.Event{Stop: stop}), nil
}
