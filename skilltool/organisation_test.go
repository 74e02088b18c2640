package skilltool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

// H4: what the organisation denies is refused in every way a model or a program calls it, whatever active skills allow. What it wants to be
// asked about is refused where nobody asks.
func TestOrganisation(t *testing.T) {
	for _, tt := range []struct {
		rules         string
		refused       string // by a model's calls
		asked, byUser string // where the program asks, and by a person's own
	}{
		{"deny: [script_run]", "run", "run", "run"},
		{"deny: ['Bash(bash:*)']", "run", "run", "run"},
		{"deny: [Bash]", "run bash", "run bash", "run bash"},
		{"deny: ['Skill(x)']", "skill", "skill", "skill"},
		{"ask: [script_run, Bash]", "run bash", "", ""},
		{"ask: [Bash], deny: ['Bash(rm:*)']", "run bash", "", ""},
		{"deny: ['Read(secret/**)']", "", "", ""},
	} {
		d, err := policy.Parse([]byte("contact: sec\npermissions: {"+tt.rules+"}"), "p.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p := &policy.Policy{Organisation: []*policy.Document{d}}
		for who, want := range map[string]string{"model": tt.refused, "no": tt.refused, "asked": tt.asked, "user": tt.byUser} {
			k, x := checked(t, restricted("\"*\""), session.Options{}, func(o *Options) {
				o.Policy.Organisation, o.ByUser = p, who == "user"
				if who == "asked" || who == "no" {
					o.Policy.Ask = func(_ context.Context, about, why string) (bool, error) {
						if !strings.Contains(about, "{") || !strings.Contains(why, "p.yaml:2") {
							t.Errorf("asked about %q, %q", about, why)
						}
						return who == "asked", nil
					}
				}
			})
			got := []string{}
			for _, call := range []struct{ name, tool, args string }{
				{"run", "script_run", `{"skill_name":"x","script_name":"run"}`},
				{"bash", "bash", `{"command":"ls"}`},
				{"list", "script_list", `{}`},
				{"skill", "skill", `{"skill_name":"x"}`},
			} {
				r := x.Call(t.Context(), call.tool, json.RawMessage(call.args))
				if r.Error == tool.PermissionDenied && strings.Contains(r.Message, "(the policy of your organisation, p.yaml:2; ask sec)") {
					got = append(got, call.name)
				} else if !r.Success {
					t.Errorf("%s, %s: %s: %s", tt.rules, who, call.name, r.Message)
				}
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s, %s: refused %q, want %q", tt.rules, who, text, want)
			}
			_, err := k.RunScript(t.Context(), &RunRequest{Skill: "x", Script: "run"})
			if refused := err != nil && strings.Contains(err.Error(), "the policy of your organisation"); refused != strings.Contains(want, "run") {
				t.Errorf("%s, %s: RunScript: %v", tt.rules, who, err)
			}
		}
	}
}
