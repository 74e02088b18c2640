package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/session/allow"
)

// Rules returns the rules of the organisation that deny calls of tools, and those that ask about them.
func (p *Policy) Rules() (deny, ask []permit.Rule) {
	for _, d := range p.documents() {
		if d == nil {
			continue
		}
		for key, to := range map[string]*[]permit.Rule{KeyDeny: &deny, KeyAsk: &ask} {
			for _, item := range d.values[key] {
				for _, text := range p.spellings(item.Text) {
					*to = append(*to, permit.Rule{Text: text, Origin: item.At.String(), By: by(fmt.Sprintf("%s, %s", Layer, item.At), d.contact)})
				}
			}
		}
	}
	return deny, ask
}

// spellings returns a rule, and the same about the home that the machine has for the user, where the environment names another one.
func (p *Policy) spellings(rule string) []string {
	tool, below, ok := strings.Cut(rule, "(~/")
	if !ok || p.Account == "" || p.Account == p.Home {
		return []string{rule}
	}
	return []string{rule, tool + "(/" + p.Account + "/" + below} // an absolute path of a rule begins with two slashes
}

// Call decides about a call of a tool by the rules of the organisation alone. patterns says what the patterns of rules are about.
func (p *Policy) Call(c *permit.Call, patterns allow.Options) Decision {
	if d := p.each(func(*Document) Decision { return Decision{} }); d.Level == Never {
		return d
	}
	deny, ask := p.Rules()
	if len(deny)+len(ask) == 0 {
		return Decision{}
	}
	rules, _ := permit.New(&permit.Options{Mode: permit.All, Unconfined: true, Deny: deny, Ask: ask, Patterns: patterns})
	made := rules.Decide(c)
	level := map[permit.Verdict]Level{permit.Asked: Asks, permit.Denied: Never}[made.Verdict]
	if level == Free || made.Rule.By == "" {
		return Decision{} // not by a rule: a page of the web is asked about without one
	}
	return p.ofRule(level, &made)
}

// ofRule returns the decision that a rule made.
func (p *Policy) ofRule(level Level, made *permit.Decision) Decision {
	for _, d := range p.documents() {
		for _, key := range []string{KeyDeny, KeyAsk} {
			for _, item := range d.values[key] {
				if item.At.String() == made.Rule.Origin && slices.Contains(p.spellings(item.Text), made.Rule.Text) {
					out := d.decided(level, item.At, "")
					out.Why = made.Reason
					return out
				}
			}
		}
	}
	return Decision{Level: level, Why: made.Reason, Layer: Layer}
}
