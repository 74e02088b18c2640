package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/agent-base/agent-base/llm"
)

// kinds are the API's types of errors, as far as they say more than the status does, or come without one.
var kinds = map[string]llm.ErrorKind{
	"authentication_error": llm.BadKey,
	"permission_error":     llm.BadKey,
	"not_found_error":      llm.NoModel,
	"request_too_large":    llm.TooLong,
	"rate_limit_error":     llm.RateLimit,
	"timeout_error":        llm.TimedOut,
	"api_error":            llm.Overloaded,
	"overloaded_error":     llm.Overloaded,
}

// problem reads what the API says about a failure: {"type":"error","error":{"type":…,"message":…}}.
// The kind is "" where it says nothing.
func problem(body string) (message string, kind llm.ErrorKind) {
	var b struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &b) != nil {
		return "", ""
	}
	message, kind = b.Error.Message, kinds[b.Error.Type]
	if b.Error.Type == "invalid_request_error" {
		kind = llm.BadRequest
		if strings.Contains(message, "prompt is too long") || strings.Contains(message, "exceed context limit") {
			kind = llm.TooLong
		}
	}
	if message == "" {
		message = b.Error.Type
	}
	return message, kind
}
