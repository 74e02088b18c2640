package replay

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"empty", "", `f:1: no scene; a scene begins with a line "prompt …"`},
		{"before the first", "# x\n\nsay hi\n", `f:3: "say" comes before the first "prompt"`},
		{"no text", "prompt\n", "f:1: a prompt needs its text"},
		{"unknown word", "prompt a\nsays b\n", `f:2: unknown word "says", use prompt, on, call, also or say`},
		{"no end", "prompt a\ncall x\n", `f:1: a scene must end with "say"`},
		{"no end before the next", "prompt a\nprompt b\nsay c\n", `f:2: the scene before, of line 1: a scene must end with "say"`},
		{"on too late", "prompt a\nsay b\non c\n", `f:3: "on" belongs right below "prompt"`},
		{"empty on", "prompt a\non b,,c\nsay b\n", `f:2: "on" needs words`},
		{"bad expression", "prompt a\non /(/\nsay b\n", "f:2: error parsing regexp"},
		{"also alone", "prompt a\nsay b\nalso x {}\n", `f:3: "also" belongs below a "call"`},
		{"no tool", "prompt a\ncall\n", "f:2: a call needs the name of a tool"},
		{"arguments", "prompt a\ncall x [1]\n", `f:2: arguments of "x": not a JSON object`},
		{"null", "prompt a\ncall x null\n", `f:2: arguments of "x": not a JSON object`},
		{"cut quotation", "prompt a\nsay {{prompt\n", "f:2: {{ without }}"},
		{"unknown quotation", "prompt a\nsay {{model}}\n", "f:2: {{model}}: it must be prompt, match.N, result.PATH or resultN.PATH"},
		{"result too early", "prompt a\nsay {{result}}\n", "f:2: {{result}}: no such result yet: the scene has 0 calls so far"},
		{"result of its neighbour", "prompt a\ncall x\ncall y\nalso z {\"a\":\"{{result2}}\"}\nsay b\n", `f:4: arguments of "z": {{result2}}: no such result yet: the scene has 1 calls so far`},
		{"result of another scene", "prompt a\ncall x\nsay b\nprompt c\nsay {{result}}\n", "f:5: {{result}}: no such result yet"},
		{"match", "prompt a\nsay {{match.x}}\n", "f:2: {{match.x}}: a match needs a number"},
		{"other value", "prompt a\nsay {{prompt|x}}\n", "f:2: {{prompt|x}}: only a match can have a default"},
		{"not UTF-8", "prompt a\nsay \xff\n", "f:2: the line is not UTF-8"},
		{"too many calls", "prompt a\n" + strings.Repeat("call x\n", 51), "f:52: a scene has at most 50 calls"},
		{"too large", strings.Repeat("#", MaxFile+1), "f: 1048577 bytes, the limit is 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Open("f", []byte(tt.src)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// All that a file can say, in one conversation.
func TestFormat(t *testing.T) {
	m, err := Open("f", []byte("\r\n# comment\r\nprompt Do  IT\r\non never, ever\r\non /do (\\w+) to (\\w+)/\r\n"+
		"say first {{match.1|nothing}}\r\nsay and {{prompt}}\r\n"+
		`call a { "q": ["{{match.2|x}}", "", 1.0], "s{{prompt}}": "say \"{{match.1|n}}\"" }`+"\r\nalso b\r\n"+
		`call c {"n":"{{result1.q.2}}{{result2.#}}","last":"{{result.k}}"}`+"\r\nsay {{result1.q.*}} / {{result1.q.#}} / {{result3}}\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := ask("do this to me, \"or\" <you>", "a", "b", "c")
	calls, says := converse(t, m, r, map[string]tool.Result{"b": tool.Success(json.RawMessage(`{"k":"<v>\n"}`), ""), "c": tool.Success(nil, "")})
	wantCalls := `a{"q":["me","",1.0],"sdo this to me, \"or\" <you>":"say \"this\""} b{} c{"n":"1.01","last":"<v>\n"}`
	wantSays := "[replay f: no model answered; tokens are estimated]\nme, , 1.0 / 3 / null"
	if calls != wantCalls || says != wantSays {
		t.Errorf("got  %s\n     %q\nwant %s\n     %q", calls, says, wantCalls, wantSays)
	}
	a, err := llm.Collect(t.Context(), m, ask("do it!", "a", "b"), nil)
	if err != nil || a.Text() != "first nothing\nand do it!" || len(a.Calls()) != 2 {
		t.Errorf("got %q, %d calls, %v", a.Text(), len(a.Calls()), err)
	}
}

// What quotations may reach, and how much of it.
func TestQuotation(t *testing.T) {
	value, failure := open(&llm.Result{Text: `{"success":true,"result":{"a":[{"b":"x"},{"b":2}],"t":true,"long":"` + strings.Repeat("é", 5000) + `"},"message":"m"}`})
	if failure != "" {
		t.Fatal(failure)
	}
	v := &values{prompt: "p", match: []string{"all", ""}, results: []outcome{{"x", value}}}
	tests := []struct{ text, want string }{
		{"{{result.a.0.b}}", "x"},
		{"{{ result.a.1 }}", `{"b":2}`},
		{"{{result.a.*.b}}", "x, 2"},
		{"{{result.a.#}}", "2"},
		{"{{result.*}}", "a, long, t"},
		{"{{result.t}}", "true"},
		{"{{result.long}}", strings.Repeat("é", 4000) + " …"},
		{"{{match.0}}{{match.1|none}}{{match.9|at all}}", "allnoneat all"},
		{"a {{prompt}} b", "a p b"},
		{"{{result.a.2}}", "error: the result of x has nothing at {{result.a.2}}"},
		{"{{result.a.-1}}", "error: the result of x has nothing at {{result.a.-1}}"},
		{"{{result.a.#.b}}", "error: the result of x has nothing at {{result.a.#.b}}"},
		{"{{result.t.x}}", "error: the result of x has nothing at {{result.t.x}}"},
		{"{{match.1}}", "error: the prompt has nothing for {{match.1}}"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			c, err := compile(tt.text, 1)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.fill(v)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	huge, err := compile(strings.Repeat("{{result.long}}", 20), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := huge.fill(v); err == nil || !strings.Contains(err.Error(), "exceeds 65536 bytes") {
		t.Errorf("an answer without end: %v", err)
	}
}

// Results without the envelope, and what a failure says.
func TestOpenResult(t *testing.T) {
	tests := []struct {
		name, text string
		failed     bool
		want       string // the value as JSON, or the failure
	}{
		{"text", "plain", false, `"plain"`},
		{"other JSON", `{"a":1}`, false, `{"a":1}`},
		{"two values", `{} {}`, false, `"{} {}"`},
		{"envelope", `{"success":true,"result":[1],"message":"m"}`, false, `[1]`},
		{"failure", `{"success":false,"error":"timeout","message":"It took too long."}`, false, "failed: It took too long"},
		{"failure in the flag", "boom", true, "failed: boom"},
		{"failure without a word", "", true, "failed: it does not say why"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			value, failure := open(&llm.Result{Text: tt.text, Failed: tt.failed})
			b, _ := json.Marshal(value)
			if got := string(b); failure != "" && "failed: "+failure != tt.want || failure == "" && got != tt.want {
				t.Errorf("got %s, failure %q", got, failure)
			}
		})
	}
}

// Whatever the file, the prompt and the result are: no panic, an answer that ends, arguments that are an object.
func FuzzReplay(f *testing.F) {
	f.Add(demo, "greet Ada", `{"success":true,"result":{"greeting":"x"}}`)
	f.Add("prompt a\ncall x {\"a\":\"{{prompt}}\"}\nsay {{result.*.#}}{{match.0|}}\n", "a", `{"result":[[1]]}`)
	f.Add("prompt a\non /(.)/\ncall x {\"\\u0041{{match.1|\\\"}}\":\"\"}\nsay {{result1.a.0}}", "\x00\xff", "plain")
	f.Fuzz(func(t *testing.T, src, prompt, result string) {
		m, err := Open("f", []byte(src))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("an error without its place: %v", err)
			}
			return
		}
		r := ask(prompt, "x", "hello", "skill", "script_help", "script_run")
		for range maxCalls + 2 {
			a, err := llm.Collect(t.Context(), m, r, nil)
			if err != nil && !errors.As(err, new(*StoppedError)) {
				t.Fatal(err)
			}
			if len(a.Calls()) == 0 {
				if !strings.HasPrefix(a.Text(), "[replay f: ") {
					t.Fatalf("an answer that does not say what it is: %q", a.Text())
				}
				return
			}
			r.Messages = append(r.Messages, a.Message)
			var back []llm.Part
			for _, c := range a.Calls() {
				if !json.Valid(c.Args) || c.Args[0] != '{' {
					t.Fatalf("arguments %q", c.Args)
				}
				back = append(back, llm.Part{Result: &llm.Result{ID: c.ID, Name: c.Name, Text: result}})
			}
			r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: back})
		}
		t.Fatal("the replay does not end")
	})
}

// The example in docs/replay.md is one.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Example\n\n```text\n")
	src, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/replay.md has no example")
	}
	m, err := Open("example", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	calls, says := converse(t, m, ask("greet Grace, please", all...), map[string]tool.Result{"script_run": tool.Success(map[string]string{"greeting": "Hi Grace"}, "")})
	if !strings.Contains(calls, `"args":["--name","Grace"]`) || !strings.HasSuffix(says, "\nHi Grace") {
		t.Errorf("got %s, %q", calls, says)
	}
}
