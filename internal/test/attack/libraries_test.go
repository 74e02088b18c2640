//go:build unix

package attack

import (
	"strings"
	"testing"
)

// What a library says by itself, such as which of two keys it would take, is not for the user's terminal, and no key is
// (SECURITY.md).
func TestLibrariesAreSilent(t *testing.T) {
	v := newVictim(t)
	v.env = append(v.env, "GOOGLE_API_KEY=secret-one", "GEMINI_API_KEY=secret-two", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9", "AGENT_MAX_TIME=1ms")
	o := v.run("-p", "hello", "--model", "gemini/any")
	if o.code != 124 || strings.Contains(o.stderr, "API_KEY") || strings.Contains(o.String(), "secret-") {
		t.Errorf("got %v", o)
	}
}
