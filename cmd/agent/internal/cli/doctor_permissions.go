package cli

import (
	"slices"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skill/manifest"
)

// permissionState is what the agent's own tools may do.
type permissionState struct {
	Mode  permit.Mode     `json:"mode"`
	Rules []setup.RuleRow `json:"rules"`
}

// permissionsOf returns the mode and the rules, with the problems of rules that cannot be read.
func permissionsOf(s *setup.Settings) (permissionState, []manifest.Problem) {
	p, problems := s.Permissions()
	return permissionState{Mode: p.Mode(), Rules: s.RuleRows(p)}, problems
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
