package openai_test

import (
	"time"

	"github.com/agent-base/agent-base/llm/openai"
)

// A model on this machine is loaded when it is first asked, which may take minutes without a word.
func ExampleNewChat() {
	model := openai.NewChat(&openai.Options{BaseURL: "http://127.0.0.1:11434", Model: "qwen3:30b", Idle: 10 * time.Minute})
	_ = model
}
