package disclose

import (
	"strings"
	"unicode"
)

// shield returns body with each "<" that begins one of our frame's tags as "&lt;", so that no body
// can end its frame, open another or list resources. It sees through case, blanks, slashes and
// characters without width between the letters.
func shield(body string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(body, '<')
		if i < 0 {
			b.WriteString(body)
			return b.String()
		}
		b.WriteString(body[:i])
		if framing(body[i+1:]) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		body = body[i+1:]
	}
}

// framing reports whether s, which follows a "<", goes on as a tag of the frame.
func framing(s string) bool {
	var b [len("skillresources")]byte
	name := b[:0]
	for _, r := range s {
		if r == '<' || r == '>' || len(name) == len(b) {
			break
		}
		if r = unicode.ToLower(r); r >= 'a' && r <= 'z' {
			name = append(name, byte(r))
		} else if unicode.IsLetter(r) || unicode.IsDigit(r) {
			break
		}
	}
	return strings.HasPrefix(string(name), "skillcontent") || strings.HasPrefix(string(name), "skillresources")
}
