package gemini

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// problem is what the API says about a failure: google.rpc.Status in JSON.
type problem struct {
	Code    int              `json:"code"`
	Message string           `json:"message"`
	Status  string           `json:"status"`
	Details []map[string]any `json:"details"`
}

// read takes the problem out of {"error":…}, or of a list that begins with it.
func read(body []byte) problem {
	var one struct {
		Error problem `json:"error"`
	}
	if trimmed := bytes.TrimSpace(body); bytes.HasPrefix(trimmed, []byte("[")) {
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil || len(list) == 0 {
			return problem{}
		}
		body = list[0]
	}
	if json.Unmarshal(body, &one) != nil {
		return problem{} // no JSON of the API's: the status has to do
	}
	return one.Error
}

// apply makes e say what the problem says beyond its status.
func (p problem) apply(e *llm.Error) *llm.Error {
	for _, d := range p.Details {
		if d["reason"] == "API_KEY_INVALID" {
			e.Kind = llm.BadKey // it comes with a 400
		}
		if text, ok := d["retryDelay"].(string); ok && e.RetryAfter == 0 {
			if wait, err := time.ParseDuration(text); err == nil && wait > 0 {
				e.RetryAfter = wait
			}
		}
	}
	if e.Kind == llm.BadRequest && strings.Contains(p.Message, "exceeds the maximum number of tokens") {
		e.Kind = llm.TooLong
	}
	return e
}
