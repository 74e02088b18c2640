package fakemodel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

func geminiProtocol() protocol {
	return protocol{Gemini, readGemini, wholeGemini, geminiEvents, geminiFailure,
		func(code, message string) event {
			return event{"", geminiFailure(http.StatusServiceUnavailable, code, message)}
		}}
}

// geminiPath matches the model's name and the method in /v1beta/models/NAME:METHOD.
func geminiPath(path string) (model, method string) {
	for _, version := range []string{"/v1beta", "/v1alpha", "/v1"} {
		rest, ok := strings.CutPrefix(path, version+"/models/")
		if !ok {
			continue
		}
		model, method, _ = strings.Cut(rest, ":")
		if method == "generateContent" || method == "streamGenerateContent" {
			return model, method
		}
	}
	return "", ""
}

func readGemini(q *Request) error {
	method := ""
	q.Model, method = geminiPath(q.Path)
	q.Stream = method == "streamGenerateContent"
	q.array = q.Stream && !slices.Contains(strings.Split(q.Query, "&"), "alt=sse")
	q.signatures = true
	f, err := object(q.Body, "body", "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent")
	if err != nil {
		return err
	}
	var config struct {
		Max int `json:"maxOutputTokens"`
	}
	var tools, contents []json.RawMessage
	if err := f.into("body", "contents!", &contents, "tools", &tools, "generationConfig", &config); err != nil {
		return err
	}
	q.MaxTokens = config.Max
	q.Prefix = append(bytes.Clone(f["tools"]), f["systemInstruction"]...)
	if raw := f["systemInstruction"]; raw != nil {
		if q.System, err = geminiSystem(raw); err != nil {
			return err
		}
	}
	if err := elements(tools, "tools", q.addGeminiTools); err != nil {
		return err
	}
	return elements(contents, "contents", q.addContent)
}

func geminiSystem(raw json.RawMessage) (string, error) {
	f, err := object(raw, "systemInstruction", "role parts")
	if err != nil {
		return "", err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := f.into("systemInstruction", "parts!", &parts); err != nil {
		return "", err
	}
	text := ""
	for _, p := range parts {
		text += p.Text
	}
	return text, nil
}

func (q *Request) addGeminiTools(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "functionDeclarations")
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if err := f.into(where, "functionDeclarations!", &list); err != nil {
		return err
	}
	return elements(list, where+".functionDeclarations", func(raw json.RawMessage, where string) error {
		f, err := object(raw, where, "name description parameters parametersJsonSchema behavior response responseJsonSchema")
		if err != nil {
			return err
		}
		var t Tool
		if err := f.into(where, "name!", &t.Name, "description!", &t.Description, "parameters", &t.Input, "parametersJsonSchema", &t.Input); err != nil {
			return err
		}
		if f["parameters"] != nil {
			if f["parametersJsonSchema"] != nil {
				return refuse("%s: parameters and parametersJsonSchema are mutually exclusive", where)
			}
			if err := judgeOpenAPI(f["parameters"], where+".parameters"); err != nil {
				return err
			}
		}
		q.Tools = append(q.Tools, t)
		return nil
	})
}

// judgeOpenAPI checks a schema against the subset of OpenAPI that `parameters` accepts.
func judgeOpenAPI(raw json.RawMessage, where string) error {
	f, err := object(raw, where, "type format title description nullable enum maxItems minItems properties required "+
		"minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum")
	if err != nil {
		return err
	}
	var properties map[string]json.RawMessage
	if err := f.into(where, "properties", &properties); err != nil {
		return err
	}
	for name, p := range properties {
		if err := judgeOpenAPI(p, where+"."+name); err != nil {
			return err
		}
	}
	if items := f["items"]; items != nil {
		return judgeOpenAPI(items, where+".items")
	}
	return nil
}

func (q *Request) addContent(raw json.RawMessage, where string) error {
	q.Turns = append(q.Turns, raw)
	f, err := object(raw, where, "role parts")
	if err != nil {
		return err
	}
	role := "user"
	var parts []json.RawMessage
	if err := f.into(where, "role", &role, "parts!", &parts); err != nil {
		return err
	}
	if role != "user" && role != "model" {
		return refuse("%s.role: please use a valid role: user, model", where)
	}
	if len(parts) == 0 {
		return refuse("%s.parts: must not be empty", where)
	}
	return elements(parts, where+".parts", func(raw json.RawMessage, where string) error {
		if role == "user" && q.take(raw) {
			return nil
		}
		part, err := geminiPart(raw, role, where)
		if err == nil {
			q.add(map[string]string{"user": "user", "model": "assistant"}[role], part)
		}
		return err
	})
}

func geminiPart(raw json.RawMessage, role, where string) (Part, error) {
	f, err := object(raw, where, "text thought thoughtSignature functionCall functionResponse")
	if err != nil {
		return Part{}, err
	}
	var text, signature string
	var thought bool
	if err := f.into(where, "text", &text, "thought", &thought, "thoughtSignature", &signature); err != nil {
		return Part{}, err
	}
	switch {
	case f["functionCall"] != nil && role == "model":
		c := &Call{Signature: signature, Args: "{}"}
		call, err := object(f["functionCall"], where+".functionCall", "id name args")
		if err == nil {
			err = call.into(where, "id", &c.ID, "name!", &c.Name)
		}
		if err == nil && call["args"] != nil {
			c.Args = string(call["args"])
		}
		return Part{Call: c}, err
	case f["functionResponse"] != nil && role == "user":
		return geminiResult(f["functionResponse"], where+".functionResponse")
	case thought:
		return Part{}, nil
	case f["text"] == nil && signature == "":
		return Part{}, refuse("%s: the part from the %s has no valid data", where, role)
	}
	return Part{Text: text}, nil
}

// geminiResult reads a result. By convention a response has one field: output or error.
func geminiResult(raw json.RawMessage, where string) (Part, error) {
	f, err := object(raw, where, "id name response willContinue scheduling parts")
	if err != nil {
		return Part{}, err
	}
	r := &Result{}
	var response map[string]json.RawMessage
	if err := f.into(where, "id", &r.ID, "name!", &r.Name, "response!", &response); err != nil {
		return Part{}, err
	}
	r.Text = string(f["response"])
	_, r.Failed = response["error"]
	for _, name := range []string{"output", "result", "error"} {
		if raw, ok := response[name]; ok && len(response) == 1 {
			r.Text = string(raw)
			var text string
			if json.Unmarshal(raw, &text) == nil {
				r.Text = text
			}
		}
	}
	return Part{Result: r}, nil
}

func wholeGemini(a *answer) node {
	var parts []node
	if a.Thought != "" {
		parts = append(parts, node{"text": a.Thought, "thought": true})
	}
	if a.Text != "" {
		parts = append(parts, node{"text": a.Text})
	}
	return geminiResponse(a, append(parts, geminiCalls(a)...), true)
}

// geminiCalls returns the calls. Arguments that are not an object are never sent: the model itself fails and reports it.
func geminiCalls(a *answer) []node {
	var parts []node
	for i, c := range a.Calls {
		if !isObject(c.Args) {
			return nil
		}
		call := node{"name": c.Name, "args": json.RawMessage(c.Args)}
		if !a.NoIDs {
			call["id"] = c.ID
		}
		part := node{"functionCall": call}
		if i == 0 && a.signature != "" {
			part["thoughtSignature"] = a.signature
		}
		parts = append(parts, part)
	}
	return parts
}

// geminiResponse is a whole answer or a part of one.
func geminiResponse(a *answer, parts []node, last bool) node {
	r := node{"responseId": a.id, "modelVersion": a.model}
	candidate := node{"index": 0}
	if len(parts) > 0 {
		candidate["content"] = node{"role": "model", "parts": parts}
	}
	u := node{"promptTokenCount": a.Usage.Input, "totalTokenCount": a.Usage.Input}
	if a.Usage.CacheRead > 0 {
		u["cachedContentTokenCount"] = a.Usage.CacheRead
	}
	r["usageMetadata"] = u
	if last {
		said, thought := a.Usage.Output, 0
		if a.Thought != "" {
			thought = said / 2
			u["thoughtsTokenCount"] = thought
		}
		u["candidatesTokenCount"], u["totalTokenCount"] = said-thought, a.Usage.Input+said
		candidate["finishReason"] = geminiStop(a)
		if a.Stop == StopRefused && a.Text == "" {
			r["promptFeedback"] = node{"blockReason": "SAFETY"}
			return r
		}
	}
	r["candidates"] = []node{candidate}
	return r
}

func geminiStop(a *answer) string {
	if slices.ContainsFunc(a.Calls, func(c Call) bool { return !isObject(c.Args) }) {
		return "MALFORMED_FUNCTION_CALL"
	}
	return map[Stop]string{StopEnd: "STOP", StopCalls: "STOP", StopLength: "MAX_TOKENS", StopRefused: "SAFETY"}[a.Stop]
}

func geminiEvents(a *answer) []event {
	var out []event
	if a.Thought != "" {
		for _, piece := range a.pieces(a.Thought) {
			out = append(out, event{"", geminiResponse(a, []node{{"text": piece, "thought": true}}, false)})
		}
	}
	if a.Text != "" {
		for _, piece := range a.pieces(a.Text) {
			out = append(out, event{"", geminiResponse(a, []node{{"text": piece}}, false)})
		}
	}
	for _, call := range geminiCalls(a) {
		out = append(out, event{"", geminiResponse(a, []node{call}, false)})
	}
	return append(out, event{"", geminiResponse(a, []node{{"text": ""}}, true)})
}

func geminiFailure(status int, code, message string) node {
	if code == "" {
		code = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
			429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[status]
	}
	if code == "" {
		code = "UNKNOWN"
	}
	return node{"error": node{"code": status, "message": message, "status": code}}
}
