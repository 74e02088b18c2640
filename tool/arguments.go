package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how many objects and lists the arguments of a call may have inside each other, the outermost one included.
// The readers of some languages end at a thousand.
const maxDepth = 100

// Object reads the arguments of a call. It is the one rule for them: what decides about a call, what shows it and what carries
// it out, in whatever language, must all see the same call. Missing arguments and null are the object {}; anything else is
// returned unchanged.
//
// It returns an error for what is not one JSON object in UTF-8 with nothing after it; for a key that an object has twice, however
// it is written and however deep it stands, because some readers take the first and others the last; and for more than 100 levels.
func Object(raw json.RawMessage) (json.RawMessage, error) {
	const space = " \t\r\n" // of JSON
	bare := bytes.Trim(raw, space)
	switch {
	case len(bare) == 0 || string(bare) == "null":
		return json.RawMessage("{}"), nil
	case !utf8.Valid(bare):
		return nil, errors.New("they are not valid UTF-8")
	case !json.Valid(bare):
		var v any
		return nil, json.Unmarshal(bare, &v) // the error says where
	case bare[0] != '{':
		return nil, errors.New("they must be one JSON object")
	}
	r := reader{text: bare}
	if err := r.value(0, nil); err != nil {
		return nil, err
	}
	return raw, nil
}

// reader goes through valid JSON.
type reader struct {
	text []byte
	at   int
}

// peek returns the first character of what comes next.
func (r *reader) peek() byte {
	for r.text[r.at] <= ' ' || r.text[r.at] == ',' || r.text[r.at] == ':' {
		r.at++
	}
	return r.text[r.at]
}

// value reads one value. It appends the members of an object to top, unless that is nil.
func (r *reader) value(depth int, top *[]Member) error {
	open := r.peek()
	switch {
	case open == '"':
		r.str()
		return nil
	case open != '{' && open != '[':
		for r.at < len(r.text) && !strings.ContainsRune(" \t\r\n,]}", rune(r.text[r.at])) {
			r.at++
		}
		return nil
	case depth == maxDepth:
		return fmt.Errorf("they have more than %d levels", maxDepth)
	}
	seen := map[string]bool{}
	for r.at++; r.peek() != open+2; { // the end of it
		key := ""
		if open == '{' {
			if key = r.str(); seen[key] {
				return fmt.Errorf("key %.100q is repeated", key)
			}
			seen[key] = true
		}
		r.peek()
		from := r.at
		if err := r.value(depth+1, nil); err != nil {
			return err
		}
		if top != nil {
			*top = append(*top, Member{key, json.RawMessage(r.text[from:r.at:r.at])})
		}
	}
	r.at++
	return nil
}

// str reads a string.
func (r *reader) str() string {
	from, escaped := r.at, false
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			escaped = true
			r.at++
		}
	}
	r.at++
	text := string(r.text[from+1 : r.at-1])
	if escaped {
		_ = json.Unmarshal(r.text[from:r.at], &text) // it is valid
	}
	return text
}

// Member is a key of a JSON object with its value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the members of a JSON object in their order. The errors are those of Object.
func Members(raw json.RawMessage) ([]Member, error) {
	raw, err := Object(raw)
	if err != nil {
		return nil, err
	}
	var out []Member
	r := reader{text: raw}
	return out, r.value(0, &out)
}

// Folded reports whether the keys of two members differ only in upper and lower case. encoding/json takes such keys for the same
// field of a struct.
func Folded(members []Member) bool {
	seen := map[string]bool{}
	for _, m := range members {
		key := strings.Map(foldRune, m.Key)
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// foldRune returns the first of the letters that are equal to r but for their case.
func foldRune(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}

// Arguments decodes the arguments of a call, as Object reads them, into the struct that v points to. It panics if v is no pointer to
// a struct; all fields of the struct must be exported, and none embedded. The key of a field is that of its json tag, or its name in lower case. Unlike encoding/json it refuses keys
// in another case, unknown keys and repeated keys, so a user who is shown a call sees the arguments that the tool gets. The keys
// description and explanation, in which models say what a call is for, are left out where a tool does not know them.
//
// The error names the wrong key and lists the known ones.
func Arguments(raw json.RawMessage, v any) error {
	members, err := Members(raw)
	if err != nil {
		return err
	}
	known := keysOf(v)
	for _, m := range members {
		if !slices.Contains(known, m.Key) && m.Key != "description" && m.Key != "explanation" {
			return fmt.Errorf("unknown argument %.100q, use %s", m.Key, strings.Join(known, ", "))
		}
	}
	if len(members) == 0 {
		return nil
	}
	return json.Unmarshal(raw, v)
}

func keysOf(v any) []string {
	var keys []string
	for f := range reflect.TypeOf(v).Elem().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, cmp.Or(key, strings.ToLower(f.Name)))
	}
	return keys
}

// Words returns a list of strings, such as the arguments of a script. Numbers and booleans are taken as they are written; nothing
// and null are no words. It returns an error for anything else.
func Words(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, errors.New(`args must be a list of strings, such as ["--limit", "5"]`)
	}
	out := make([]string, len(items))
	for i, it := range items {
		switch {
		case it[0] == '"':
			if err := json.Unmarshal(it, &out[i]); err != nil {
				return nil, err
			}
		case it[0] == '{' || it[0] == '[' || string(it) == "null":
			return nil, fmt.Errorf("args[%d] must be a string", i)
		default:
			out[i] = string(it)
		}
	}
	return out, nil
}
