// Package rule judges what a scan found: rules over facts make findings, and acceptances say which of them a person has seen.
//
// Rules are data. Those of the engine are in rules.yaml, and a program may read more of the same form with Parse. A rule names facts at
// which something ends (sink), facts that reach it (source, flow), facts elsewhere in the skill (with), and what makes it harmless
// (unless). Nothing here reads a skill or starts anything.
//
// A Set is safe for concurrent use.
package rule

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"sync"

	"github.com/agent-base/agent-base/skill/scan"
)

//go:embed rules.yaml
var builtin []byte

// builtinName is what errors call the rules of the engine.
const builtinName = "rules.yaml"

// Builtin returns the rules of the engine. It panics if they cannot be read, which a test prevents.
var Builtin = sync.OnceValue(func() *Set {
	set, err := Parse(builtin, builtinName)
	if err != nil {
		panic(err)
	}
	return set
})

// Version names the rules of the engine by their text.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256(builtin)
	return hex.EncodeToString(sum[:8])
})

// Rule says which facts are a danger.
type Rule struct {
	ID       string // such as "fetch-run"
	Title    string // what it finds, a short clause
	Class    string // of threats
	Message  string // {sink}, {source}, {flow} and {with} stand for the facts, {said} for the text of the sink
	Severity scan.Severity
	Match    []string // skills in which it finds something: the text of a SKILL.md, then further files that begin with "-- NAME --"
	Skip     []string // skills in which it finds nothing

	when   condition
	unless []condition
	raise  []raise // the first that holds says the severity
}

// raise is another severity of a finding of which more is known.
type raise struct {
	condition
	to scan.Severity
}

// condition is what must be so of a fact, of one that reaches it, and of others.
type condition struct {
	sink, source, flow *pattern
	with               []with
	own                *bool // the host is of the service that the secret is for
}

// with is what must be so of further facts.
type with struct {
	pattern
	near  near
	least int // how many different names
}

// near says where further facts are looked for.
type near string

const (
	inSkill near = "skill"
	inFile  near = "file"
	inFlow  near = "flow"   // among the facts that reach the sink
	onward  near = "onward" // among the facts that the sink reaches
)

// Set is a list of rules.
type Set struct {
	rules []Rule
	lists map[string][]string
}

// Rules returns the rules in their order.
func (s *Set) Rules() []Rule { return s.rules }

// Rule returns the rule that is called id, nil if there is none.
func (s *Set) Rule(id string) *Rule {
	for i := range s.rules {
		if s.rules[i].ID == id {
			return &s.rules[i]
		}
	}
	return nil
}
