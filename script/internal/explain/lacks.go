package explain

import (
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Lacks returns what a command that is not a script of a skill lacked in the sandbox when it failed, by what it wrote and was refused,
// and says so in clauses. Both are empty if that is not known.
func Lacks(cmd *runner.Command, out *runner.Output) (want.Set, []string) {
	if out.Sandbox == nil {
		return nil, nil
	}
	var wants want.Set
	var says []string
	if u := unreachedBy(cmd, out); u != nil {
		wants, says = wants.Add(u.wants()...), append(says, u.Error())
	}
	if file := blocked(cmd, out, nil); file != nil {
		wants, says = wants.Add(file.wants()...), append(says, file.Error())
	}
	return wants, says
}

// unreachedBy is unreached for a command that is not a script of a skill.
func unreachedBy(cmd *runner.Command, out *runner.Output) *refusedHosts {
	if !out.Sandbox.ConfinesNetwork() || cmd.Network.All {
		return nil
	}
	if u := refused(out.Refused); u != nil {
		return u
	}
	said := output.Both(out)
	if hosts := notIn(hostsSaid(said), cmd.Network.Hosts); connectFailed().Match(said) && len(hosts) > 0 {
		return &refusedHosts{Hosts: hosts}
	}
	return nil
}
