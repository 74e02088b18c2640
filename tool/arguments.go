package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Arguments decodes the arguments of a call, a JSON object, into the struct that v points to, whose fields must all be
// exported. The key of a field is that of its json tag, or its name in lower case. Unlike encoding/json it refuses keys
// in another case, unknown keys and repeated keys, so a user who is shown a call sees the arguments that the tool gets.
//
// The error names the wrong key and lists the known ones.
func Arguments(raw json.RawMessage, v any) error {
	if err := checkKeys(raw, keysOf(v)); err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

func keysOf(v any) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, cmp.Or(key, strings.ToLower(f.Name)))
	}
	return keys
}

// checkKeys accepts what is not a JSON object: the decoder refuses it.
func checkKeys(raw json.RawMessage, known []string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') || !json.Valid(raw) {
		return nil //nolint:nilerr // the decoder reports it
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		switch {
		case !slices.Contains(known, key):
			return fmt.Errorf("unknown argument %.100q, use %s", key, strings.Join(known, ", "))
		case seen[key]:
			return fmt.Errorf("argument %q is repeated", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}
