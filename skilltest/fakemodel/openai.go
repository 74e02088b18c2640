package fakemodel

import (
	"bytes"
	"encoding/json"
)

// This file has what both wires of OpenAI share.

func openaiFailure(status int, code, message string) node {
	kind := map[int]string{401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}[status]
	switch {
	case kind == "" && (status == 0 || status >= 500):
		kind = "server_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	if code == "" {
		code = map[int]string{0: "server_error", 401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}[status]
	}
	e := node{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return node{"error": e}
}

// addFunction reads the definition of a function. Both wires have the same fields, in different places.
func (q *Request) addFunction(f fields, where string) error {
	t, strict := Tool{}, false
	if err := f.into(where, "name!", &t.Name, "description", &t.Description, "parameters!", &t.Input, "strict", &strict); err != nil {
		return err
	}
	if strict {
		if err := judgeStrict(t.Input, where); err != nil {
			return err
		}
	}
	q.Tools = append(q.Tools, t)
	return nil
}

// judgeStrict checks the requirements of strict mode on a schema.
func judgeStrict(schema json.RawMessage, where string) error {
	var s struct {
		Additional *bool                      `json:"additionalProperties"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || s.Additional == nil || *s.Additional || len(s.Required) != len(s.Properties) {
		return refuse("%s: in strict mode a schema needs additionalProperties false and every property required", where)
	}
	return nil
}

// argumentsText reads a string that contains the JSON of arguments.
func argumentsText(raw json.RawMessage, where string) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", refuse("%s: must be a string that contains JSON", where)
	}
	return text, nil
}

const chatFields = "messages model frequency_penalty logprobs max_completion_tokens max_tokens n presence_penalty " +
	"prompt_cache_key safety_identifier seed store temperature top_logprobs top_p parallel_tool_calls user audio " +
	"logit_bias metadata modalities moderation prompt_cache_retention reasoning_effort service_tier stop stream " +
	"stream_options verbosity prediction prompt_cache_options response_format tool_choice tools web_search_options"

func chatProtocol() protocol {
	return protocol{Chat, readChat, wholeChat, chatEvents, openaiFailure,
		func(code, message string) event { return event{"", openaiFailure(0, code, message)} }}
}

func readChat(q *Request) error {
	f, err := object(q.Body, "body", chatFields)
	if err != nil {
		return err
	}
	var tools, messages []json.RawMessage
	var older int
	var options struct {
		Usage bool `json:"include_usage"`
	}
	if err := f.into("body", "model!", &q.Model, "stream", &q.Stream, "messages!", &messages, "tools", &tools, "max_tokens", &older,
		"max_completion_tokens", &q.MaxTokens, "prompt_cache_key", &q.CacheKey, "stream_options", &options); err != nil {
		return err
	}
	q.MaxTokens, q.usage = max(q.MaxTokens, older), options.Usage
	switch {
	case f["stream_options"] != nil && !q.Stream:
		return refuse("stream_options: only allowed when stream is enabled")
	case f["tools"] != nil && len(tools) == 0:
		return refuse("tools: [] is too short")
	case len(tools) == 0 && (f["parallel_tool_calls"] != nil || f["tool_choice"] != nil):
		return refuse("parallel_tool_calls and tool_choice are only allowed when tools are specified")
	}
	q.Prefix = bytes.Clone(f["tools"])
	if err := elements(tools, "tools", func(raw json.RawMessage, where string) error {
		t, err := object(raw, where, "type function cache_control")
		if err != nil {
			return err
		}
		function, err := object(t["function"], where+".function", "name description parameters strict")
		if err != nil {
			return err
		}
		return q.addFunction(function, where)
	}); err != nil {
		return err
	}
	return elements(messages, "messages", q.addChatMessage)
}

func (q *Request) addChatMessage(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "role content name tool_calls tool_call_id refusal audio annotations")
	if err != nil {
		return err
	}
	var role, text, id string
	var calls []json.RawMessage
	if err := f.into(where, "role!", &role, "tool_calls", &calls, "tool_call_id", &id); err != nil {
		return err
	}
	if content := f["content"]; content != nil {
		if text, err = q.contentOf(content, where+".content", "text"); err != nil {
			return err
		}
	} else if role != "assistant" || len(calls) == 0 && f["refusal"] == nil {
		return refuse("%s.content: field required", where)
	}
	switch role {
	case "system", "developer":
		if len(q.Turns) > 0 {
			return refuse("%s: the system text must come first", where)
		}
		q.System += text
		q.Prefix = append(q.Prefix, raw...)
		return nil
	case "tool":
		q.add("user", Part{Result: &Result{ID: id, Text: text}})
	case "user", "assistant":
		if text != "" {
			q.add(role, Part{Text: text})
		}
	default:
		return refuse("%s.role: unknown role %q", where, role)
	}
	q.Turns = append(q.Turns, raw)
	return elements(calls, where+".tool_calls", func(raw json.RawMessage, where string) error { return q.addChatCall(raw, role, where) })
}

func (q *Request) addChatCall(raw json.RawMessage, role, where string) error {
	f, err := object(raw, where, "id type function")
	if err != nil {
		return err
	}
	c, kind := &Call{}, ""
	if err := f.into(where, "id!", &c.ID, "type!", &kind); err != nil {
		return err
	}
	function, err := object(f["function"], where+".function", "name arguments")
	if err != nil {
		return err
	}
	if err := function.into(where, "name!", &c.Name); err != nil {
		return err
	}
	if role != "assistant" || kind != "function" {
		return refuse("%s: only the assistant can call, and only functions", where)
	}
	if c.Args, err = argumentsText(function["arguments"], where+".arguments"); err != nil {
		return err
	}
	q.add(role, Part{Call: c})
	return nil
}

func chatUsage(u Usage) node {
	return node{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": node{"cached_tokens": u.CacheRead}, "completion_tokens_details": node{"reasoning_tokens": 0}}
}

func chatStop(s Stop) string {
	return map[Stop]string{StopEnd: "stop", StopCalls: "tool_calls", StopLength: "length", StopRefused: "content_filter"}[s]
}

func wholeChat(a *answer) node {
	m := node{"role": "assistant", "content": nil, "refusal": nil}
	if a.Text != "" || len(a.Calls) == 0 {
		m["content"] = a.Text
	}
	if a.Thought != "" {
		m["reasoning_content"] = a.Thought
	}
	var calls []node
	for _, c := range a.Calls {
		calls = append(calls, node{"id": c.ID, "type": "function", "function": node{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return node{"id": a.id, "object": "chat.completion", "created": 1, "model": a.model, "usage": chatUsage(a.Usage),
		"choices": []node{{"index": 0, "message": m, "finish_reason": chatStop(a.Stop), "logprobs": nil}}}
}

func chatEvents(a *answer) []event {
	var out []event
	chunk := func(choices []node, usage any) {
		n := node{"id": a.id, "object": "chat.completion.chunk", "created": 1, "model": a.model, "choices": choices}
		if a.request.usage && !a.Silent {
			n["usage"] = usage
		}
		out = append(out, event{"", n})
	}
	delta := func(d node, stop any) { chunk([]node{{"index": 0, "delta": d, "finish_reason": stop}}, nil) }
	delta(node{"role": "assistant", "content": ""}, nil)
	if a.Thought != "" {
		for _, piece := range a.pieces(a.Thought) {
			delta(node{"reasoning_content": piece}, nil)
		}
	}
	if a.Text != "" {
		for _, piece := range a.pieces(a.Text) {
			delta(node{"content": piece}, nil)
		}
	}
	for i, c := range a.Calls {
		delta(node{"tool_calls": []node{{"index": i, "id": c.ID, "type": "function", "function": node{"name": c.Name, "arguments": ""}}}}, nil)
		for _, piece := range a.pieces(c.Args) {
			delta(node{"tool_calls": []node{{"index": i, "function": node{"arguments": piece}}}}, nil)
		}
	}
	delta(node{}, chatStop(a.Stop))
	if a.request.usage && !a.Silent {
		chunk([]node{}, chatUsage(a.Usage))
	}
	return append(out, event{"", "[DONE]"})
}
