package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/tool"
)

// result returns the answer of a process in the engine's form.
func (h *Host) result(p *process, res *mcphost.Result) tool.Result {
	text := res.Text
	doc := document(text, p.u.lang != Server)
	if doc == nil {
		doc = res.Structured
	}
	if size := int64(max(len(doc), len(text))); size > h.o.MaxResult {
		return tool.CauseUnknown.Failure(fmt.Sprintf("The result has %d bytes, and at most %d are given to a model: ask for less", size, h.o.MaxResult))
	}
	doc, text = p.serving.Redact.Bytes(doc), p.serving.Redact.String(text)
	r, ok := envelope(doc)
	switch {
	case ok && p.u.lang == Server && !r.Success: // the codes are the engine's own
		return tool.CauseUnknown.Failure(cmp.Or(r.Message, text))
	case ok && p.u.lang == Server && !res.Failed: // message and metadata would read as the engine's own
		return tool.Success(json.RawMessage(doc), "")
	case res.Failed && (!ok || r.Success):
		return tool.CauseUnknown.Failure(text + p.crowded(text))
	case ok:
		return r
	}
	if doc != nil {
		return tool.Success(json.RawMessage(doc), "")
	}
	return tool.Success(text, "")
}

// crowded explains an error of the system that names no cause: that of a program that may start no more processes.
func (p *process) crowded(text string) string {
	if p.serving.Limits.Processes == 0 || !strings.Contains(text, "Resource temporarily unavailable") && !strings.Contains(text, "EAGAIN") {
		return ""
	}
	return fmt.Sprintf("\n(a toolset may have %d processes at the same time, with those that its earlier calls started)", p.serving.Limits.Processes)
}

// envelope reads {success, result, message}, {success:false, error, message} and {title, metadata, output}.
func envelope(doc []byte) (tool.Result, bool) {
	var all map[string]json.RawMessage
	if len(doc) == 0 || doc[0] != '{' || json.Unmarshal(doc, &all) != nil {
		return tool.Result{}, false
	}
	var success bool
	if raw, ok := all["success"]; ok && json.Unmarshal(raw, &success) == nil && string(raw) != "null" {
		r := tool.Result{Success: success, Message: plain(all["message"]), Metadata: object(all["metadata"])}
		if raw, ok := all["result"]; ok && string(raw) != "null" {
			r.Result = raw
		}
		if !success {
			r.Error = code(plain(all["error"]))
		} else if rest := others(all); r.Result == nil && len(rest) > 0 {
			r.Result = rest
		}
		return r, true
	}
	_, hasOutput := all["output"]
	_, hasTitle := all["title"]
	if hasOutput && hasTitle && len(all) <= 3 && (len(all) == 2 || all["metadata"] != nil) {
		return tool.Result{Success: true, Result: all["output"], Message: plain(all["title"]), Metadata: object(all["metadata"])}, true
	}
	return tool.Result{}, false
}

// others returns what an envelope has beside its own keys, for a tool that puts its values there.
func others(all map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for key, value := range all {
		switch key {
		case "success", "result", "message", "error", "metadata":
		default:
			out[key] = value
		}
	}
	return out
}

// code returns the error of an envelope: a tool's own code is kept.
func code(text string) tool.Code {
	if text == "" {
		return tool.ExecutionFailed
	}
	return tool.Code(text)
}

// plain returns a JSON string as a text, and another value as JSON.
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func object(raw json.RawMessage) map[string]any {
	var out map[string]any
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		_ = d.Decode(&out) // metadata that is no object is none
	}
	delete(out, tool.MetadataSandbox) // only the engine says what confined a call
	return out
}

// document returns a text that is JSON, nil for another one. Without any it must be an object or an array.
func document(text string, anyValue bool) []byte {
	b := []byte(strings.TrimSpace(text))
	if len(b) == 0 || !anyValue && b[0] != '{' && b[0] != '[' || !json.Valid(b) {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, b) != nil {
		return nil
	}
	return compact.Bytes()
}

// withCode gives a failed start the code and the reason of its cause in package script.
func withCode(r tool.Result, err error) tool.Result {
	var e *script.Error
	if errors.As(err, &e) {
		r.Error = tool.Code(e.Code)
		if e.Reason != "" {
			r.Reason = e.Reason
		}
	}
	return r
}

// reason returns the text of a failure without the name of its toolset.
func reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return fmt.Sprint(err)
}
