package grants

import (
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// The JSON of a grant has a key for each kind that a user can give.
func TestGrantViewJSON(t *testing.T) {
	set, err := want.ParseSet("user env:A, user home, user host:*, user write:., user package:npm:x")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(ViewOf(&trust.Grant{Name: "x", Digest: "d", Given: set, Withheld: want.Each(want.Host, want.Declared, "a.b")}, false))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"digest":"d","env":["A"],"home":true,"lapsed":false,"name":"x","net":["*"],"read":[],"scripts":false,"socket":[],"with":["npm:x"],"withheld":["a.b"],"write":["."]}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
