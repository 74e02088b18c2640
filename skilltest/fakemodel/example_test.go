package fakemodel_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A model that answers with what a tool said. A test has New, which also fails it when a request is wrong; Start is for
// those without one.
func Example() {
	s := fakemodel.Start(fakemodel.Step{From: func(q *fakemodel.Request) fakemodel.Step {
		return fakemodel.Step{Text: "They say: " + q.LastResult()}
	}})
	defer s.Close()

	resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[
		{"role":"user","content":"Weather?"},
		{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bern\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"sunny"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(body), `"content":"They say: sunny"`), len(s.Problems()))
	fmt.Println(s.Requests()[0].Messages[1].Parts[0].Call.Args)
	// Output:
	// true 0
	// {"city":"Bern"}
}
