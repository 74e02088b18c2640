package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-base/agent-base/skill/manifest"
)

// parts are a document by the names of its parts: that of a skill, or "" for what belongs to none.
type parts map[string][]byte

// split returns the parts of a document. With lists it is a JSON object, and the items of the lists have names: those of one skill are
// a part of the same form. Without, it is one part.
func split(doc []byte, lists []string) (parts, error) {
	if doc == nil {
		return parts{}, nil
	}
	if len(lists) == 0 {
		return parts{"": doc}, nil
	}
	all := map[string]map[string]any{"": {}}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, err
	}
	for key, value := range top {
		if !slices.Contains(lists, key) {
			all[""][key] = value
			continue
		}
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		for _, item := range items {
			var named struct{ Name string }
			if err := json.Unmarshal(item, &named); err != nil || named.Name == "" {
				return nil, errors.Join(fmt.Errorf("%s has an item without a name", key), err)
			}
			name := manifest.Canonical(named.Name)
			if all[name] == nil {
				all[name] = map[string]any{}
			}
			list, _ := all[name][key].([]json.RawMessage)
			all[name][key] = append(list, item)
		}
	}
	out := parts{}
	for name, value := range all {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}

// join returns the document of parts, nil for none.
func (p parts) join(lists []string) ([]byte, error) {
	if len(p) == 0 {
		return nil, nil
	}
	if len(lists) == 0 {
		return p[""], nil
	}
	doc := map[string]any{}
	items := map[string][]json.RawMessage{}
	for _, key := range lists {
		items[key] = []json.RawMessage{}
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		var part map[string]json.RawMessage
		if err := json.Unmarshal(p[name], &part); err != nil {
			return nil, fmt.Errorf("the part %q is damaged: %w", name, err)
		}
		for key, value := range part {
			if !slices.Contains(lists, key) {
				doc[key] = value
				continue
			}
			var list []json.RawMessage
			if err := json.Unmarshal(value, &list); err != nil {
				return nil, fmt.Errorf("the part %q is damaged: %w", name, err)
			}
			items[key] = append(items[key], list...)
		}
	}
	for key, list := range items {
		doc[key] = list
	}
	return json.Marshal(doc)
}
