package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

func anthropicProtocol() protocol {
	return protocol{Anthropic, readAnthropic, wholeAnthropic, anthropicEvents, anthropicFailure,
		func(code, message string) event {
			return event{"error", anthropicFailure(0, code, message)}
		}}
}

const anthropicFields = "model messages max_tokens inference_geo temperature top_k top_p container speed cache_control " +
	"diagnostics metadata output_config service_tier stop_sequences stream system thinking tool_choice tools"

func readAnthropic(q *Request) error {
	if q.Header.Get("Anthropic-Version") == "" {
		return refuse("anthropic-version: header is required")
	}
	f, err := object(q.Body, "body", anthropicFields)
	if err != nil {
		return err
	}
	var tools, messages []json.RawMessage
	if err := f.into("body", "model!", &q.Model, "max_tokens!", &q.MaxTokens, "stream", &q.Stream,
		"tools", &tools, "messages!", &messages); err != nil {
		return err
	}
	if q.MaxTokens < 1 {
		return refuse("max_tokens: must be greater than or equal to 1")
	}
	if n := bytes.Count(q.Body, []byte(`"cache_control"`)); n > 4 {
		return refuse("a maximum of 4 blocks with cache_control may be provided, found %d", n)
	}
	q.signatures = true
	q.Prefix = append(append(q.Prefix, f["tools"]...), f["system"]...)
	if raw := f["system"]; raw != nil {
		if q.System, err = textOf(raw, "system", "text"); err != nil {
			return err
		}
		if strings.TrimSpace(q.System) == "" {
			return refuse("system: text content blocks must be non-empty")
		}
	}
	if err := elements(tools, "tools", q.addAnthropicTool); err != nil {
		return err
	}
	return elements(messages, "messages", q.addAnthropicMessage)
}

func (q *Request) addAnthropicTool(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "type name description input_schema cache_control strict defer_loading allowed_callers input_examples eager_input_streaming")
	if err != nil {
		return err
	}
	t, kind := Tool{}, "custom"
	if err := f.into(where, "name!", &t.Name, "description", &t.Description, "input_schema!", &t.Input, "type", &kind); err != nil {
		return err
	}
	if kind != "custom" {
		return refuse("%s.type: unsupported tool type %q", where, kind)
	}
	q.Tools = append(q.Tools, t)
	return nil
}

func (q *Request) addAnthropicMessage(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "role content")
	if err != nil {
		return err
	}
	var role, text string
	var content json.RawMessage
	if err := f.into(where, "role!", &role, "content!", &content); err != nil {
		return err
	}
	if role != "user" && role != "assistant" {
		return refuse("%s.role: must be user or assistant, not %q", where, role)
	}
	if n := len(q.Messages); n > 0 && q.Messages[n-1].Role == role {
		return refuse("%s: roles must alternate, found two messages in a row from the %s", where, role)
	}
	q.Turns = append(q.Turns, raw)
	if json.Unmarshal(content, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return refuse("%s: text content must be non-empty", where)
		}
		q.add(role, Part{Text: text})
		return nil
	}
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil || len(blocks) == 0 {
		return refuse("%s.content: must be a string or a non-empty list of blocks", where)
	}
	signature := ""
	for i, b := range blocks {
		if role == "user" && q.take(b) {
			continue
		}
		part, err := q.anthropicBlock(b, role, fmt.Sprintf("%s.content[%d]", where, i), &signature)
		if err != nil {
			return err
		}
		if part != (Part{}) {
			q.add(role, part)
		}
	}
	if n := len(q.Messages); n == 0 || q.Messages[n-1].Role != role {
		q.add(role) // only reasoning
	}
	return nil
}

// anthropicBlock reads one block of content. Reasoning does not become a part: its signature is kept for the calls after it.
func (q *Request) anthropicBlock(raw json.RawMessage, role, where string, signature *string) (Part, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return Part{}, refuse("%s: must be an object", where)
	}
	switch role + " " + kind.Type {
	case "user text", "assistant text":
		f, err := object(raw, where, "type text cache_control citations")
		var text string
		if err == nil {
			err = f.into(where, "text!", &text)
		}
		if err == nil && strings.TrimSpace(text) == "" {
			err = refuse("%s: text content blocks must be non-empty", where)
		}
		return Part{Text: text}, err
	case "assistant thinking":
		f, err := object(raw, where, "type thinking signature")
		if err == nil {
			var text string
			err = f.into(where, "signature!", signature, "thinking!", &text)
		}
		return Part{}, err
	case "assistant redacted_thinking":
		f, err := object(raw, where, "type data")
		if err == nil {
			err = f.into(where, "data!", new(string))
		}
		return Part{}, err
	case "assistant tool_use":
		f, err := object(raw, where, "type id name input cache_control caller")
		c := &Call{Signature: *signature}
		var input json.RawMessage
		if err == nil {
			err = f.into(where, "id!", &c.ID, "name!", &c.Name, "input!", &input)
		}
		c.Args = string(input)
		return Part{Call: c}, err
	case "user tool_result":
		return q.anthropicResult(raw, where)
	}
	return Part{}, refuse("%s.type: a message from the %s cannot contain a block of type %q here", where, role, kind.Type)
}

func (q *Request) anthropicResult(raw json.RawMessage, where string) (Part, error) {
	f, err := object(raw, where, "type tool_use_id content is_error cache_control")
	if err != nil {
		return Part{}, err
	}
	r := &Result{}
	if err := f.into(where, "tool_use_id!", &r.ID, "is_error", &r.Failed); err != nil {
		return Part{}, err
	}
	if raw := f["content"]; raw != nil {
		r.Text, err = q.contentOf(raw, where+".content", "text")
	}
	return Part{Result: r}, err
}

func anthropicStop(s Stop) string {
	return map[Stop]string{StopEnd: "end_turn", StopCalls: "tool_use", StopLength: "max_tokens", StopRefused: "refusal"}[s]
}

func anthropicUsage(u Usage, output int) node {
	return node{"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheWrite, "output_tokens": output}
}

func wholeAnthropic(a *answer) node {
	content := []node{}
	if a.Thought != "" {
		content = append(content, node{"type": "thinking", "thinking": a.Thought, "signature": a.signature})
	}
	if a.Text != "" {
		content = append(content, node{"type": "text", "text": a.Text})
	}
	for _, c := range a.Calls {
		var input any = json.RawMessage(c.Args)
		if !json.Valid([]byte(c.Args)) {
			input = c.Args // not an object: the nearest valid JSON
		}
		content = append(content, node{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
	}
	return node{"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": anthropicStop(a.Stop), "stop_sequence": nil, "usage": anthropicUsage(a.Usage, a.Usage.Output)}
}

func anthropicEvents(a *answer) []event {
	var out []event
	add := func(kind string, n node) {
		n["type"] = kind
		out = append(out, event{kind, n})
	}
	index := 0
	block := func(start node, deltas ...node) {
		add("content_block_start", node{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", node{"index": index, "delta": d})
		}
		add("content_block_stop", node{"index": index})
		index++
	}
	deltas := func(kind, field, text string) []node {
		var list []node
		for _, piece := range a.pieces(text) {
			list = append(list, node{"type": kind, field: piece})
		}
		return list
	}
	add("message_start", node{"message": node{"id": a.id, "type": "message", "role": "assistant", "model": a.model,
		"content": []node{}, "stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(a.Usage, 1)}})
	add("ping", node{})
	if a.Thought != "" {
		block(node{"type": "thinking", "thinking": "", "signature": ""}, append(deltas("thinking_delta", "thinking", a.Thought),
			node{"type": "signature_delta", "signature": a.signature})...)
	}
	if a.Text != "" {
		block(node{"type": "text", "text": ""}, deltas("text_delta", "text", a.Text)...)
	}
	for _, c := range a.Calls {
		block(node{"type": "tool_use", "id": c.ID, "name": c.Name, "input": node{}}, deltas("input_json_delta", "partial_json", c.Args)...)
	}
	add("message_delta", node{"delta": node{"stop_reason": anthropicStop(a.Stop), "stop_sequence": nil},
		"usage": node{"output_tokens": a.Usage.Output}})
	add("message_stop", node{})
	return out
}

func anthropicFailure(status int, code, message string) node {
	if code == "" {
		code = map[int]string{0: "overloaded_error", 400: "invalid_request_error", 401: "authentication_error",
			403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
			504: "timeout_error", 529: "overloaded_error"}[status]
	}
	if code == "" {
		code = "api_error"
	}
	return node{"type": "error", "error": node{"type": code, "message": message}, "request_id": "req_fake"}
}
