package skilltool

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agent-base/agent-base/session"
)

// A skill whose toolsets do not start within the time of its activation is active, and the model and the user are told.
func TestToolsetsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.hangs = true
		c := converse(t, f, toolsetFiles(""), session.Options{}, nil)
		r := c.call("skill", `{"skill_name":"hello"}`)
		want := "toolsets of skill 'hello' were not ready within 30s"
		if !r.Success || !strings.Contains(result(r), want+": toolset_list with skill_name 'hello' starts them again") {
			t.Errorf("the model reads %s", r.Encode())
		}
		if got := c.kit.Broken(); len(got) != 1 || got[0] != "The "+want {
			t.Errorf("the user reads %q", got)
		}
		f.hangs = false
		if r := c.call("toolset_list", `{"skill_name":"hello"}`); !r.Success || !strings.Contains(result(r), "greet") {
			t.Errorf("later: %s", r.Encode())
		}
	})
}
