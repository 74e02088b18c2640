package output

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
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
func (p *Printer) JSONError(f *failure.Error) {
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	said := map[string]body{"error": {f.Code, f.Err.Error(), p.Typed(f.Hint)}}
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
	at, size := nextUnseen(p)
	if size == 0 {
		return s.w.Write(p)
	}
	var b bytes.Buffer
	for rest := p; len(rest) > 0; at, size = nextUnseen(rest) {
		b.Write(rest[:at])
		for _, unit := range utf16.Encode([]rune(string(rest[at : at+size]))) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		rest = rest[at+size:]
	}
	_, err := s.w.Write(b.Bytes())
	return len(p), err
}

// nextUnseen returns where the next unseen character of p begins, and its length. Without one it returns len(p) and 0.
func nextUnseen(p []byte) (at, size int) {
	for at < len(p) {
		if len(p)-at >= 8 && seen8(binary.LittleEndian.Uint64(p[at:])) {
			at += 8
			continue
		}
		if p[at] < utf8.RuneSelf-1 {
			at++
			continue
		}
		r, size := utf8.DecodeRune(p[at:])
		if unseen(r) {
			return at, size
		}
		at += size
	}
	return at, 0
}

// unseen reports whether a character is a control or a format character that JSON allows in a string.
func unseen(r rune) bool {
	return r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

const ones = 0x0101010101010101 // the byte 1 eight times

// seen8 reports whether no byte of x is 0x7f or has the highest bit.
func seen8(x uint64) bool { return (x|(x+ones))&(ones*0x80) == 0 }

// plain8 reports whether all bytes of x stand for themselves in a JSON string. It may return false for some that do.
func plain8(x uint64) bool {
	quote, slash := x^ones*'"', x^ones*'\\'
	return seen8(x) && ((x-ones*' ')|(quote-ones)|(slash-ones))&(ones*0x80) == 0
}

// AppendText appends a text as JSON, as JSON writes it.
func AppendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // of what is not yet written
	for i := 0; i < len(s); {
		if len(s)-i >= 8 && plain8(bits(s[i:])) {
			i += 8
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= ' ' && r != '"' && r != '\\' && !unseen(r) && !(r == utf8.RuneError && size == 1) {
			i += size
			continue
		}
		b = appendEscape(append(b, s[from:i]...), r)
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// bits returns the first eight bytes of s.
func bits(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func appendEscape(b []byte, r rune) []byte {
	if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
		return append(b, '\\', "\"\\bfnrt"[i])
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		b = fmt.Appendf(b, `\u%04x`, unit)
	}
	return b
}

// List is an object with one list, and members that come after it.
type List[T any] struct {
	Key    string
	Items  []T
	Append func([]byte, T) []byte // appends an item as JSON; several run at a time
	More   []Member
}

// Member is one more member of the object.
type Member struct {
	Key   string
	Value any
}

// PrintList prints a list as JSON. To a pipe it writes one block of items after another, so memory does not grow with the list.
func PrintList[T any](p *Printer, l *List[T]) error {
	return document(p.Out, p.OutTerminal, l.write)
}

func (l *List[T]) write(w io.Writer) error {
	if _, err := io.WriteString(w, `{"`+l.Key+`":[`); err != nil {
		return err
	}
	if err := l.writeItems(shown{w}); err != nil {
		return err
	}
	end := []byte("]")
	for _, m := range l.More {
		var b bytes.Buffer
		if err := writeJSON(&b, m.Value); err != nil {
			return err
		}
		end = append(append(end, `,"`+m.Key+`":`...), bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	}
	_, err := w.Write(append(end, "}\n"...))
	return err
}

// writeItems writes the items in blocks. Several goroutines make the next ones meanwhile.
func (l *List[T]) writeItems(w io.Writer) error {
	const size = 64
	type block struct {
		text []byte
		made chan struct{}
	}
	count := (len(l.Items) + size - 1) / size
	ahead := make([]block, min(count, runtime.GOMAXPROCS(0)))
	begin := func(k int) {
		b := &ahead[k%len(ahead)]
		go func() {
			b.text = l.encode(b.text[:0], l.Items[k*size:min((k+1)*size, len(l.Items))], k > 0)
			b.made <- struct{}{}
		}()
	}
	for k := range ahead {
		ahead[k].made = make(chan struct{}, 1)
		begin(k)
	}
	for k := range count {
		b := &ahead[k%len(ahead)]
		<-b.made
		if _, err := w.Write(b.text); err != nil {
			return err
		}
		if k+len(ahead) < count {
			begin(k + len(ahead))
		}
	}
	return nil
}

// encode appends items as JSON with commas between them, and before the first if more is set.
func (l *List[T]) encode(b []byte, items []T, more bool) []byte {
	for _, item := range items {
		if more {
			b = append(b, ',')
		}
		more = true
		b = l.Append(b, item)
	}
	return b
}
