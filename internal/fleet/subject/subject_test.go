package subject

import (
	"regexp"
	"testing"
)

// No name is another's token, nor a wildcard or a separator in it.
func TestToken(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9]+$`)
	seen := map[string]string{}
	for _, name := range []string{"", "a", "A", "t", "t0", "*", ">", ".", "a.b", "a.b.", "a b", "ä", "a\u0308", "a\x00", "\xff", "a\r\nb", Token("a"), "$JS.API.>"} {
		got := Token(name)
		if !plain.MatchString(got) {
			t.Errorf("%q: %q", name, got)
		}
		if was, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %q", was, name, got)
		}
		seen[got] = name
	}
}
