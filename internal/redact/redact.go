// Package redact replaces secrets in texts that leave the engine: results, errors, logs and traces.
//
// A Redactor knows the values of secrets and replaces each by [redacted NAME], as it is and in the forms that programs
// print: escaped for JSON or an address, in base64, in hexadecimal. A value of fewer than 8 bytes is left alone: it would
// match by chance. A secret that a program changes in another way is not found, so this is a net for accidents and no
// protection from a program that means to leak.
//
// Shapes replaces what looks like a key of a well-known service, without knowing it.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// MinLength is how many bytes a value must have to be replaced.
const MinLength = 8

// Secret is a value and the name that replaces it.
type Secret struct{ Name, Value string }

// Redactor replaces secrets. The zero value and nil replace nothing. It does not change after New, and is safe for
// concurrent use.
type Redactor struct {
	forms    []form
	replacer *strings.Replacer
}

// form is one way to write a secret.
type form struct{ text, mark string }

// New returns a Redactor for the secrets whose values are long enough. Of two names of one value the first counts.
func New(secrets []Secret) *Redactor {
	r := &Redactor{}
	seen := map[string]bool{}
	for _, s := range secrets {
		if len(s.Value) < MinLength {
			continue
		}
		for _, text := range forms(s.Value) {
			if len(text) >= MinLength && !seen[text] {
				seen[text] = true
				r.forms = append(r.forms, form{text, "[redacted " + s.Name + "]"})
			}
		}
	}
	slices.SortStableFunc(r.forms, func(a, b form) int { return len(b.text) - len(a.text) }) // the whole before its parts
	var pairs []string
	for _, f := range r.forms {
		pairs = append(pairs, f.text, f.mark)
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// forms returns the ways in which programs write a value.
func forms(value string) []string {
	out := []string{value, strings.TrimSpace(value), url.QueryEscape(value), url.PathEscape(value), jsonText(value), asciiText(value),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	for _, line := range strings.Split(value, "\n") { // of a private key
		if line = strings.TrimSpace(line); len(line) >= 2*MinLength {
			out = append(out, line)
		}
	}
	for skip := range 3 { // the value may stand in the middle of what was encoded
		out = append(out, inBase64(value, skip, base64.StdEncoding), inBase64(value, skip, base64.URLEncoding))
	}
	return out
}

// jsonText returns a value as it stands in a JSON text.
func jsonText(value string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // a string can be written
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// asciiText returns a value as it stands in a JSON text with HTML escapes.
func asciiText(value string) string {
	b, _ := json.Marshal(value)
	return strings.Trim(string(b), `"`)
}

// inBase64 returns the part of an encoding that depends on the value alone, if it follows skip other bytes.
func inBase64(value string, skip int, enc *base64.Encoding) string {
	text := enc.EncodeToString(append(make([]byte, skip), value...))
	first := []int{0, 2, 3}[skip]
	last := (skip + len(value)) * 8 / 6
	return text[first:min(last, len(text))]
}

// String returns a text without the secrets.
func (r *Redactor) String(text string) string {
	if r == nil || len(r.forms) == 0 {
		return text
	}
	return r.replacer.Replace(text)
}

// Bytes returns a text without the secrets: text itself if it has none. JSON stays JSON: a secret that is a whole number in it
// becomes a string.
func (r *Redactor) Bytes(text []byte) []byte {
	if r == nil || !r.has(text) {
		return text
	}
	out := []byte(r.replacer.Replace(string(text)))
	if json.Valid(out) || !json.Valid(text) {
		return out
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return out
	}
	again, err := json.Marshal(r.value(doc))
	if err != nil {
		return out
	}
	return again
}

func (r *Redactor) has(text []byte) bool {
	return slices.ContainsFunc(r.forms, func(f form) bool { return bytes.Contains(text, []byte(f.text)) })
}

// value returns a JSON value without the secrets.
func (r *Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.String(v)
	case json.Number:
		if text := r.String(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[r.String(key)] = r.value(value)
		}
		return out
	}
	return v
}

// Cut returns a text that was cut off at a limit without the beginning of a secret at its end, or the end of one at its
// beginning.
func (r *Redactor) Cut(text []byte, begins, ends bool) []byte {
	if r == nil {
		return text
	}
	for _, f := range r.forms {
		for n := min(len(f.text)-1, len(text)); ends && n >= MinLength/2; n-- {
			if strings.HasPrefix(f.text, string(text[len(text)-n:])) {
				text = text[:len(text)-n]
				break
			}
		}
		for n := min(len(f.text)-1, len(text)); begins && n >= MinLength/2; n-- {
			if strings.HasSuffix(f.text, string(text[:n])) {
				text = text[n:]
				break
			}
		}
	}
	return text
}
