package disclose

import (
	"strconv"
	"unicode/utf8"
)

func jsonItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, `{"name":`...)
	b = r.jsonLine(b, it.e.Name())
	b = append(b, `,"description":`...)
	b = r.jsonLine(b, it.desc)
	b = append(b, `,"location":`...)
	b = appendJSON(b, it.place)
	return append(b, '}')
}

func jsonName(b []byte, r *renderer, it *item) []byte {
	b = append(b, `{"name":`...)
	b = r.jsonLine(b, it.e.Name())
	b = appendOrigin(b, it, `,"description":"`, `"`)
	return append(b, '}')
}

// jsonLine appends s on one line as a JSON string.
func (r *renderer) jsonLine(b []byte, s string) []byte {
	r.line = appendLine(r.line[:0], s, escapeNone)
	return appendJSON(b, r.line)
}

func jsonTail(b []byte, r *renderer) []byte {
	b = append(b, ']')
	return jsonMore(b, r.more, r.o.Search)
}

func jsonClosing(b []byte, more int, search string) []byte {
	return jsonMore(append(b, `{"skills":[]`...), more, search)
}

func jsonMore(b []byte, more int, search string) []byte {
	if more > 0 {
		b = append(b, `,"more":`...)
		b = strconv.AppendInt(b, int64(more), 10)
		b = append(b, `,"search":`...)
		b = appendJSON(b, search)
	}
	return append(b, '}')
}

// appendJSON appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD; <, > and & stay,
// since the text is not put into HTML.
func appendJSON[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0 // what was not copied yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		n := 1
		if c < utf8.RuneSelf {
			b = appendEscape(b, c)
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			b = utf8.AppendRune(b, r)
		}
		i += n
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

const hex = "0123456789abcdef"

func appendEscape(b []byte, c byte) []byte {
	if c == '"' || c == '\\' {
		return append(b, '\\', c)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
