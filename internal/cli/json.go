package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"unicode"
	"unicode/utf16"
)

// writeJSON writes one value as JSON on one line, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(shown{w})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// shown writes JSON with escapes for the characters that a terminal obeys or does not show, beyond those that JSON
// itself does not allow. The value is the same. A Write must not end within a character.
type shown struct{ w io.Writer }

func (s shown) Write(p []byte) (int, error) {
	if !bytes.ContainsFunc(p, unseen) {
		return s.w.Write(p)
	}
	var b bytes.Buffer
	for _, r := range string(p) {
		switch hi, lo := utf16.EncodeRune(r); {
		case !unseen(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	_, err := s.w.Write(b.Bytes())
	return len(p), err
}

// unseen reports whether a character is a control or a format character that JSON allows in a string.
func unseen(r rune) bool {
	return r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
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
