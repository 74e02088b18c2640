package fakemodel_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// This model answers with the result of a tool. Tests use New, which also fails the test on an invalid request; other
// programs use Start.
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
