package openai

import (
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// A compatible server that does not stream is understood, whatever media type it names.
func TestWholeAnswer(t *testing.T) {
	const answer = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},` +
		`{"id":"b","type":"function","function":{"name":"bash","arguments":{"command":"pwd"}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	for _, media := range []string{"application/json", "text/event-stream", "text/plain"} {
		m := NewChat(&Options{BaseURL: wiretest.Serve(t, wiretest.Status(200, answer, "Content-Type", media)).URL})
		got, err := wiretest.Collect(t, m, hello())
		if err != nil || got.Text() != "hi" || got.Stop != llm.StopCalls || got.Usage.Input != 3 || len(got.Calls()) != 2 || string(got.Calls()[1].Args) != `{"command":"pwd"}` {
			t.Errorf("%s: got %+v, %v", media, got, err)
		}
	}
}
