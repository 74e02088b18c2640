package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// New returns a tool that calls a function. In is the struct of its arguments and gives the schema: a field is required unless its json
// tag says omitempty or omitzero, and its tag jsonschema is its description. Arguments that the schema does not allow do not reach the
// function: they are a failure with ReasonArguments. An error of the function is a failure, whose message the model reads; a *Denial
// is its own result. What the function returns is the result, as JSON.
//
// New panics if In is no struct, or has a field without a json tag, that is embedded or not exported, or that JSON does not have, such as
// a function.
func New[In, Out any](name, description string, call func(context.Context, In) (Out, error)) Tool {
	if reflect.TypeFor[In]().Kind() != reflect.Struct {
		panic(fmt.Sprintf("tool %q: the arguments are %s and not a struct", name, reflect.TypeFor[In]()))
	}
	for f := range reflect.TypeFor[In]().Fields() {
		if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "" {
			panic(fmt.Sprintf("tool %q: the field %s needs a json tag, and must be exported and not embedded", name, f.Name))
		}
	}
	input, allowed := schemaOf[In](name)
	return Tool{Name: name, Description: description, Input: input, Call: func(ctx context.Context, raw json.RawMessage) Result {
		var in In
		if err := fill(raw, &in, allowed); err != nil {
			return Result{Error: ExecutionFailed, Reason: ReasonArguments, Message: fmt.Sprintf("arguments of '%s' do not fit: %v", name, err)}
		}
		out, err := call(ctx, in)
		var denied *Denial
		switch {
		case errors.As(err, &denied):
			return denied.Result
		case err != nil && ctx.Err() != nil:
			return Interruption(ctx, "The tool")
		case err != nil:
			return Failure(ExecutionFailed, err.Error())
		}
		return Success(out, "Called "+name)
	}}
}

// schemaOf returns the schema of a struct as JSON, and what checks values by it.
func schemaOf[In any](name string) (json.RawMessage, *jsonschema.Resolved) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", name, err))
	}
	input, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", name, err))
	}
	allowed, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", name, err))
	}
	return input, allowed
}

// fill decodes arguments that a schema allows into the struct that in points to.
func fill(raw json.RawMessage, in any, allowed *jsonschema.Resolved) error {
	if err := Arguments(raw, in); err != nil {
		return err
	}
	members, err := Members(raw)
	if err != nil {
		return err
	}
	given, known := map[string]any{}, keysOf(in)
	for _, m := range members {
		var v any
		if err := json.Unmarshal(m.Value, &v); err != nil {
			return err
		}
		given[m.Key] = v
	}
	for _, extra := range []string{"description", "explanation"} { // see Arguments
		if !slices.Contains(known, extra) {
			delete(given, extra)
		}
	}
	return allowed.Validate(given)
}
