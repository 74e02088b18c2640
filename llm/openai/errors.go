package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// refused reads the answer to a request that the server rejected.
func refused(x *wire.Exchange) *llm.Error {
	f := readFailure(x.Body)
	e := x.Failure(provider, f.Message, time.Now())
	e.Kind = f.kind(x.Status)
	if x.Status == http.StatusNotFound && f.Message == "" && f.Code == "" {
		e.Kind = llm.BadRequest
		e.Message = "the server knows no such address; a base URL mostly ends in /v1"
	}
	return e
}

// midway returns the error for a failure within an answer.
func midway(raw json.RawMessage) error {
	f := readFailure(raw)
	e := &llm.Error{Kind: f.kind(0), Provider: provider, Message: f.Message}
	if e.Message == "" {
		e.Message = "the provider stopped with the error " + strconv.Quote(string(f.Code))
	}
	return e
}

// failure is an error as servers describe it.
type failure struct {
	Code    code            `json:"code"`
	Type    string          `json:"type"`
	Message string          `json:"message"`
	Error   json.RawMessage `json:"error"`
	Detail  json.RawMessage `json:"detail"`
}

// code is a word; some servers send a number.
type code string

// UnmarshalJSON accepts any value.
func (c *code) UnmarshalJSON(b []byte) error {
	if text := string(b); text != "null" {
		*c = code(strings.Trim(text, `"`))
	}
	return nil
}

// readFailure reads a body that is an error, in the forms that compatible servers give it: {"error": {…}},
// {"error": "…"}, {"message": "…"}, {"detail": "…"}, any of them in a list.
func readFailure(body []byte) failure {
	body = bytes.TrimSpace(body)
	for range 3 { // levels
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
		var f failure
		if json.Unmarshal(body, &f) != nil {
			break
		}
		if len(f.Error) == 0 || string(f.Error) == "null" {
			if f.Message == "" && len(f.Detail) > 0 && string(f.Detail) != "null" {
				if f.Message = words(f.Detail); f.Message == "" {
					f.Message = string(f.Detail)
				}
			}
			f.Message = wire.Clip(f.Message)
			return f
		}
		body = f.Error
	}
	var text string
	if json.Unmarshal(body, &text) == nil {
		return failure{Message: wire.Clip(text)}
	}
	return failure{} // plain text is the caller's to look at
}

// kind returns the kind of a failure. status is 0 within an answer.
func (f *failure) kind(status int) llm.ErrorKind {
	if number, err := strconv.Atoi(string(f.Code)); err == nil && status == 0 && number >= 400 && number < 600 {
		status = number
	}
	for _, word := range []string{strings.ToLower(string(f.Code)), strings.ToLower(f.Type)} {
		switch word {
		case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active":
			return llm.BadRequest // waiting does not help
		case "context_length_exceeded", "exceed_context_size_error":
			return llm.TooLong
		case "model_not_found", "deploymentnotfound":
			return llm.NoModel
		case "invalid_api_key", "authentication_error":
			return llm.BadKey
		case "rate_limit_exceeded", "rate_limit_error":
			return llm.RateLimit
		case "server_error", "overloaded_error", "engine_overloaded":
			if status < 400 || status >= 500 {
				return llm.Overloaded
			}
		}
	}
	switch status {
	case 0, 400, 413, 422, 500:
		if f.tooLong() {
			return llm.TooLong
		}
	}
	switch {
	case status != 0:
		return llm.KindOfStatus(status)
	case f.Code == "" || strings.Contains(strings.ToLower(string(f.Code)), "timeout"):
		return llm.Overloaded // the server accepted the request and failed later
	}
	return llm.BadRequest
}

// tooLong recognises the messages of servers that have no code for it.
func (f *failure) tooLong() bool {
	text := strings.ToLower(f.Message)
	for _, phrase := range []string{"context length", "context window", "context size", "prompt is too long"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}
