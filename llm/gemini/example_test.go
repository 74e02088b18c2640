package gemini_test

import (
	"log"
	"os"
	"time"

	"github.com/agent-base/agent-base/llm/gemini"
)

// A gateway that checks an answer before it passes it on is silent until then.
func ExampleNew() {
	model, err := gemini.New(&gemini.Options{
		Key: os.Getenv("GATEWAY_KEY"), BaseURL: "https://models.example.com", Model: "gemini-3-pro", Idle: 5 * time.Minute,
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = model
}
