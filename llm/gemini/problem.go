package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// refused reads the answer to a request that the provider rejected.
func refused(x *wire.Exchange) *llm.Error { return read(x.Body).fault(x) }

// malformed returns the error of an event that is not what the API documents.
func malformed(err error) error {
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Err: err,
		Message: wire.Clip(fmt.Sprintf("an event of the stream cannot be read: %v", err))}
}

// midway returns the error that an event of the stream holds.
func midway(raw json.RawMessage) error {
	var p problem
	if err := json.Unmarshal(raw, &p); err != nil {
		return malformed(err)
	}
	if p.Message == "" {
		p.Message = "the provider reported an error without a message"
	}
	return p.fault(&wire.Exchange{Status: p.Code})
}

// problem is what the API says about a failure: google.rpc.Status in JSON.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	} `json:"details"`
}

// read returns the problem of {"error":…}, or of a list that begins with it. It returns the zero problem for another
// body.
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
	_ = json.Unmarshal(body, &one) // a field of another type leaves the others readable
	return one.Error
}

// fault returns the error of an exchange that failed with p, which may say more than the status.
func (p problem) fault(x *wire.Exchange) *llm.Error {
	e := x.Failure(provider, p.Message, time.Now())
	for _, d := range p.Details {
		if d.Reason == "API_KEY_INVALID" {
			e.Kind = llm.BadKey // it comes with a 400
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 && e.RetryAfter == 0 {
			e.RetryAfter = wait
		}
	}
	if e.Kind == llm.BadRequest && strings.Contains(p.Message, "exceeds the maximum number of tokens") {
		e.Kind = llm.TooLong
	}
	return e
}
