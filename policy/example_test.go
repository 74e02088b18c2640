package policy_test

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/policy"
)

// A program hands a policy in, such as by skilltool.Options.Policy. None is read unless it asks for it by policy.Read.
func ExampleParse() {
	d, err := policy.Parse([]byte("network: [api.example.com]\nmodels: ['anthropic/*']\n"), "policy.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &policy.Policy{Organisation: []*policy.Document{d}}
	fmt.Println(p.Host("api.example.com").Level == policy.Never, p.Host("evil.example").Level == policy.Never)
	// Output: false true
}

// A policy that cannot be had allows nothing: the program works on, and each refusal says why.
func ExampleClosed() {
	d := policy.Closed("policy.yaml", errors.New("the server of policies did not answer"))
	p := &policy.Policy{Organisation: []*policy.Document{d}}
	fmt.Println(p.Err(), p.Host("api.example.com").Level == policy.Never)
	// Output: the policy of your organisation (policy.yaml) cannot be used, so nothing is allowed: the server of policies did not answer true
}
