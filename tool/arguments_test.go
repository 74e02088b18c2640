package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

type commandArgs struct {
	Command string
	Timeout int `json:"timeout_ms,omitempty"`
}

// Issue 4.4: one reading of a call. encoding/json alone folds case and takes the last of two.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"all", `{"timeout_ms":3,"command":"ls"}`, ""},
		{"none", `{}`, ""},
		{"null", `null`, ""},
		{"escaped", `{"\u0063ommand":"ls"}`, ""},
		{"another case", `{"command":"echo harmless","Command":"id"}`, `unknown argument "Command", use command, timeout_ms`},
		{"folded letter", `{"timeout_m\u017f":3}`, `unknown argument "timeout_mſ"`},
		{"twice", `{"command":"echo harmless","command":"id"}`, `argument "command" is repeated`},
		{"twice, escaped", `{"command":"echo harmless","\u0063ommand":"id"}`, `argument "command" is repeated`},
		{"unknown", `{"command":"ls","path":"x"}`, `unknown argument "path"`},
		{"another type", `{"command":3}`, "cannot unmarshal"},
		{"no object", `["ls"]`, "cannot unmarshal"},
		{"broken", `{"command":`, "unexpected end"},
		{"broken key", `{"command":"a",3:4}`, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a commandArgs
			err := tool.Arguments(json.RawMessage(c.raw), &a)
			if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// What was taken says what encoding/json alone would say, and no key was overlooked.
func FuzzArguments(f *testing.F) {
	f.Add(`{"command":"ls","timeout_ms":3}`)
	f.Add(`{"command":"a","COMMAND":"b"}`)
	f.Add(`{"a":{"command":[1,{}]}} x`)
	f.Fuzz(func(t *testing.T, raw string) {
		var a, b commandArgs
		if tool.Arguments(json.RawMessage(raw), &a) != nil {
			return
		}
		var all map[string]any
		if err := json.Unmarshal([]byte(raw), &b); err != nil || a != b {
			t.Fatalf("%q: got %v, want %v, %v", raw, a, b, err)
		}
		if err := json.Unmarshal([]byte(raw), &all); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		delete(all, "command")
		delete(all, "timeout_ms")
		if len(all) != 0 {
			t.Fatalf("%q: %v were overlooked", raw, all)
		}
	})
}

func ExampleArguments() {
	var args struct {
		City string `json:"city"`
	}
	fmt.Println(tool.Arguments(json.RawMessage(`{"city":"Bergen"}`), &args), args.City)
	fmt.Println(tool.Arguments(json.RawMessage(`{"City":"Bergen"}`), &args))
	// Output:
	// <nil> Bergen
	// unknown argument "City", use city
}
