package telemetry

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// OTLP as JSON: numbers of 64 bits are texts, identifiers are hexadecimal, and enumerations are numbers.

type keyValue struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

type anyValue struct {
	String *string     `json:"stringValue,omitempty"`
	Bool   *bool       `json:"boolValue,omitempty"`
	Int    *string     `json:"intValue,omitempty"`
	Double *float64    `json:"doubleValue,omitempty"`
	Array  *arrayValue `json:"arrayValue,omitempty"`
}

type arrayValue struct {
	Values []anyValue `json:"values"`
}

type resourceJSON struct {
	Attributes []keyValue `json:"attributes"`
}

type scopeJSON struct {
	Name string `json:"name"`
}

func resourceOf(r *resource.Resource) resourceJSON { return resourceJSON{attributesOf(r.Attributes())} }

func attributesOf(all []attribute.KeyValue) []keyValue {
	out := make([]keyValue, 0, len(all))
	for _, kv := range all {
		out = append(out, keyValue{string(kv.Key), valueOf(kv.Value)})
	}
	return out
}

// valueOf returns a value. Kinds that this package does not send become texts.
func valueOf(v attribute.Value) anyValue {
	switch v.Type() {
	case attribute.BOOL:
		b := v.AsBool()
		return anyValue{Bool: &b}
	case attribute.INT64:
		n := strconv.FormatInt(v.AsInt64(), 10)
		return anyValue{Int: &n}
	case attribute.FLOAT64:
		f := v.AsFloat64()
		return anyValue{Double: &f}
	case attribute.STRINGSLICE:
		list := &arrayValue{Values: []anyValue{}}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, anyValue{String: &s})
		}
		return anyValue{Array: list}
	}
	s := v.String()
	if v.Type() == attribute.STRING {
		s = v.AsString()
	}
	return anyValue{String: &s}
}

// nanos returns a time as OTLP has it.
func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
