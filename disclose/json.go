package disclose

import (
	"strconv"
	"unicode/utf8"
)

func jsonItem(b []byte, r *renderer, it *item) []byte {
	b = append(b, `{"name":`...)
	b = appendJSON(b, string(appendLine(nil, it.e.Name(), escapeNone)))
	b = append(b, `,"description":`...)
	b = appendJSON(b, string(appendLine(nil, it.desc, escapeNone)))
	b = append(b, `,"location":`...)
	b = appendJSON(b, r.place(it.e))
	return append(b, '}')
}

func jsonName(b []byte, _ *renderer, it *item) []byte {
	b = append(b, `{"name":`...)
	b = appendJSON(b, string(appendLine(nil, it.e.Name(), escapeNone)))
	return append(b, '}')
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
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == '\u2028' || r == '\u2029' {
				b = append(b, `\u202`...)
				b = append(b, hex[r&15])
			} else {
				b = utf8.AppendRune(b, r)
			}
			i += n
			continue
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
