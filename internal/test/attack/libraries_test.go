//go:build unix

package attack

import (
	"strings"
	"testing"
)

// Messages of libraries, such as which of two keys they use, do not reach the user's terminal, and keys never do
// (SECURITY.md).
func TestLibrariesAreSilent(t *testing.T) {
	v := newVictim(t)
	v.env = append(v.env, "GOOGLE_API_KEY=secret-one", "GEMINI_API_KEY=secret-two", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9", "AGENT_MAX_TIME=1ms")
	o := v.run("-p", "hello", "--model", "gemini/any")
	if o.code != 124 || strings.Contains(o.stderr, "API_KEY") || strings.Contains(o.String(), "secret-") {
		t.Errorf("got %v", o)
	}
}
