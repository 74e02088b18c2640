package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode"
	"unicode/utf16"
)

// JSON prints the one document of a command's --json.
func (p *Printer) JSON(v any) error {
	return document(p.Out, p.OutTerminal, func(w io.Writer) error { return writeJSON(w, v) })
}

// JSONLine prints a document on one line and flushes it.
func (p *Printer) JSONLine(v any) error {
	if err := writeJSON(p.Out, v); err != nil {
		return err
	}
	return p.Flush()
}

// JSONText prints a document that is JSON on one line already: a tool's envelope, or a script's answer.
func (p *Printer) JSONText(line []byte) error {
	return document(p.Out, p.OutTerminal, func(w io.Writer) error {
		_, err := shown{w}.Write(slices.Concat(line, []byte("\n")))
		return err
	})
}

// JSONError prints on stderr why the command failed.
func (p *Printer) JSONError(f *Failure) {
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	said := map[string]body{"error": {f.Code, f.Err.Error(), f.Hint}}
	_ = document(p.Err, p.ErrTerminal, func(w io.Writer) error { return writeJSON(w, said) })
}

// document writes one JSON document, which line writes on one line: so for a pipe, and indented for a person. Whatever
// prints JSON uses it, except the steps of agent -p --stream, which are one line each.
func document(to io.Writer, person bool, line func(io.Writer) error) error {
	if !person {
		return line(to)
	}
	var b, indented bytes.Buffer
	if err := line(&b); err != nil {
		return err
	}
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := indented.WriteTo(to)
	return err
}

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

// List is an object with one list, and members that come after it.
type List[T any] struct {
	Key   string
	Items iter.Seq[T]
	More  []Member
}

// Member is one more member of the object.
type Member struct {
	Key   string
	Value any
}

// PrintList prints a list as JSON. To a pipe it writes one item after another, so memory does not grow with the list.
func PrintList[T any](p *Printer, l *List[T]) error {
	return document(p.Out, p.OutTerminal, l.write)
}

func (l *List[T]) write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`{"` + l.Key + `":[`)
	first := true
	for item := range l.Items {
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
	b.WriteByte(']')
	for _, m := range l.More {
		b.WriteString(`,"` + m.Key + `":`)
		if err := writeJSON(&b, m.Value); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("}\n")
	_, err := b.WriteTo(w)
	return err
}
