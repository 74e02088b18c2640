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
	if _, err := fields(t.Input); err != nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Err: err,
			Message: fmt.Sprintf("the schema of tool %q is not a JSON object", t.Name)}
	}
	return t.Input, nil
}

// fields returns the first level of an object. Deeper levels keep their bytes and order.
func fields(object json.RawMessage) (map[string]any, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(object, &raw); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("null is not an object")
	}
	out := make(map[string]any, len(raw))
	for name, value := range raw {
		out[name] = value
	}
	return out, nil
}

// cacheKey returns the cache key of the request, cut to the length that OpenAI accepts.
func cacheKey(r *llm.Request) string {
	return strings.ToValidUTF8(r.CacheKey[:min(len(r.CacheKey), 64)], "")
}
