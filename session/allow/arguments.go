package allow

import (
	"encoding/json"
	"strings"

	"github.com/agent-base/agent-base/tool"
)

// maxKeys is how many arguments a call may have.
const maxKeys = 64

// values returns the values of a call's arguments with one of the given keys, which hosts write in any case and with or
// without "_". ok is false for what no executor passes to a tool, see tool.Object, for more than maxKeys arguments, and if a key
// occurs twice in different case: two readers may then see two different calls.
func values(raw json.RawMessage, keys string) (out []json.RawMessage, ok bool) {
	members, err := tool.Members(raw)
	if err != nil || len(members) > maxKeys || tool.Folded(members) {
		return nil, false
	}
	for _, m := range members {
		if holds(strings.Fields(keys), strings.ReplaceAll(m.Key, "_", "")) {
			out = append(out, m.Value)
		}
	}
	return out, true
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

// scriptWords returns the arguments of a script, as the tool that runs it reads them.
func scriptWords(raw json.RawMessage) (out []string, ok bool) {
	found, ok := values(raw, "args")
	if !ok || len(found) != 1 {
		return nil, ok && len(found) == 0
	}
	out, err := tool.Words(found[0])
	return out, err == nil
}
