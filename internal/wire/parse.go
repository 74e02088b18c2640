package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
)

// Endpoint returns the address of a service without a slash at its end: base, or vendor if base is "". If it is not an
// absolute http or https URL without user, query and fragment, the error is an *llm.Error of kind BadRequest.
func Endpoint(provider, base, vendor string) (string, error) {
	if base == "" {
		return vendor, nil
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", badRequest(provider, "the base URL must be like http://localhost:8080 or https://host/path")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", badRequest(provider, "the base URL must have no user, query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func badRequest(provider, message string) error {
	return &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: message}
}

// CheckKey returns an *llm.Error of kind BadKey if key is invalid in a header, or if it is missing and required. The text
// never contains the key.
func CheckKey(provider, key string, needed bool) error {
	if key == "" && needed {
		return &llm.Error{Kind: llm.BadKey, Provider: provider, Message: "no API key was given"}
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			return &llm.Error{Kind: llm.BadKey, Provider: provider, Message: "the API key holds a space, a line break or another character that no key has"}
		}
	}
	return nil
}

// RetryAfter returns how long a server asks to wait: Retry-After-Ms in milliseconds, or Retry-After in seconds or as a
// date (RFC 9110, 10.2.3). It returns 0 if there is none or it cannot be parsed.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d := wait(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	text := h.Get("Retry-After")
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return wait(text, time.Second)
}

// wait reads a decimal number of units.
func wait(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) { // also excludes NaN
		return 0
	}
	if n *= float64(unit); n < math.MaxInt64 {
		return time.Duration(n)
	}
	return math.MaxInt64
}

// Args returns the arguments of a call as llm.Call has them: a JSON object as the model wrote it, otherwise {} and the
// text of the model. Empty text means {}.
func Args(text string) (args json.RawMessage, raw string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	trimmed := bytes.TrimSpace([]byte(text))
	switch {
	case len(trimmed) == 0:
		return json.RawMessage("{}"), ""
	case trimmed[0] == '{' && json.Valid(trimmed):
		return trimmed, ""
	}
	return json.RawMessage("{}"), text
}

// maxTokens is above what any request can cost. It keeps sums of counts from overflowing.
const maxTokens = 1 << 30

// CheckTokens returns an *llm.Error of kind Malformed if a count of tokens is below 0 or above 2^30: a wrong count must
// not lift the caller's limits.
func CheckTokens(provider string, counts ...int64) error {
	for _, n := range counts {
		if n < 0 || n > maxTokens {
			return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: fmt.Sprintf("invalid count of tokens %d", n)}
		}
	}
	return nil
}

// Messages returns the conversation in a form that every provider accepts: adjacent messages of one role are joined, and
// empty texts and messages without parts are left out. It does not change msgs.
func Messages(msgs []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range msgs {
		var parts []llm.Part
		for _, p := range m.Parts {
			if p.Text != "" || p.Call != nil || p.Result != nil || p.State != nil || p.Media != nil {
				parts = append(parts, p)
			}
		}
		switch last := len(out) - 1; {
		case len(parts) == 0:
		case last >= 0 && out[last].Role == m.Role:
			out[last].Parts = append(out[last].Parts, parts...)
		default:
			out = append(out, llm.Message{Role: m.Role, Parts: parts})
		}
	}
	return out
}

// Failure returns the *llm.Error of an exchange that the server answered with a status of 400 or more. message is the text
// that the provider's package found in Body. If it is "", Failure uses Body if that is short text, otherwise the status.
// The kind is that of the status; a provider that knows more from Body sets its own.
func (x *Exchange) Failure(provider, message string, now time.Time) *llm.Error {
	if message == "" {
		message = plain(x.Body)
	}
	if message == "" {
		message = http.StatusText(x.Status)
	}
	if message == "" {
		message = fmt.Sprintf("status %d", x.Status)
	}
	return &llm.Error{Kind: llm.KindOfStatus(x.Status), Provider: provider, Status: x.Status,
		Message: Clip(message), RetryAfter: RetryAfter(x.Header, now)}
}

// Caller is what Explain has to know of a provider's package.
type Caller struct {
	Provider string
	Key      string                     // what no message may show
	Refused  func(*Exchange) *llm.Error // reads an answer with a status of 400 or more
}

// Explain returns the error of a stream that ended with err, which counts least: the caller's context, an answer that refuses
// the request and the failure of the exchange say more.
func (x *Exchange) Explain(ctx context.Context, err error, c *Caller) error {
	var e *llm.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.Status >= 400:
		e = c.Refused(x)
	case x.Err != nil && !errors.As(x.Err, &e):
		return x.Err
	case x.Err == nil && !errors.As(err, &e):
		e = &llm.Error{Kind: llm.BadRequest, Provider: c.Provider, Message: fmt.Sprintf("the request cannot be made: %v", err), Err: err}
	}
	hideKey(e, c.Key)
	return e
}

// plain returns an answer that is plain text, not a page or data.
func plain(body []byte) string {
	text := strings.TrimSpace(string(body))
	if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text[:1], "<{[") {
		return ""
	}
	return text
}

// Clip shortens a provider's message for people.
func Clip(text string) string {
	const limit = 2000
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}

// hideKey replaces the key in the message of e: some servers repeat it. It leaves a key under 8 bytes, which may be any
// word.
func hideKey(e *llm.Error, key string) {
	if len(key) >= 8 {
		e.Message = strings.ReplaceAll(e.Message, key, "[the key]")
	}
}

// IDs makes the ids of calls unique within a conversation.
type IDs struct {
	prefix string
	used   map[string]bool
	last   int
}

// NewIDs returns IDs for the answer to msgs; new ids are prefix and a number. The same conversation gets the
// same ids.
func NewIDs(prefix string, msgs []llm.Message) *IDs {
	ids := &IDs{prefix: prefix, used: map[string]bool{}}
	for _, m := range msgs {
		for _, p := range m.Parts {
			if p.Call != nil {
				ids.used[p.Call.ID] = true
				ids.last++
			}
		}
	}
	return ids
}

// Unique returns id, or a new one if id is "" or taken.
func (ids *IDs) Unique(id string) string {
	for id == "" || ids.used[id] {
		ids.last++
		id = ids.prefix + strconv.Itoa(ids.last)
	}
	ids.used[id] = true
	return id
}
