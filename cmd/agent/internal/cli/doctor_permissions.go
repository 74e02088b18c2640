package cli

import (
	"slices"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skill/manifest"
)

// permissionState is what the agent's own tools may do.
type permissionState struct {
	Mode  permit.Mode `json:"mode"`
	Rules []ruleState `json:"rules"` // in the order in which they decide
}

type ruleState struct {
	List   permit.Verdict `json:"list"`
	Rule   string         `json:"rule"`
	Origin string         `json:"origin"`
}

// permissionsOf returns the mode and the rules, with the problems of rules that cannot be read.
func permissionsOf(s *setup.Settings) (permissionState, []manifest.Problem) {
	p, problems := s.Permissions()
	state := permissionState{Mode: p.Mode(), Rules: []ruleState{}}
	allow, ask, deny := p.Rules()
	for _, list := range []struct {
		name  permit.Verdict
		rules []permit.Rule
	}{{permit.Denied, deny}, {permit.Asked, ask}, {permit.Allowed, allow}} {
		for _, r := range list.rules {
			state.Rules = append(state.Rules, ruleState{list.name, r.Text, r.Origin})
		}
	}
	return state, problems
}

func (o *doctorOptions) printPermissions(d *diagnosis) error {
	origin := ""
	if i := slices.IndexFunc(d.Settings, func(s setting) bool { return s.Key == "mode" }); i >= 0 {
		origin = d.Settings[i].Origin
	}
	rows := [][]string{{"  mode", string(d.Rules.Mode), origin}}
	for _, r := range d.Rules.Rules {
		rows = append(rows, []string{"  " + string(r.List), r.Rule, r.Origin})
	}
	return o.titled("Permissions of the agent's own tools", rows)
}
