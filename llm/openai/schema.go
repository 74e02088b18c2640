package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/llm"
)

// schema returns a tool's schema.
func schema(t *llm.Tool) (json.RawMessage, error) {
	if len(t.Input) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(t.Input, &object); err != nil || object == nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Err: err,
			Message: fmt.Sprintf("the schema of tool %q is not a JSON object", t.Name)}
	}
	return t.Input, nil
}

// cacheKey returns the cache key of the request, cut to the length that OpenAI accepts.
func cacheKey(r *llm.Request) string {
	return strings.ToValidUTF8(r.CacheKey[:min(len(r.CacheKey), 64)], "")
}
