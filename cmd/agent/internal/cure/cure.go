// Package cure turns what a skill lacked into the command that gives it, or into the reason why there is none. It is the only place
// that names a command which gives a skill something or takes it: each text that suggests one asks it, and it asks the policy.
package cure

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// Cures knows what may be given here.
type Cures struct {
	Policy *policy.Policy
	Set    func(variable string) bool // whether the operator has a variable
	Denied func(host string) string   // why a rule of the user denies a host, "" if none does; nil means no rules
}

// Cure is what helps. The zero value is nothing that is known.
type Cure struct {
	Command string // what a person types, or a sentence that has it; "" if no command helps
	Why     string // why no command is named for a part of what was lacking: `nothing is suggested that opens "/": …`

	by string // how a sentence for a model begins
}

// How a sentence for a model begins.
const (
	byAllow   = "A person can allow it with: "
	byOwner   = "A person whose folder this is can allow it with: "
	byAdd     = "A person can add it with: "
	byPrepare = "A person can prepare them with: "
	byLook    = "A new conversation has the tools as they are now. A person can look at them with: "
)

// Advice returns the cure as sentences for a model, "" if there is none.
func (c Cure) Advice() string {
	if c.Command == "" {
		return c.Why
	}
	return c.by + c.Command
}

// Hint returns the cure for a person: the command, or why there is none.
func (c Cure) Hint() string {
	if c.Command == "" {
		return c.Why
	}
	return c.Command
}

// Advise returns, as sentences for a model, what it or a person can do about the error of a call, or "".
func (c *Cures) Advise(err error, skillName string) string {
	if RefusesJSON(err) {
		return "Call it again with json: false."
	}
	return c.Of(err, skillName).Advice()
}

// Of returns what helps after the error of a call of a script, a hook or a tool of a skill.
func (c *Cures) Of(err error, skillName string) Cure {
	name := manifest.Canonical(skillName)
	for _, e := range toolset.Errors(err) {
		if e.Kind == toolset.KindChanged {
			return Cure{Command: "agent skill tools " + name, by: byLook}
		}
	}
	wants := tool.Lacked(err)
	if IsUntrusted(err) {
		wants = want.New(want.Of(want.Trust, ""))
	}
	if len(wants) > 0 {
		return c.Give(name, wants)
	}
	return Cure{Command: prepared(err, name), by: byPrepare}
}

// IsUntrusted reports whether a script was not run because the content of its skill is not approved.
func IsUntrusted(err error) bool {
	var u *skilltool.UntrustedError
	return errors.As(err, &u) && u.Err == nil
}

// RefusesJSON reports whether a script does not know --json, which its caller did not give.
func RefusesJSON(err error) bool {
	var e *script.Error
	return errors.As(err, &e) && e.Reason == script.ReasonJSON
}

// Give returns the command that gives a skill what it wants: that it runs at all first, then the files around it, packages, and the
// rest together. What the policy does not give freely is left out, and Why says so. A variable that is not set is no matter of a
// grant: Why says so unless the error does, which names those that a script reads.
func (c *Cures) Give(name string, wants want.Set) Cure {
	if wants.Has(want.Of(want.Trust, "")) {
		return Cure{Command: Trust(name), by: byAllow}
	}
	unset, wants := wants.Split(func(w want.Want) bool { return w.Kind == want.Variable && c.Set != nil && !c.Set(w.Name) })
	free, rest := wants.Split(func(w want.Want) bool { return c.decide(w).Level == policy.Free })
	found := Cure{Why: c.whyNot(rest)}
	if names := unset.From(want.Refused).Named(want.Variable); found.Why == "" && len(names) > 0 {
		found.Why = "set " + strings.Join(names, ", ") + " where agent is started"
	}
	around, packages := free.Named(want.Around), free.Kind(want.Package)
	switch {
	case len(around) > 0:
		found.Command, found.by = TrustRoot(around[0]), byOwner
	case len(packages) > 0:
		found.Command, found.by = Prepare(name, packages), byAdd
	case len(free) > 0:
		found.Command, found.by = Grant(name, free), byAllow
	}
	return found
}

// Server returns the command that opens to a server of tools what its program wants of hosts, files and folders. What the policy does not
// give freely is left out, and Why says so.
func (c *Cures) Server(label string, wants want.Set) Cure {
	free, rest := wants.Split(func(w want.Want) bool { return c.decide(w).Level == policy.Free })
	found := Cure{Why: c.whyNot(rest), by: byAllow}
	if len(free) > 0 {
		found.Command = GrantServer(label, free)
	}
	return found
}

// decide is Policy.Decide. It also says Never for a host that a rule of the user denies, because a grant would have no effect.
func (c *Cures) decide(w want.Want) policy.Decision {
	d := c.Policy.Decide(w)
	if d.Level == policy.Free && w.Kind == want.Host && c.Denied != nil {
		if why := c.Denied(w.Name); why != "" {
			return policy.Decision{Level: policy.Never, Why: why}
		}
	}
	return d
}

// whyNot says why no command is named for some wants, "" for none.
func (c *Cures) whyNot(wants want.Set) string {
	var out []string
	for _, w := range wants {
		out = append(out, fmt.Sprintf("nothing is suggested that opens %q: %s", w.Name, c.decide(w).Why))
	}
	return strings.Join(out, "; ")
}

// prepared returns the command after which packages that could not be prepared may be there, "" if none helps.
func prepared(err error, name string) string {
	var e *script.Error
	var size *pyenv.SizeError
	var elsewhere *pyenv.HostError
	var source *pyenv.NoWheelError
	command := "agent skill prepare " + name
	never := func(err error) bool { // preparing lacks the same program, or room
		return slices.ContainsFunc([]error{pyenv.ErrTooLarge, nodeenv.ErrTooLarge, pyenv.ErrNoUV}, func(of error) bool { return errors.Is(err, of) }) ||
			errors.As(err, new(*program.DroppedError)) || errors.As(err, new(*nodeenv.MissingError))
	}
	switch {
	case errors.As(err, &size):
		return "AGENT_MAX_ENVIRONMENT=" + strconv.FormatInt(4*size.MaxBytes, 10) + " " + command
	case !errors.As(err, &e) || e.Reason != script.ReasonDependencies || never(err):
		return ""
	case errors.As(err, &elsewhere):
		return "AGENT_PACKAGE_HOSTS=" + Word(strings.Join(elsewhere.Hosts, ",")) + " " + command
	case errors.As(err, &source):
		return command + " --build " + source.Package
	case errors.Is(err, pyenv.ErrLargeDownload), errors.Is(err, nodeenv.ErrLargeDownload):
		return command + " --large"
	}
	return command
}

// Call says how a call that nobody can be asked about is allowed.
func Call(c *permit.Call) string {
	switch {
	case c.Kind == permit.Command && c.Special != "":
		return "ask the user to run it, or to start the agent with --allow and a rule for exactly this command"
	case c.Kind == permit.Command && c.Confined:
		return "start the agent with --mode accept-edits to let commands in the sandbox change files, or with --allow and a rule such as 'Bash(go test:*)'"
	case c.Kind == permit.Command:
		return "start the agent with --allow-bash to let it run commands, or with --allow and a rule such as 'Bash(go test:*)'"
	case c.Kind == permit.Edit && c.Special == "":
		return "start the agent with --mode accept-edits to let it change files, or with --allow and a rule such as 'Edit(docs/**)'"
	case c.Kind == permit.Edit:
		return "ask the user to write it, or to start the agent with --allow and a rule for this file"
	case c.Kind == permit.Server:
		return "start the agent with --allow " + Word(c.Tool) + " to let it call this tool"
	}
	return "ask the user to change the rules"
}

// ReadOnly says how the mode read-only ends.
const ReadOnly = "the user can change it with /mode ask in a conversation, or start the agent with --mode ask"

// Hosts says how commands of bash reach hosts about which nobody can be asked, or was.
func Hosts(hosts []string) string {
	command := "start the agent with"
	for _, host := range hosts {
		if strings.Contains(strings.Trim(host, "[]"), ":") { // no rule has a port
			return PrivateHost(strings.Join(hosts, ", "))
		}
		command += " --allow " + Word(permit.HostRule(host))
	}
	return "in a conversation the user is asked; without one, " + command
}

// PrivateHost says how commands of bash reach a host of this machine or its network, or another port than that of the web.
func PrivateHost(host string) string {
	return "the user's setting bashNetwork can name " + host
}
