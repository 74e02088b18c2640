package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

type rolls struct {
	Sides int      `json:"sides" jsonschema:"how many sides each die has"`
	Names []string `json:"names,omitempty"`
}

func ExampleNew() {
	type add struct {
		A int `json:"a"`
		B int `json:"b" jsonschema:"what is added"`
	}
	t := tool.New("add", "Adds two numbers.", func(_ context.Context, in add) (int, error) { return in.A + in.B, nil })
	var set tool.Set
	if err := set.Add(t); err != nil {
		panic(err)
	}
	x := tool.Executor{Tools: &set}
	fmt.Println(x.Call(context.Background(), "add", json.RawMessage(`{"a": 1, "b": 2}`)).Result)
	fmt.Println(x.Call(context.Background(), "add", json.RawMessage(`{"a": 1}`)).Reason)
	// Output:
	// 3
	// invalid_arguments
}

// A program that cancels a call itself says so, or the model is told that the user stopped it.
func ExampleInterrupted() {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(tool.ErrCancelled)
	fmt.Println(tool.Interrupted(ctx))
	// Output: cancelled
}

// A tool made of a function gets only arguments that its schema allows, and its errors are results.
func TestNew(t *testing.T) {
	made := tool.New("roll", "Rolls dice.", func(ctx context.Context, in rolls) (map[string]int, error) {
		switch in.Sides {
		case 0:
			return nil, errors.New("a die has sides")
		case 13:
			return nil, fmt.Errorf("no: %w", &tool.Denial{Result: tool.Failure(tool.PermissionDenied, "unlucky")})
		case 99:
			return nil, ctx.Err()
		}
		return map[string]int{"got": in.Sides * len(in.Names)}, nil
	})
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Type, Description any }
	}
	if err := json.Unmarshal(made.Input, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || len(schema.Required) != 1 || schema.Properties["sides"].Description != "how many sides each die has" {
		t.Errorf("schema %s", made.Input)
	}
	for args, want := range map[string]string{
		`{"sides":6,"names":["a","b"]}`:              `{"success":true,"result":{"got":12},"message":"Called roll"`,
		`{"sides":6,"description":"why it is done"}`: `{"success":true,"result":{"got":0},"message":"Called roll"`,
		`{"sides":0}`:                `"error":"execution_failed","message":"a die has sides"`,
		`{"sides":13}`:               `"error":"permission_denied","message":"unlucky"`,
		`{}`:                         `"reason":"invalid_arguments","message":"arguments of 'roll' do not fit: `,
		`{"sides":"6"}`:              `"reason":"invalid_arguments"`,
		`{"sides":1.5}`:              `"reason":"invalid_arguments"`,
		`{"sides":6,"names":[1]}`:    `"reason":"invalid_arguments"`,
		`{"sides":6,"Sides":7}`:      `"reason":"invalid_arguments"`,
		`{"sides":6,"colour":"red"}`: `"reason":"invalid_arguments"`,
	} {
		got, err := json.Marshal(made.Call(t.Context(), json.RawMessage(args)))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := made.Call(ctx, json.RawMessage(`{"sides":99}`)); !strings.Contains(r.Message, "The tool was stopped") {
		t.Errorf("cancelled: %+v", r)
	}
}

func TestNewPanics(t *testing.T) {
	type (
		embedded  struct{ rolls }
		untagged  struct{ A int }
		functions struct {
			F func() `json:"f"`
		}
	)
	for name, f := range map[string]func(){
		"no struct": func() { tool.New("x", "", func(context.Context, int) (int, error) { return 0, nil }) },
		"embedded":  func() { tool.New("x", "", func(context.Context, embedded) (int, error) { return 0, nil }) },
		"untagged":  func() { tool.New("x", "", func(context.Context, untagged) (int, error) { return 0, nil }) },
		"functions": func() { tool.New("x", "", func(context.Context, functions) (int, error) { return 0, nil }) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), `tool "x": `) {
					t.Errorf("%s: %v", name, r)
				}
			}()
			f()
		}()
	}
}
