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
		{"missing", ``, ""},
		{"escaped", `{"\u0063ommand":"ls"}`, ""},
		{"another case", `{"command":"echo harmless","Command":"id"}`, `unknown argument "Command", use command, timeout_ms`},
		{"folded letter", `{"timeout_m\u017f":3}`, `unknown argument "timeout_mſ"`},
		{"twice", `{"command":"echo harmless","command":"id"}`, `key "command" is repeated`},
		{"twice, escaped", `{"command":"echo harmless","\u0063ommand":"id"}`, `key "command" is repeated`},
		{"unknown", `{"command":"ls","path":"x"}`, `unknown argument "path"`},
		{"what the call is for", `{"command":"ls","description":"List files","explanation":"to see them"}`, ""},
		{"another type", `{"command":3}`, "cannot unmarshal"},
		{"no object", `["ls"]`, "they must be one JSON object"},
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
		if strings.Trim(raw, " \t\r\n") == "" {
			raw = "{}" // missing arguments
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
		delete(all, "description")
		delete(all, "explanation")
		if len(all) != 0 {
			t.Fatalf("%q: %v were overlooked", raw, all)
		}
	})
}

// What Object lets pass has one reading: every member is seen once, at each level, and nothing is left over.
func FuzzObject(f *testing.F) {
	f.Add(`{"command":"ls","timeout_ms":3}`)
	f.Add(`{"a":[{"b":1,"\u0062":2}]}`)
	f.Add(` null`)
	f.Add(`{"a":1e999,"A":"\ud800"} `)
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := tool.Object(json.RawMessage(raw))
		if err != nil {
			return
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(args, &all); err != nil || all == nil {
			t.Fatalf("%q: %v", raw, err)
		}
		members, err := tool.Members(json.RawMessage(raw))
		if err != nil || len(members) != len(all) {
			t.Fatalf("%q: %d members, want %d: %v", raw, len(members), len(all), err)
		}
		for _, m := range members {
			if string(all[m.Key]) != string(m.Value) {
				t.Fatalf("%q: %q is %s, want %s", raw, m.Key, m.Value, all[m.Key])
			}
			if v := strings.TrimSpace(string(m.Value)); v[0] == '{' {
				if _, err := tool.Object(m.Value); err != nil {
					t.Fatalf("%q: inside %q: %v", raw, m.Key, err)
				}
			}
		}
	})
}

// Folded compares as encoding/json fills a struct.
func TestFolded(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`: false, `{"a":1,"b":2}`: false, `{"n":1,"N":2}`: true, `{"decision":1,"deci\u017fion":2}`: true, `{"k":1,"\u212a":2}`: true, `{"i":1,"\u0130":2}`: false,
	} {
		members, err := tool.Members(json.RawMessage(raw))
		if got := tool.Folded(members); err != nil || got != want {
			t.Errorf("%s: %v, %v", raw, got, err)
		}
	}
}

// TestWords reads the arguments of a script.
func TestWords(t *testing.T) {
	for raw, want := range map[string]string{
		``: "[] <nil>", `null`: "[] <nil>", `[]`: "[] <nil>", `["a b",1.50,true]`: `["a b" "1.50" "true"] <nil>`,
		`"a"`: "[] args must be a list of strings, such as [\"--limit\", \"5\"]", `["a",null]`: "[] args[1] must be a string", `[{}]`: "[] args[0] must be a string", `[[1]]`: "[] args[0] must be a string",
	} {
		got, err := tool.Words(json.RawMessage(raw))
		if text := fmt.Sprintf("%q %v", got, err); text != want {
			t.Errorf("%s: got %s, want %s", raw, text, want)
		}
	}
}

func ExampleObject() {
	for _, raw := range []string{``, `null`, `{"city":"Bergen"}`, `{"city":"Bergen","city":"Oslo"}`, `["Bergen"]`} {
		args, err := tool.Object(json.RawMessage(raw))
		fmt.Println(string(args), err)
	}
	// Output:
	// {} <nil>
	// {} <nil>
	// {"city":"Bergen"} <nil>
	//  key "city" is repeated
	//  they must be one JSON object
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
