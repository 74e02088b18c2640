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

// Arguments reads the arguments of a call, a JSON object, into the struct that v points to, whose fields are all
// exported. The key of a field is that of its json tag, or its name in lower case. What encoding/json would take is refused:
// a key in another case, one that no field has, and one that is there twice. So whoever is asked about a call, or shown
// it, reads the same arguments as the tool.
//
// The error says which key is wrong and which there are.
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

// checkKeys leaves it to the decoder to refuse what is no JSON object.
func checkKeys(raw json.RawMessage, known []string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') || !json.Valid(raw) {
		return nil //nolint:nilerr // the decoder says it
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
			return fmt.Errorf("there is no argument %.100q; there are: %s", key, strings.Join(known, ", "))
		case seen[key]:
			return fmt.Errorf("the argument %q is there twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}
