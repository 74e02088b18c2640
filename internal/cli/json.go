package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
)

// writeJSON writes one value as JSON on one line, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeJSONList writes {"key":[…]}, one item after the other: thousands of them need no memory of their own.
func writeJSONList[T any](w io.Writer, key string, items iter.Seq[T]) error {
	var b bytes.Buffer
	b.WriteString(`{"` + key + `":[`)
	first := true
	for item := range items {
		if !first {
			b.WriteByte(',')
		}
		first = false
		if err := writeJSON(&b, item); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line end
		if _, err := b.WriteTo(w); err != nil {
			return err
		}
	}
	b.WriteString("]}\n")
	_, err := b.WriteTo(w)
	return err
}
