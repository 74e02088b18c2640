package allow

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxKeys is how many arguments a call may have.
const maxKeys = 64

// values returns the values of a call's arguments with one of the given keys, which hosts write in any case and with or
// without "_". ok is false for what is not one JSON object, and if a key occurs twice, in whatever case: two readers may
// then see two different calls.
func values(raw json.RawMessage, keys string) (out []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var seen []string
	for dec.More() {
		t, err := dec.Token()
		key, isKey := t.(string)
		var value json.RawMessage
		if err != nil || !isKey || len(seen) == maxKeys || holds(seen, key) || dec.Decode(&value) != nil {
			return nil, false
		}
		seen = append(seen, key)
		if holds(strings.Fields(keys), strings.ReplaceAll(key, "_", "")) {
			out = append(out, value)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	return out, !dec.More()
}

// holds compares like encoding/json does with the keys of a struct.
func holds(list []string, s string) bool {
	for _, one := range list {
		if strings.EqualFold(one, s) {
			return true
		}
	}
	return false
}

// texts returns the strings of values. A list of strings counts as its members. ok is false for anything else.
func texts(raw json.RawMessage, keys string) (out []string, ok bool) {
	list, ok := values(raw, keys)
	for _, v := range list {
		var one string
		var many []string
		switch {
		case string(v) == "null":
		case json.Unmarshal(v, &one) == nil:
			out = append(out, one)
		case json.Unmarshal(v, &many) == nil:
			out = append(out, many...)
		default:
			return nil, false
		}
	}
	return out, ok
}

// text returns the one string of the values, or "".
func text(raw json.RawMessage, keys string) string {
	if list, ok := texts(raw, keys); ok && len(list) == 1 {
		return list[0]
	}
	return ""
}

// commands returns the shell commands of a call: texts, and lists of words.
func commands(raw json.RawMessage) (texts []string, lists [][]string, ok bool) {
	found, ok := values(raw, "command cmd")
	for _, v := range found {
		var one string
		var words []string
		switch {
		case v[0] == '"' && json.Unmarshal(v, &one) == nil:
			texts = append(texts, one)
		case v[0] == '[' && json.Unmarshal(v, &words) == nil && len(words) > 0:
			lists = append(lists, words)
		default:
			return nil, nil, false
		}
	}
	return texts, lists, ok && len(found) > 0
}

// scriptWords returns the arguments of a script: strings, and numbers and the like as they are written.
func scriptWords(raw json.RawMessage) (out []string, ok bool) {
	found, ok := values(raw, "args")
	if !ok || len(found) == 0 || string(found[0]) == "null" {
		return nil, ok
	}
	var items []json.RawMessage
	if json.Unmarshal(found[0], &items) != nil {
		return nil, false
	}
	for _, it := range items {
		s := string(it)
		if it[0] == '"' && json.Unmarshal(it, &s) != nil {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}
