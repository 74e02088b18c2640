// Package streamtest checks lines of an agent against the JSON Schema of package stream.
package streamtest

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
)

// Line returns an error for a line that is not one that an agent writes, or that has a key which the schema does not name.
func Line(line []byte) error { return check("line", line) }

// Input returns an error for a line that is not one that an agent reads, or that has a key which the schema does not name.
func Input(line []byte) error { return check("input", line) }

var schemas = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	out := map[string]*jsonschema.Resolved{}
	for _, name := range []string{"line", "input"} {
		root := &jsonschema.Schema{}
		if err := json.Unmarshal(stream.Schema, root); err != nil {
			return nil, err
		}
		root.Ref = "#/$defs/" + name
		for _, def := range root.Defs {
			if def.Properties != nil {
				def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
			}
		}
		resolved, err := root.Resolve(nil)
		if err != nil {
			return nil, err
		}
		out[name] = resolved
	}
	return out, nil
})

func check(name string, line []byte) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	if err := all[name].Validate(v); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	return nil
}
