package trial

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The forms that public skills use.
func TestParseQueries(t *testing.T) {
	want := []Query{{"merge these", true}, {"what is the time?", false}}
	for name, text := range map[string]string{
		"list":      `[{"query":"merge these","should_trigger":true},{"query":" what is the time? ","should_trigger":false}]`,
		"prompts":   `[{"id":1,"prompt":"merge these","should_trigger":true},{"prompt":"what is the time?","should_trigger":false}]`,
		"queries":   `{"skill_name":"pdf","queries":[{"query":"merge these","should_trigger":true},{"query":"what is the time?","should_trigger":false,"note":"x"}]}`,
		"cases":     `{"cases":[{"prompt":"merge these","expected_trigger":true},{"prompt":"what is the time?","expected_trigger":false}]}`,
		"two lists": `{"should_trigger":["merge these"],"should_not_trigger":[{"prompt":"what is the time?"}]}`,
		"activate":  `{"should_activate":["merge these"],"should_not_activate":["what is the time?"]}`,
	} {
		got, err := ParseQueries([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, text := range map[string]string{
		"evals without a verdict": `{"evals":[{"id":1,"prompt":"p","expected_output":"o"}]}`,
		"a number":                `7`,
		"no text":                 `[{"should_trigger":true},{"query":"  ","should_trigger":true},null,"x",{"query":"q","should_trigger":"yes"}]`,
	} {
		if got, err := ParseQueries([]byte(text)); len(got) > 0 || err != nil {
			t.Errorf("%s: %v, %v; want nothing", name, got, err)
		}
	}
	for name, text := range map[string]string{"no JSON": `[`, "too long": "[" + strings.Repeat(" ", maxEvalFile) + "]"} {
		if _, err := ParseQueries([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseEvals(t *testing.T) {
	got, err := ParseEvals([]byte(`{"skill_name":"pdf","evals":[
		{"id":1,"prompt":"p","expected_output":"o","files":["evals/files/a.pdf",{"path":"b"}],"expectations":["It works"," "]},
		{"name":"two","prompt":"q","assertions":[{"type":"content_contains","value":"x","description":"has x"},{"id":"c","text":"It is good"},{"type":"strange","value":"v"},{"type":"tool_use","tool":"Read"}]},
		{"prompt":"r"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Eval{
		{ID: "1", Prompt: "p", Expected: "o", Files: []string{"evals/files/a.pdf", "b"}, Claims: []Claim{{Text: "It works"}}},
		{ID: "two", Prompt: "q", Claims: []Claim{{Text: "has x", Kind: "contains", Value: "x"}, {Text: "It is good"}, {Text: "v", Value: "v"}, {Kind: "tool_used", Value: "Read"}}},
		{ID: "3", Prompt: "r"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{"no list": `{}`, "no prompt": `[{"id":1}]`, "no JSON": `{`} {
		if _, err := ParseEvals([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Files called evals.json that have requests are no evals; those that have both have both.
func TestRequestsAreNoEvals(t *testing.T) {
	for _, test := range []struct {
		name, text     string
		evals, queries int
	}{
		{"a list of requests", `[{"prompt":"a","should_trigger":true},{"query":"b","should_trigger":false}]`, 0, 2},
		{"an object of requests", `{"skill":"s","evals":[{"id":"1","input":"a","should_trigger":true}]}`, 0, 1},
		{"another list", `{"benchmark":{},"evaluations":[{"prompt":"a","should_trigger":true}]}`, 0, 1},
		{"two lists of requests", `{"positive":[{"id":1,"prompt":"a","expected":"x"}],"negative":[{"id":2,"prompt":"b"}]}`, 0, 2},
		{"a request with expectations", `{"evals":[{"id":1,"prompt":"a","should_trigger":true,"expectations":["x"]}]}`, 1, 1},
		{"requests beside evals", `{"evals":[{"prompt":"a","expected_output":"x"}],"trigger_evaluation":{"should_trigger":["b"],"should_not_trigger":["c","d"]}}`, 1, 3},
		{"one expectation", `[{"name":"n","prompt":"a","expected_behavior":"x"}]`, 1, 0},
	} {
		evals, err := ParseEvals([]byte(test.text))
		queries, err2 := ParseQueries([]byte(test.text))
		if err != nil || err2 != nil || len(evals) != test.evals || len(queries) != test.queries {
			t.Errorf("%s: %d evals, %d requests; %v, %v", test.name, len(evals), len(queries), err, err2)
		}
		for _, e := range evals {
			if len(e.Claims) == 0 && e.Expected == "" {
				t.Errorf("%s: nothing is expected of %+v", test.name, e)
			}
		}
	}
}

// A claim that a program decides, with what the answer was.
func TestDecide(t *testing.T) {
	a := &Answer{Text: "Hello Ada", Tools: []string{"skill"}, Skills: []string{"greet"}, Files: []string{"out/a.txt"}}
	for _, test := range []struct {
		kind, value string
		holds       bool
	}{
		{"contains", "ADA", true}, {"contains", "Bob", false}, {"not_contains", "Bob", true}, {"not_contains", "ada", false},
		{"equals", "Hello Ada", true}, {"equals", "Hello", false}, {"regex", "^Hel+o", true}, {"regex", "(", false}, {"not_regex", "Bob", true},
		{"file_exists", "./out/a.txt", true}, {"file_exists", "b", false}, {"tool_used", "skill", true}, {"tool_not_used", "skill", false},
		{"tool_not_used", "bash", true}, {"skill_used", "Greet", true}, {"skill_used", "pdf", false},
	} {
		c := Claim{Kind: test.kind, Value: test.value}
		if wrong := c.decide(a); (wrong == "") != test.holds {
			t.Errorf("%s %q: %q, want holds: %v", test.kind, test.value, wrong, test.holds)
		}
	}
}

func TestParseVerdicts(t *testing.T) {
	got, err := parseVerdicts("```json\n{\"verdicts\":[{\"passed\":true},{\"passed\":false,\"reason\":\"no\"}]}\n```", 2)
	if diff := cmp.Diff([]verdict{{Passed: true}, {Reason: "no"}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, text := range map[string]string{"too few": `{"verdicts":[{"passed":true}]}`, "no JSON": "yes", "half": `{"verdicts":[`, "backwards": "} {",
		"with text": "Here: " + `{"verdicts":[{"passed":true},{"passed":true}]}`, "quoted": "It says\n```json\n" + `{"verdicts":[{"passed":true},{"passed":true}]}` + "\n```"} {
		if _, err := parseVerdicts(text, 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever a file or a model says, it is read within the limits.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"query":"q","should_trigger":true}]`))
	f.Add([]byte(`{"should_trigger":["a"],"should_not_trigger":[{"prompt":"b"}]}`))
	f.Add([]byte(`{"evals":[{"id":1,"prompt":"p","files":["a"],"assertions":[{"type":"regex","value":"("},"text"]}]}`))
	f.Add([]byte(`{"verdicts":[{"passed":true,"reason":"r"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		queries, _ := ParseQueries(text)
		for _, q := range queries {
			if strings.TrimSpace(q.Text) == "" {
				t.Errorf("a query without a text")
			}
		}
		evals, _ := ParseEvals(text)
		for _, e := range evals {
			if e.Prompt == "" || e.ID == "" && !strings.Contains(string(text), `"id"`) {
				t.Errorf("an eval without a prompt or an id: %+v", e)
			}
			for _, c := range e.Claims {
				if c.Kind != "" && c.Value == "" {
					t.Errorf("a claim of a kind without a value")
				}
				c.decide(&Answer{Text: "x"})
			}
		}
		if got, err := parseVerdicts(string(text), 1); err == nil && len(got) != 1 {
			t.Errorf("%d verdicts", len(got))
		}
	})
}
