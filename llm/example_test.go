package llm_test

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// A provider that is busy is asked again, as long as nobody has seen a word of the answer.
func ExampleRetry() {
	asked := 0
	busy := llm.ModelFunc(func(context.Context, *llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			if asked++; asked < 3 {
				yield(llm.Event{}, &llm.Error{Kind: llm.RateLimit, Status: 429, Message: "slow down", RetryAfter: time.Duration(asked) * time.Second})
				return
			}
			_ = yield(llm.Event{Text: "Here I am."}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
		}
	})
	model := llm.Retry(busy, &llm.RetryOptions{
		Attempts: 5,
		Waiting:  func(err error, wait, _ time.Duration) { fmt.Println(err, "- again in", wait) },
		Sleep:    func(context.Context, time.Duration) error { return nil }, // nil waits with a timer
	})
	request := &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "Are you there?"}}}}}
	answer, err := llm.Collect(context.Background(), model, request, nil)
	fmt.Println(answer.Text(), answer.Stop, err)
	// Output:
	// slow down (HTTP 429) - again in 1s
	// slow down (HTTP 429) - again in 2s
	// Here I am. end <nil>
}
