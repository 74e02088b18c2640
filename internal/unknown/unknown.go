// Package unknown keeps the fields of JSON objects that this version of the program does not know, so that a file of a later
// version with the same format loses nothing when it is changed.
package unknown

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Fields has the fields of an object that no field of a struct is for.
type Fields map[string]json.RawMessage

// Split sets f to the fields of the object text that the struct known does not have. Like encoding/json it ignores case. known
// may be a pointer.
func (f *Fields) Split(text []byte, known any) error {
	var all Fields
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	t := reflect.Indirect(reflect.ValueOf(known)).Type()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		for key := range all {
			if strings.EqualFold(key, name) {
				delete(all, key)
			}
		}
	}
	*f = all
	return nil
}

// Join returns the object v with the fields of f after its own.
func (f Fields) Join(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || len(f) == 0 {
		return text, err
	}
	more, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if string(text) == "{}" {
		return more, nil
	}
	return append(append(bytes.TrimSuffix(text, []byte("}")), ','), more[1:]...), nil
}
