package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const responsesFields = "background instructions max_output_tokens max_tool_calls parallel_tool_calls prompt_cache_key " +
	"safety_identifier store temperature top_logprobs top_p user context_management include metadata moderation " +
	"prompt_cache_retention service_tier stream stream_options truncation input model prompt_cache_options reasoning text tool_choice tools"

func responsesProtocol() protocol {
	return protocol{Responses, readResponses, wholeResponses, responsesEvents, openaiFailure,
		func(code, message string) event {
			if code == "" {
				code = "server_error"
			}
			return event{"error", node{"type": "error", "code": code, "message": message, "param": nil, "sequence_number": 99}}
		}}
}

func readResponses(q *Request) error {
	f, err := object(q.Body, "body", responsesFields)
	if err != nil {
		return err
	}
	var tools, items []json.RawMessage
	var include []string
	if err := f.into("body", "model!", &q.Model, "stream", &q.Stream, "tools", &tools, "max_output_tokens", &q.MaxTokens,
		"instructions", &q.System, "prompt_cache_key", &q.CacheKey, "include", &include); err != nil {
		return err
	}
	if q.MaxTokens != 0 && q.MaxTokens < 16 {
		return refuse("max_output_tokens: must be at least 16")
	}
	q.signatures = slices.Contains(include, "reasoning.encrypted_content")
	q.Prefix = append(bytes.Clone(f["tools"]), f["instructions"]...)
	for i, raw := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		t, err := object(raw, where, "type name description parameters strict defer_loading allowed_callers")
		if err != nil {
			return err
		}
		if string(t["type"]) != `"function"` {
			return refuse("%s.type: only functions are supported", where)
		}
		if err := q.addFunction(t, where); err != nil {
			return err
		}
	}
	var text string
	if json.Unmarshal(f["input"], &text) == nil && text != "" {
		q.Turns = append(q.Turns, f["input"])
		q.add("user", Part{Text: text})
		return nil
	}
	if err := f.into("body", "input!", &items); err != nil {
		return err
	}
	signature := ""
	return elements(items, "input", func(raw json.RawMessage, where string) error { return q.addItem(raw, where, &signature) })
}

// addItem reads one item of the input. The signature is that of the last reasoning; it applies to the calls after it.
func (q *Request) addItem(raw json.RawMessage, where string, signature *string) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return refuse("%s: must be an object", where)
	}
	if kind.Type != "function_call" && kind.Type != "reasoning" {
		*signature = ""
	}
	switch kind.Type {
	case "", "message":
		return q.addMessageItem(raw, where)
	case "reasoning":
		f, err := object(raw, where, "type id summary content encrypted_content status")
		if err != nil {
			return err
		}
		q.Turns = append(q.Turns, raw)
		var summary []json.RawMessage
		return f.into(where, "id!", new(string), "summary!", &summary, "encrypted_content", signature)
	case "function_call":
		f, err := object(raw, where, "type id call_id name arguments status namespace caller")
		if err != nil {
			return err
		}
		c, id := &Call{Signature: *signature}, "fc"
		if err := f.into(where, "call_id!", &c.ID, "name!", &c.Name, "id", &id); err != nil {
			return err
		}
		if !strings.HasPrefix(id, "fc") {
			return refuse("%s.id: expected an ID that begins with 'fc', not %q", where, id)
		}
		if c.Args, err = argumentsText(f["arguments"], where+".arguments"); err != nil {
			return err
		}
		q.Turns = append(q.Turns, raw)
		q.add("assistant", Part{Call: c})
	case "function_call_output":
		f, err := object(raw, where, "type id call_id output status caller name namespace")
		if err != nil {
			return err
		}
		r := &Result{}
		if err := f.into(where, "call_id!", &r.ID); err != nil {
			return err
		}
		if r.Text, err = q.contentOf(f["output"], where+".output", "input_text"); err != nil {
			return err
		}
		q.Turns = append(q.Turns, raw)
		q.add("user", Part{Result: r})
	default:
		return refuse("%s.type: unsupported item type %q", where, kind.Type)
	}
	return nil
}

func (q *Request) addMessageItem(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "type id role content status phase")
	if err != nil {
		return err
	}
	var role, text string
	var content json.RawMessage
	if err := f.into(where, "role!", &role, "content!", &content); err != nil {
		return err
	}
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	if text, err = q.contentOf(content, where+".content", kind); err != nil {
		return err
	}
	switch role {
	case "system", "developer":
		if len(q.Turns) > 0 {
			return refuse("%s: the system text must come first", where)
		}
		q.System += text
		q.Prefix = append(q.Prefix, raw...)
		return nil
	case "user", "assistant":
		q.Turns = append(q.Turns, raw)
		if text != "" || len(q.Shown) == 0 {
			q.add(role, Part{Text: text})
		}
		return nil
	}
	return refuse("%s.role: unknown role %q", where, role)
}

// responseItems returns all items of an answer.
func responseItems(a *answer) []node {
	items := []node{}
	if a.Thought != "" {
		item := node{"type": "reasoning", "id": "rs_" + a.id, "summary": []node{{"type": "summary_text", "text": a.Thought}}}
		if a.request.signatures {
			item["encrypted_content"] = a.signature
		}
		items = append(items, item)
	}
	if a.Text != "" {
		part := node{"type": "output_text", "text": a.Text, "annotations": []node{}, "logprobs": []node{}}
		if a.Stop == StopRefused {
			part = node{"type": "refusal", "refusal": a.Text}
		}
		items = append(items, node{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed", "content": []node{part}})
	}
	for _, c := range a.Calls {
		items = append(items, node{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name,
			"arguments": c.Args, "status": "completed"})
	}
	return items
}

// response returns the response object with these items.
func response(a *answer, status string, items []node) node {
	r := node{"id": "resp_" + a.id, "object": "response", "created_at": 1, "status": status, "model": a.model, "output": items,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": node{}, "parallel_tool_calls": true,
		"tool_choice": "auto", "tools": []node{}, "temperature": 1, "top_p": 1, "usage": nil}
	if status == "in_progress" {
		return r
	}
	u, reasoning := a.Usage, 0
	if a.Thought != "" {
		reasoning = u.Output / 2
	}
	r["usage"] = node{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"input_tokens_details":  node{"cached_tokens": u.CacheRead},
		"output_tokens_details": node{"reasoning_tokens": reasoning}}
	switch {
	case a.Stop == StopLength:
		r["incomplete_details"] = node{"reason": "max_output_tokens"}
	case a.Stop == StopRefused && a.Text == "":
		r["incomplete_details"] = node{"reason": "content_filter"}
	}
	return r
}

func responseStatus(a *answer) string {
	if a.Stop == StopLength || a.Stop == StopRefused && a.Text == "" {
		return "incomplete"
	}
	return "completed"
}

func wholeResponses(a *answer) node { return response(a, responseStatus(a), responseItems(a)) }

// responsesStream numbers its events.
type responsesStream struct {
	a      *answer
	events []event
}

func (s *responsesStream) add(kind string, n node) {
	n["type"], n["sequence_number"] = kind, len(s.events)
	s.events = append(s.events, event{kind, n})
}

func responsesEvents(a *answer) []event {
	s := &responsesStream{a: a}
	s.add("response.created", node{"response": response(a, "in_progress", []node{})})
	s.add("response.in_progress", node{"response": response(a, "in_progress", []node{})})
	items := responseItems(a)
	for i, item := range items {
		s.item(i, item)
	}
	status := responseStatus(a)
	s.add("response."+status, node{"response": response(a, status, items)})
	return s.events
}

// item writes the events of one item: its start, its deltas and the whole item.
func (s *responsesStream) item(index int, item node) {
	begun := node{}
	for k, v := range item {
		begun[k] = v
	}
	id := item["id"]
	at := func(n node) node {
		n["item_id"], n["output_index"] = id, index
		return n
	}
	switch item["type"] {
	case "reasoning":
		begun["summary"] = []node{}
	case "message":
		begun["status"], begun["content"] = "in_progress", []node{}
	case "function_call":
		begun["status"], begun["arguments"] = "in_progress", ""
	}
	s.add("response.output_item.added", node{"output_index": index, "item": begun})
	switch item["type"] {
	case "reasoning":
		for _, piece := range s.a.pieces(s.a.Thought) {
			s.add("response.reasoning_summary_text.delta", at(node{"summary_index": 0, "delta": piece}))
		}
	case "message":
		s.message(item["content"].([]node)[0], at)
	case "function_call":
		for _, piece := range s.a.pieces(item["arguments"].(string)) {
			s.add("response.function_call_arguments.delta", at(node{"delta": piece}))
		}
		s.add("response.function_call_arguments.done", at(node{"arguments": item["arguments"], "name": item["name"]}))
	}
	s.add("response.output_item.done", node{"output_index": index, "item": item})
}

func (s *responsesStream) message(part node, at func(node) node) {
	field, kind := "text", "response.output_text"
	empty := node{"type": "output_text", "text": "", "annotations": []node{}}
	if part["type"] == "refusal" {
		field, kind = "refusal", "response.refusal"
		empty = node{"type": "refusal", "refusal": ""}
	}
	s.add("response.content_part.added", at(node{"content_index": 0, "part": empty}))
	for _, piece := range s.a.pieces(s.a.Text) {
		s.add(kind+".delta", at(node{"content_index": 0, "delta": piece}))
	}
	s.add(kind+".done", at(node{"content_index": 0, field: s.a.Text}))
	s.add("response.content_part.done", at(node{"content_index": 0, "part": part}))
}
