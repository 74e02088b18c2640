package config

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/toolrule"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Permissions are the rules about the agent's own tools. Their keys are below `permissions:`. The package does not read
// the rules: see agent/permit.
type Permissions struct {
	Allow []Rule // allow: the user's alone
	Ask   []Rule // ask
	Deny  []Rule // deny

	Idle []Rule // rules of other programs' settings that allow: they are shown and have no effect

	// Doubt is the place of a part of Ask or Deny that cannot be read, or the user's file; "" if there is none. Each call must then be asked about.
	Doubt string
}

// Rule is a rule as it is written, with its place.
type Rule struct {
	Text   string
	Origin Origin
}

// Limits of the rules of one source.
const (
	maxRules = 500
	maxRule  = 1000 // bytes
)

// rules reads a list of rules, or a text of rules with commas.
func (r *reader) rules(k *key, n *yamlnode.Node) (any, error) {
	var items []*yamlnode.Node
	switch n.Kind {
	case yamlnode.Scalar:
		for _, text := range toolrule.Split(n.Value) {
			items = append(items, &yamlnode.Node{Kind: yamlnode.Scalar, Value: text, Line: n.Line, Col: n.Col})
		}
	case yamlnode.Sequence:
		items = n.Items
	case yamlnode.Mapping:
		return nil, bad(`write a list: ["Bash(go test:*)", "Edit(docs/**)"]`, "%s must be a list, not a map", k.name)
	}
	out := []Rule{}
	for _, item := range items {
		text := strings.TrimSpace(item.Value)
		switch {
		case item.Kind != yamlnode.Scalar || text == "" || len(text) > maxRule:
			r.lost = true
			r.wrong(item, fmt.Sprintf("item of %s is not a rule: ignored", k.name), "write one rule in quotes for each item, such as 'Bash(go test:*)'")
		case len(out) == maxRules:
			r.lost = true
			r.wrong(item, fmt.Sprintf("%s has more than %d rules: the others are ignored", k.name, maxRules), "join some with a wildcard")
			return out, nil
		default:
			at := r.at
			if item.Line > 0 {
				at = r.at.in(item)
			}
			out = append(out, Rule{text, at})
		}
	}
	return out, nil
}

func ruleTexts(all []Rule) []string {
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.Text
	}
	return out
}
