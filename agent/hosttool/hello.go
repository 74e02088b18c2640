package hosttool

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/agent-base/agent-base/tool"
)

// maxGreeted is the length of the longest name, in characters.
const maxGreeted = 200

var helloSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Name to greet; default: World"}}}`)

// helloTool answers "Say hello", with or without skills.
func helloTool() tool.Tool {
	return tool.Tool{Name: "hello", Description: "Say hello to someone.", Input: helloSchema, Call: call(hello)}
}

func hello(_ context.Context, a *struct{ Name string }) (tool.Result, string, error) {
	name := a.Name
	if name == "" {
		name = "World"
	}
	if n := utf8.RuneCountInString(name); n > maxGreeted {
		return tool.Result{}, "", &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("name has %d characters, the limit is %d", n, maxGreeted)}
	}
	return tool.Success(fmt.Sprintf("Hello, %s!", name), fmt.Sprintf("Greeted %s", name)), "", nil
}
