// Package policy says what may be given to a skill: freely, only after a question, or never. Whoever gives something, suggests it or
// names a command that gives it asks Decide, so that no hint and no suggestion names what would be refused.
//
// An organisation decides more, in a Document that nobody below it can loosen: which calls of tools, modes, models, hosts, servers and
// skills there may be. Read reads the one of this machine, Parse any other; a program that has the engine in it hands one in. Whoever is
// about to do such a thing asks the method of Policy that is called so, and says why it refuses:
//
//	if err := p.Model("anthropic/x", "").Refuse("the model %q is not used", name); err != nil {
//		return err
//	}
//
// A nil Policy, and one without documents, allows all that. A document that cannot be read allows nothing.
//
// A Policy is safe for concurrent use. Its methods read no file, but Decide follows symbolic links, and Changed reads what it needs.
package policy

import (
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/want"
)

// Level says how a want may be given.
type Level int

// The levels, from the loosest to the strictest.
const (
	Free  Level = iota // a hint may name it, and a command that names it gives it
	Asks               // a person gives it after a question; no hint and no suggestion names it
	Never              // nobody gives it
)

// Decision is what is decided, and why; Why is "" for Free.
type Decision struct {
	Level   Level
	Why     string // a clause: "keys are in it"; it names the layer and the contact, if there are any
	Layer   string // who decided: "the policy of your organisation, /etc/agent/policy.yaml:12"; "" for the program itself
	At      Place  // in the document
	Contact string // whom to ask about it; "" if that is not known
}

// Policy knows what of this machine is not given freely. The zero value knows the folders of the system alone.
type Policy struct {
	// Organisation has the documents of the organisation. What one of them forbids is forbidden.
	Organisation []*Document
	// Changed returns a document that allows nothing once Organisation is out of date, as Watch does; until then nil. Without it Organisation
	// holds for ever.
	Changed func() *Document

	Home string // the user's home, absolute; "" if there is none
	// Account is the home that the machine has for the user, whatever the environment says; "" if it is not known. A rule of the organisation
	// about ~/x is about both.
	Account string
	Own     string // the agent's own folder, with the approvals and what other skills keep, absolute; "" if there is none

	// Variable returns why no script gets a variable; nil for one that may be given. Without it every variable may be.
	Variable func(name string) error
}

// Decide says how a want may be given. Its folder may begin with ~/.
func (p *Policy) Decide(w want.Want) Decision {
	if p == nil {
		return Decision{}
	}
	own, organisation := p.decide(w), p.never(w)
	if w.Kind == want.Host {
		organisation = p.Host(w.Name)
	}
	return strictest(organisation, own)
}

// decide is Decide without the organisation.
func (p *Policy) decide(w want.Want) Decision {
	switch w.Kind {
	case want.Variable:
		if p.Variable != nil {
			if err := p.Variable(w.Name); err != nil {
				return Decision{Level: Never, Why: err.Error()}
			}
		}
	case want.Host:
		if h, err := hostname.Parse(w.Name); err == nil && hostname.IsLinkLocal(h.Host) {
			return Decision{Level: Asks, Why: "it is an address of this machine's own network, such as that of a cloud's credentials"}
		}
	case want.Socket:
		return Decision{Level: Asks, Why: "who has it signs as you, and logs in as you where your key opens"}
	case want.Read, want.Write, want.Around:
		if dir := p.path(w.Name); dir != "" {
			return p.folder(dir, w.Kind == want.Write)
		}
	}
	return Decision{}
}

// path returns a folder as a path of this machine, "" for want.Here and for one below a home that there is not.
func (p *Policy) path(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok && p.Home != "" {
		return filepath.Join(p.Home, filepath.FromSlash(below))
	}
	if !filepath.IsAbs(name) {
		return ""
	}
	return filepath.Clean(name)
}

// ofMachine are folders with settings of the machine. program.OfSystem has its programs.
var ofMachine = []string{"/etc", "/boot", "/dev", "/proc", "/sys", "/root/.ssh", "/var/spool/cron", "/private/etc", "/Library"}

// folder decides about a folder or a file. What holds everything, and what decides which programs run and who may come in, is never
// written: the user's own folders in it can be given by their names. It is read after a question.
func (p *Policy) folder(dir string, write bool) Decision {
	level := Asks
	if write {
		level = Never
	}
	switch {
	case p.Own != "" && paths.WithinReal(p.Own, dir):
		return Decision{Level: Never, Why: "the approvals and the private files of all skills are in it"}
	case filepath.Dir(dir) == dir:
		return Decision{Level: level, Why: "every file of this machine is in it"}
	case write && program.OfSystem(dir), within(dir, ofMachine):
		return Decision{Level: level, Why: "programs and settings of the machine are in it"}
	case p.Home != "" && paths.Holds(dir, p.Home):
		return Decision{Level: level, Why: "your whole home is in it, with your keys and what your shell runs"}
	case p.Own != "" && paths.Holds(dir, p.Own):
		return Decision{Level: level, Why: "the approvals and the private files of all skills are in it"}
	case p.Home != "" && within(dir, p.ofHome(content.Keys())):
		return Decision{Level: level, Why: "keys are in it"}
	case !write && p.hidden(dir):
		return Decision{Level: level, Why: "programs keep settings and secrets in hidden folders of your home"}
	}
	return Decision{}
}

// ofHome returns names below the home.
func (p *Policy) ofHome(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = filepath.Join(p.Home, name)
	}
	return out
}

// hidden reports whether a path is a hidden file or folder of the home, or lies in one.
func (p *Policy) hidden(dir string) bool {
	if p.Home == "" {
		return false
	}
	below, err := filepath.Rel(paths.Real(p.Home), paths.Real(dir))
	return err == nil && filepath.IsLocal(below) && strings.HasPrefix(below, ".") && below != "."
}

func within(dir string, others []string) bool {
	for _, other := range others {
		if paths.WithinReal(other, dir) {
			return true
		}
	}
	return false
}
