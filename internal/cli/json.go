package cli

import (
	"encoding/json"
	"io"
)

// writeJSON writes one value as JSON on one line, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
