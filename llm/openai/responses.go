package openai

import (
	"encoding/json"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// responsesRequest is a request of Responses.
type responsesRequest struct {
	Instructions    string          `json:"instructions,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string          `json:"prompt_cache_key,omitempty"`
	Store           bool            `json:"store"`
	Include         []string        `json:"include,omitempty"`
	Input           []any           `json:"input"` // inputMessage, inputCall, inputResult, or a reasoning item as it came
	Model           string          `json:"model"`
	Tools           []responsesTool `json:"tools,omitempty"`
	Stream          bool            `json:"stream"`
	Reasoning       *reasoning      `json:"reasoning,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type inputMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // a string, or a list of inputPart
}

// inputPart is a piece of the content of the user, or of a result.
type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Name     string `json:"filename,omitempty"`
	Data     string `json:"file_data,omitempty"`
}

// inputCall has no id of an item, because it would bind the call to reasoning that may be missing.
type inputCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"` // a string, or a list of inputPart
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // without the field it is true
}

// newResponsesRequest returns r as a request of Responses. The provider stores nothing, so a reasoning model is asked for
// its reasoning in encrypted form, which is sent back to it.
func newResponsesRequest(model string, r *llm.Request) (*responsesRequest, error) {
	q := &responsesRequest{Model: model, Instructions: r.System, MaxOutputTokens: max(0, r.MaxTokens),
		PromptCacheKey: cacheKey(r), Input: []any{}, Stream: true}
	if r.Effort.Level != "" {
		q.Reasoning = &reasoning{r.Effort.Level, "auto"}
	}
	thinks := reasons(model)
	if thinks {
		q.Include = []string{"reasoning.encrypted_content"}
	}
	for _, m := range wire.Messages(r.Messages) {
		for _, p := range m.Parts {
			if item := inputItem(m.Role, p, thinks); item != nil {
				q.Input = append(q.Input, item)
			}
		}
	}
	for _, t := range r.Tools {
		parameters, err := schema(&t)
		if err != nil {
			return nil, err
		}
		q.Tools = append(q.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	return q, nil
}

// inputItem returns one part as an item of the input, or nil if it is not sent.
func inputItem(role llm.Role, p llm.Part, thinks bool) any {
	switch {
	case p.Text != "" && role == llm.Assistant:
		return inputMessage{"assistant", p.Text}
	case p.Text != "":
		return inputMessage{"user", p.Text}
	case p.Call != nil:
		return inputCall{"function_call", p.Call.ID, p.Call.Name, string(p.Call.Args)}
	case p.Media != nil:
		return inputMessage{"user", []inputPart{inputMedia(p.Media)}}
	case p.Result != nil && len(p.Result.Media) > 0:
		output := []inputPart{{Type: "input_text", Text: p.Result.Text}}
		for i := range p.Result.Media {
			output = append(output, inputMedia(&p.Result.Media[i]))
		}
		return inputResult{"function_call_output", p.Result.ID, output}
	case p.Result != nil:
		return inputResult{"function_call_output", p.Result.ID, p.Result.Text}
	case p.State != nil && p.State.Owner == provider && thinks:
		return p.State.Data
	}
	return nil
}

func inputMedia(m *llm.Media) inputPart {
	if m.Document() {
		return inputPart{Type: "input_file", Name: fileName(m), Data: dataURL(m)}
	}
	return inputPart{Type: "input_image", ImageURL: dataURL(m)}
}

var reasoner = lazyregexp.New(`^(o[1-9]([-.].*)?|gpt-([5-9]|[1-9][0-9])([-.].*)?|codex.*)$`)

// reasons reports whether a model is known to return encrypted reasoning. Other models reject the request for it
// ("Encrypted content is not supported with this model"), compatible servers have none, and the name of an Azure
// deployment says nothing. For these it is left out; a reasoning model then loses only its earlier reasoning.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return reasoner().MatchString(name) && !strings.Contains(name, "-chat")
}

// sealed returns a reasoning item to send back, or nil if it has no encrypted content: the provider would look for
// an item that it did not store.
func sealed(item json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(item, &fields) != nil || words(fields["encrypted_content"]) == "" {
		return nil
	}
	delete(fields, "status") // the provider sends it and rejects it
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return data
}
