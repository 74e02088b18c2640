package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Example says how a question has to be answered: a test of a policy.
type Example struct {
	Item
	Expect Level
}

// ParseExamples reads a file of examples: a map whose keys allow, ask and deny have lists of questions. file is its name for people.
func ParseExamples(src []byte, file string) ([]Example, error) {
	p := &parser{Document: &Document{file: file}}
	if len(src) > MaxFile {
		return nil, p.wrong(&yamlnode.Node{}, "the file has more than %d bytes", MaxFile)
	}
	root, err := yamlnode.Parse(src, &yamlnode.Options{MaxDepth: maxDepth, MaxSigns: MaxFile / 4})
	var syntax *yamlnode.Error
	switch {
	case errors.As(err, &syntax):
		return nil, &invalid{Place{file, syntax.Line, syntax.Col}, syntax.Message}
	case err != nil:
		return nil, err
	case root.Kind != yamlnode.Mapping:
		return nil, p.wrong(root, "the file must be a map with allow, ask and deny, not a %s", root.Kind)
	}
	var out []Example
	for _, pair := range root.Pairs {
		level := slices.IndexFunc([]Level{Free, Asks, Never}, func(l Level) bool { return l.Word() == pair.Key.Value })
		switch {
		case level < 0:
			return nil, p.wrong(pair.Key, "unknown key %q: the keys here are allow, ask, deny", pair.Key.Value)
		case pair.Value.Kind != yamlnode.Sequence:
			return nil, p.wrong(pair.Key, "%s must be a list of questions, not a %s", pair.Key.Value, pair.Value.Kind)
		}
		for _, n := range pair.Value.Items {
			text, err := p.text(pair.Key.Value, n)
			if err != nil {
				return nil, err
			}
			out = append(out, Example{Item{text, p.place(n)}, Level(level)})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no example in it")
	}
	return out, nil
}
