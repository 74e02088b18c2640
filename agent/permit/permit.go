// Package permit decides whether a call of a tool may proceed: it is allowed, the user is asked first, or it is denied.
//
// The decision depends on the mode, on the user's rules and on the call, and on nothing else: [Policy.Decide] is a pure
// function. It asks nobody and runs nothing. A rule is a text such as Bash(go test:*) or Edit(docs/**), in the grammar of
// the package session/allow. The strictest list that names a call decides: deny, then ask, then allow.
//
// A rule about a command names it wherever it stands in a text, but a shell can hide a command from any reader. So rules
// that allow are exact, and rules that deny are a guard against mistakes and not a wall: a sandbox is one.
package permit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/session/allow"
)

// Mode says what happens to calls that no rule names.
type Mode string

// The modes, from loose to strict.
const (
	All         Mode = "all"          // everything is allowed, except for a command outside a sandbox: see Options.Unconfined
	AcceptEdits Mode = "accept-edits" // files of the workspace are changed without a question
	Ask         Mode = "ask"          // each change of a file and each command outside a sandbox is asked about
	Plan        Mode = "plan"         // nothing is changed before a plan is approved; commands run where they change no file
	ReadOnly    Mode = "read-only"    // nothing is changed and nothing is run
)

// Modes returns all modes, from loose to strict.
func Modes() []Mode { return []Mode{All, AcceptEdits, Ask, Plan, ReadOnly} }

// Kind is what a call does.
type Kind uint8

// The kinds.
const (
	Other   Kind = iota // nothing that a mode is about
	Read                // reads a file
	Edit                // changes a file
	Command             // runs a shell command
	Script              // runs a script or a toolset of a skill
	Fetch               // gets a page of a host, or lets a command reach a host
	Server              // calls a tool of an MCP server
)

// Call is a call of a tool. Fields that do not apply are zero.
type Call struct {
	Tool     string
	Kind     Kind
	Args     json.RawMessage // of a call that is Other, a Script or a Server: a JSON object
	Source   string          // "<skill>.<Class>" for a tool of a skill's toolset, see allow.Call
	Path     string          // the file of a Read or an Edit: absolute, without links
	Special  string          // why each Edit of this file, or each such Command, is asked about, as "agents follow AGENTS.md without asking"; "" for others
	URL      string          // of a Fetch: http or https
	Command  string          // the text of a Command
	Confined bool            // the Command stays inside a sandbox
	Writes   bool            // the Command asks to change files there
	Reads    bool            // the Server's tool changes nothing: it says so, and the user chose it by its name
}

// Verdict is the outcome of a decision.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allow"
	Asked   Verdict = "ask"
	Denied  Verdict = "deny"
)

// Rule is a rule with the place where it is written.
type Rule struct {
	Text   string // Bash(go test:*)
	Origin string // for people, such as "/home/me/.agent/config.yaml:7"

	// By ends a reason that the rule gives, such as " (the policy of your organisation)"; "" for a rule of the user or a project.
	By string

	// Confined means that a rule of Allow is not about commands outside a sandbox.
	Confined bool
}

// String returns the text and the origin.
func (r Rule) String() string { return fmt.Sprintf("%s (%s)", r.Text, r.Origin) }

// Decision says what happens to a call, and why.
type Decision struct {
	Verdict Verdict
	Rule    Rule   // the rule that decided; zero if the mode did
	Reason  string // one clause, such as "the mode is read-only"

	// Doubt means that a rule which may deny or ask cannot be read: Reason says which, and where it is.
	Doubt bool

	// ReadOnly means that a confined Command is allowed only if the sandbox keeps it from changing files of the workspace.
	ReadOnly bool
}

// Options are what a Policy is made of. The zero value is the mode ask without rules.
type Options struct {
	Mode             Mode // "" means Ask
	Allow, Ask, Deny []Rule

	// Doubt says where rules which may deny or ask are that could not be read, such as "/home/me/.agent/config.yaml:7": each call is then
	// asked about, unless it is denied. "" means that there are none.
	Doubt string

	// Unconfined means that the mode all also allows commands outside a sandbox.
	Unconfined bool

	Patterns allow.Options // what the patterns of rules are about
	Above    []string      // more roots for those of Ask and Deny, as the Roots of Patterns: the folders that a workspace lies in
}

// Policy decides. It does not change and is safe for concurrent use.
type Policy struct {
	o     Options
	allow list
	exact list // the rules of allow without a wildcard
	free  list // the rules of allow that are also about commands outside a sandbox
	ask   list
	deny  list
}

// list is the rules of one list.
type list struct {
	rules  []Rule
	parsed *allow.List
}

// New returns the policy of o. A problem is a rule that cannot be read. In Allow it allows nothing. In Ask or Deny it counts for
// all calls of its tool; if it is not clear which tool that is, each call is asked about, as with Doubt.
func New(o *Options) (*Policy, []allow.Problem) {
	p := &Policy{o: *o}
	if p.o.Mode == "" {
		p.o.Mode = Ask
	}
	var problems []allow.Problem
	read := func(rules []Rule, patterns *allow.Options) list {
		l, wrong := newList(rules, patterns)
		problems = append(problems, wrong...)
		return l
	}
	p.allow = read(o.Allow, &o.Patterns)
	loose, forbids := len(problems), o.Patterns
	forbids.Forbids = true
	forbids.Roots = slices.Concat(o.Patterns.Roots, o.Above)
	p.ask, p.deny = read(o.Ask, &forbids), read(o.Deny, &forbids)
	p.o.Doubt = cmp.Or(o.Doubt, dropped(problems[loose:], slices.Concat(o.Ask, o.Deny)))
	p.free, _ = newList(slices.DeleteFunc(slices.Clone(o.Allow), func(r Rule) bool { return r.Confined }), &o.Patterns)
	p.exact, _ = newList(slices.DeleteFunc(slices.Clone(o.Allow), func(r Rule) bool { return !exact(r.Text) }), &o.Patterns)
	return p, problems
}

// dropped returns the first rule that was dropped, with its origin, or "".
func dropped(problems []allow.Problem, rules []Rule) string {
	for _, w := range problems {
		for _, r := range rules {
			if w.Dropped && r.Text == w.Rule {
				return r.String()
			}
		}
	}
	return ""
}

func newList(rules []Rule, o *allow.Options) (list, []allow.Problem) {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Text
	}
	parsed, problems := allow.Parse(texts, o)
	return list{rules, parsed}, problems
}

// Mode returns the mode.
func (p *Policy) Mode() Mode { return p.o.Mode }

// Rules returns the rules of the three lists.
func (p *Policy) Rules() (allow, ask, deny []Rule) { return p.o.Allow, p.o.Ask, p.o.Deny }

// DeniedFiles returns the rules of Deny about reading and about changing files.
func (p *Policy) DeniedFiles() (read, change allow.Files) {
	return p.deny.parsed.Reading(true), p.deny.parsed.Changing(true)
}

// Restricts reports whether there are rules that deny calls or ask about them.
func (p *Policy) Restricts() bool { return p.Doubt() || len(p.ask.rules)+len(p.deny.rules) > 0 }

// Doubt reports whether rules that may deny or ask cannot be read: nothing then leaves a question out.
func (p *Policy) Doubt() bool { return p.o.Doubt != "" }

// WithMode returns the policy with another mode.
func (p *Policy) WithMode(m Mode) *Policy {
	o := p.o
	o.Mode = m
	q, _ := New(&o)
	return q
}

// WithAllow returns the policy with one more rule that allows. The error says what is wrong with the rule.
func (p *Policy) WithAllow(r Rule) (*Policy, error) {
	if _, problems := newList([]Rule{r}, &p.o.Patterns); len(problems) > 0 {
		return nil, problems[0]
	}
	o := p.o
	o.Allow = append(slices.Clone(o.Allow), r)
	q, _ := New(&o)
	return q, nil
}
