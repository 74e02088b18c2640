package disclose

import (
	"slices"
	"strings"
	"unicode"
)

// shield is Shield for the tags of our own frame.
func shield(body string) string { return Shield(body, "skillcontent", "skillresources") }

// Shield returns body with each "<" that begins one of tags replaced by "&lt;", so no body can end its frame, open another
// or list resources. It ignores case, spaces, slashes and characters without width between the letters. A tag is given by
// its first letters, a to z only, at most 14.
func Shield(body string, tags ...string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(body, '<')
		if i < 0 {
			b.WriteString(body)
			return b.String()
		}
		b.WriteString(body[:i])
		if framing(body[i+1:], tags) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		body = body[i+1:]
	}
}

// framing reports whether s, the text after a "<", begins with one of tags.
func framing(s string, tags []string) bool {
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
	return slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(string(name), tag) })
}
