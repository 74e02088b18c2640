package llm

import (
	"fmt"
	"time"
)

// Error is a failure of a provider, or of the way to it.
type Error struct {
	Kind       ErrorKind
	Provider   string        // "anthropic", "openai" …; "" where none is known
	Status     int           // of HTTP; 0 when there was no answer
	Message    string        // in the provider's words, or ours; foreign text: whoever prints it sanitises it
	RetryAfter time.Duration // what the provider asked for; 0 when it did not
	Err        error         // the cause, may be nil
}

// ErrorKind tells what can be done about a failure.
type ErrorKind string

// The kinds there are.
const (
	BadKey     ErrorKind = "bad_key"     // no key, a wrong one, or one without the right
	BadRequest ErrorKind = "bad_request" // the provider does not take what was sent
	NoModel    ErrorKind = "no_model"    // it has no model of that name
	TooLong    ErrorKind = "too_long"    // the conversation does not fit the model's context
	RateLimit  ErrorKind = "rate_limit"  // too much was asked; later it may go
	Overloaded ErrorKind = "overloaded"  // the provider has a bad moment (5xx, 529)
	Network    ErrorKind = "network"     // it could not be reached
	Cut        ErrorKind = "cut"         // the stream ended in the middle
	Malformed  ErrorKind = "malformed"   // the stream is not what its protocol says
	TimedOut   ErrorKind = "timed_out"   // nothing came for too long
)

// Error says what happened, and with which provider.
func (e *Error) Error() string {
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if text == "" {
		text = string(e.Kind)
	}
	if e.Status != 0 {
		text = fmt.Sprintf("%s (HTTP %d)", text, e.Status)
	}
	if e.Provider == "" {
		return text
	}
	return e.Provider + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may go well later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Network, Cut, TimedOut:
		return true
	}
	return false
}

// KindOfStatus returns what an HTTP status of a provider means.
func KindOfStatus(status int) ErrorKind {
	switch {
	case status == 401, status == 403:
		return BadKey
	case status == 404:
		return NoModel
	case status == 408, status == 504:
		return TimedOut
	case status == 413:
		return TooLong
	case status == 429:
		return RateLimit
	case status >= 500:
		return Overloaded
	}
	return BadRequest
}
