package skilltool

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
)

// R102: an argument with NUL is neither too large nor a name: the call cannot be made, and says so.
func TestArgumentWithNUL(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.Bundled})
	r := call(t, k, "script_run", `{"skill_name":"kalshi-markets","script_name":"status","args":["a","b\u0000c"]}`)
	want := `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"Argument 2 holds a NUL character, which no program can be given: leave it out"`
	if got := string(r.Encode()); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
