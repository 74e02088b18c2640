package anthropic

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// refused reads the answer to a request that the provider rejected.
func refused(x *wire.Exchange) *llm.Error {
	message, kind := problem(x.Body)
	e := x.Failure(provider, message, time.Now())
	if kind != "" {
		e.Kind = kind
	}
	return e
}

// midway returns the error that an event of the stream holds.
func midway(data []byte) error {
	message, kind := problem(data)
	if message == "" {
		message = "the provider reported an error without a message"
	}
	if kind == "" {
		kind = llm.Overloaded
	}
	return &llm.Error{Kind: kind, Provider: provider, Message: wire.Clip(message)}
}

// kinds are the API's types of errors that say more than the status, or come without one.
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
// The kind is "" if the body has no known type.
func problem(body []byte) (message string, kind llm.ErrorKind) {
	var b struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &b) != nil {
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
