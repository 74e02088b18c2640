package skilluri

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Standard returns what FrontMatter does, if clients take it: one that does not take it can refuse all skills of a list. The error says which
// field has another form than the open standard has for it, or which value programs read differently. It does not look at the name rule.
func Standard(manifest []byte) (json.RawMessage, error) {
	node, err := read(manifest)
	if err != nil {
		return nil, err
	}
	if n := node.Ambiguous(); n != nil {
		return nil, fmt.Errorf("programs differ about what %.40q is without quotes", n.Value)
	}
	for _, p := range node.Pairs {
		if err := standard(p.Key.Value, p.Value); err != nil {
			return nil, err
		}
	}
	return node.JSON(), nil
}

// most are limits of the open standard, in characters, with the line break at the end of a block.
var most = map[string]int{"description": 1024, "compatibility": 500}

// standard checks one field.
func standard(name string, v *yamlnode.Node) error {
	sound, form := true, "a text"
	switch name {
	case "name", "description", "license":
		sound = v.IsText()
	case "compatibility":
		sound = v.IsText() && v.Value != ""
	case "allowed-tools":
		sound, form = v.IsText() || v.Kind == yamlnode.Sequence && texts(v.Items), "a text or a list of texts"
	case "metadata":
		var values []*yamlnode.Node
		for _, p := range v.Pairs {
			values = append(values, p.Value)
		}
		sound, form = v.Kind == yamlnode.Mapping && texts(values), "a map of texts"
	}
	if !sound {
		return fmt.Errorf("its %s is not %s", name, form)
	}
	if n := most[name]; n > 0 && utf8.RuneCountInString(v.Value) > n {
		return fmt.Errorf("its %s has more than %d characters", name, n)
	}
	return nil
}

func texts(nodes []*yamlnode.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *yamlnode.Node) bool { return !n.IsText() })
}
