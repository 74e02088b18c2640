package llm

import (
	"fmt"
	"time"
)

// Error is a failure of a provider or of the connection to it.
type Error struct {
	Kind       ErrorKind
	Provider   string        // "anthropic", "openai" …; "" if unknown
	Status     int           // HTTP status; 0 without an answer
	Message    string        // from the provider or from this module; the caller sanitises it before printing
	RetryAfter time.Duration // the wait that the provider asked for; 0 means none
	Err        error         // the cause, may be nil
}

// ErrorKind says what can be done about a failure.
type ErrorKind string

// The kinds.
const (
	BadKey     ErrorKind = "bad_key"     // no key, a wrong key, or a key without the permission
	BadRequest ErrorKind = "bad_request" // the provider rejects the request
	NoModel    ErrorKind = "no_model"    // the provider has no such model
	TooLong    ErrorKind = "too_long"    // the conversation does not fit the model's context
	RateLimit  ErrorKind = "rate_limit"  // too many requests; try later
	Overloaded ErrorKind = "overloaded"  // the provider fails for now (5xx, 529)
	Network    ErrorKind = "network"     // the provider could not be reached
	Cut        ErrorKind = "cut"         // the stream ended in the middle
	Malformed  ErrorKind = "malformed"   // the stream violates its protocol
	TimedOut   ErrorKind = "timed_out"   // no data arrived for too long
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

// Temporary reports whether the same request may succeed later.
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
