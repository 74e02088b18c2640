package anthropic_test

import (
	"log"
	"os"
	"time"

	"github.com/agent-base/agent-base/llm/anthropic"
)

// A gateway that checks an answer before it passes it on is silent until then.
func ExampleNew() {
	model, err := anthropic.New(&anthropic.Options{
		Key: os.Getenv("GATEWAY_KEY"), BaseURL: "https://models.example.com", Model: "claude-opus-4-8", Idle: 5 * time.Minute,
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = model
}
