package disclose

import (
	"html"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

// The table of plain bytes says what the slow definition says.
func TestPlainTable(t *testing.T) {
	for c := range 256 {
		want := c == ' ' || c > ' ' && c < 0x7f && !strings.ContainsRune(`&<>"'`, rune(c))
		if got := plain[c] == 'p'; got != want {
			t.Errorf("%#x: got %v, want %v", c, got, want)
		}
	}
}

// FuzzAppendLine holds the fast path against its definition. C14.
func FuzzAppendLine(f *testing.F) {
	for _, s := range []string{"", " a  b ", "a\n\nb", "<x>&\"'", "é\u00a0\u2028 x", "\xff \xfe", "a <b> c", "  ", "a\x00b", "1234567  1234567  <"} {
		f.Add(s)
	}
	python := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;")
	f.Fuzz(func(t *testing.T, s string) {
		words := strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		want := strings.Join(words, " ")
		got := string(appendLine([]byte("x:"), s, escapeNone))
		if runs(got[2:]) != runs(want) {
			t.Errorf("%q: got %q, want %q", s, got[2:], want)
		}
		if got, want := string(appendLine(nil, want, escapeAll)), python.Replace(want); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
		if got, want := string(escapeRef(nil, s)), python.Replace(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
		if got := string(appendLine(nil, s, escapeTags)); strings.ContainsAny(got, "<>\n\r") {
			t.Errorf("%q: got %q", s, got)
		}
		if back := html.UnescapeString(string(escapeRef(nil, "<"+s))); !strings.HasPrefix(back, "<") {
			t.Errorf("%q: got %q", s, back)
		}
	})
}

// runs makes one U+FFFD of several: ToValidUTF8 joins bad bytes, appendLine keeps each.
func runs(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}

// Eight bytes at once are judged as one after the other, but for bytes beyond ASCII and pairs that are left to the
// slow way.
func TestPlain8(t *testing.T) {
	for first := range 256 {
		for second := range 256 {
			for at := range 7 {
				b := []byte("abcdefgh")
				b[at], b[at+1] = byte(first), byte(second)
				got, want := plain8(words.Load8(string(b))), plain[first] == 'p' && plain[second] == 'p' && (first != ' ' || second != ' ')
				if got != want {
					t.Fatalf("%q: got %v, want %v", b, got, want)
				}
			}
		}
	}
}
