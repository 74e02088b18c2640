package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// A model calls a tool and answers with what it gave.
func Example() {
	var tools tool.Set
	_ = tools.Add(tool.Tool{
		Name:        "hello",
		Description: "Greets someone.",
		Input:       json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		Call: func(_ context.Context, args json.RawMessage) tool.Result {
			var a struct{ Name string }
			if err := json.Unmarshal(args, &a); err != nil {
				return tool.Failure(tool.ExecutionFailed, err.Error())
			}
			return tool.Success("Hello, "+a.Name+"!", "")
		},
	})
	o := &agent.Options{Model: greeter(), Tools: &tool.Executor{Tools: &tools}, System: "You greet people."}
	for step, err := range agent.New(o).Ask(context.Background(), "Say hello to Ada.") {
		switch {
		case err != nil:
			fmt.Println("error:", err)
		case step.Call != nil:
			fmt.Println("call:", step.Call.Name, string(step.Call.Args))
		case step.Result != nil:
			fmt.Println("result:", step.Result.Result.Result)
		case step.Text != "":
			fmt.Println("text:", step.Text)
		case step.Done != nil:
			fmt.Println("done:", step.Done.Stop, "after", step.Done.Turns, "requests")
		}
	}
	// Output:
	// call: hello {"name":"Ada"}
	// result: Hello, Ada!
	// text: I have greeted Ada.
	// done: end after 2 requests
}

// One prompt, one answer.
func ExampleRun() {
	answer, err := agent.Run(context.Background(), &agent.Options{Model: greeter(), MaxTurns: 1}, "Say hello to Ada.")
	fmt.Println(answer.Stop, err)
	// Output: turns <nil>
}

// greeter stands for a model: it calls hello once, then answers.
func greeter() llm.Model {
	return llm.ModelFunc(func(_ context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			if len(r.Messages) > 1 {
				_ = yield(llm.Event{Text: "I have greeted Ada."}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
				return
			}
			call := &llm.Call{ID: "1", Name: "hello", Args: json.RawMessage(`{"name":"Ada"}`)}
			_ = yield(llm.Event{Call: call}, nil) && yield(llm.Event{Stop: llm.StopCalls}, nil)
		}
	})
}
