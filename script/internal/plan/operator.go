package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/runner"
)

// Operator is what the operator of a host has, and what of it scripts get in any case.
type Operator struct {
	Env      []string                     // as NAME=value
	Path     string                       // the PATH of scripts
	LookPath func(string) (string, error) // finds programs

	Guard   runner.Guard
	Confine runner.Confinement
	Denied  runner.Denied
	Limits  runner.Limits // of every script, without the time

	Workspace, UserDir string // absolute; "" for none
	Cwd                string // where a script starts
	FixedCwd           bool   // Cwd holds also for a skill that asks for another
}

// With returns an operator that has the variables of env in place of all its own that can be granted; o itself if env is nil.
func (o *Operator) With(env []string) *Operator {
	if env == nil {
		return o
	}
	out := *o
	grantable := func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return CheckGrant(name) == nil && !FromOperator(name)
	}
	out.Env = slices.DeleteFunc(slices.Clone(o.Env), grantable)
	for _, kv := range env {
		if grantable(kv) {
			out.Env = append(out.Env, kv)
		}
	}
	return &out
}

// Getenv returns a variable of the operator's environment.
func (o *Operator) Getenv(name string) string {
	for i := len(o.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// Confined returns the stricter of the operator's confinement and a skill's own. Where the operator says off, that holds.
func (o *Operator) Confined(own runner.Confinement) runner.Confinement {
	if o.Confine == runner.ConfineAuto && own == runner.ConfineRequired {
		return own
	}
	return o.Confine
}

// Here returns the folders that want.Here stands for, for a script that starts in a folder.
func (o *Operator) Here(cwd string) []string {
	var out []string
	if opens(o.UserDir) {
		out = append(out, o.UserDir)
	}
	if opens(o.Workspace) && cwd == o.Workspace && o.Workspace != o.UserDir {
		out = append(out, o.Workspace)
	}
	return out
}

// opens reports whether scripts see a folder because the user is in it: there is one, and it is not the root, which holds everything.
func opens(dir string) bool { return dir != "" && filepath.Dir(dir) != dir }
