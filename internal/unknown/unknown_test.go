package unknown_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/internal/unknown"
)

// The unknown fields of an object stay, after its own, and a known one in another spelling is not one of them.
func TestFields(t *testing.T) {
	type object struct {
		Name string `json:"name,omitempty"`
		own  int    //lint:ignore U1000 a field that is not exported is not one of the object
	}
	for text, want := range map[string]string{
		`{"name": "a"}`:                         `{"name":"a"}`,
		`{"z": [1, 2], "NAME": "a", "b": null}`: `{"name":"a","b":null,"z":[1,2]}`,
		`{"own": 1, "": 2}`:                     `{"":2,"own":1}`,
		`{}`:                                    `{}`,
	} {
		var o object
		var f unknown.Fields
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if err := f.Split([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Join(o); string(got) != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}
