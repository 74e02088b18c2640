package manifest

import (
	"regexp"
	"regexp/syntax"
	"testing"
)

// 1.4: matchesEmpty is what a match of the empty text says.
func FuzzMatchesEmpty(f *testing.F) {
	for _, s := range []string{".*", "a+", "a*b*", "a|", "(a?)+", "(a{0,3}b?){2}", "^$", `\b`, `\B`, "", "[^a]", "(?i)x*|y", "a{2}", `\bcsv\b`, "(|a)b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := syntax.Parse(s, syntax.Perl)
		if err != nil || len(s) > maxPatternText {
			return
		}
		re, err := regexp.Compile(s)
		if err != nil {
			return
		}
		if got, want := matchesEmpty(tree), re.MatchString(""); got != want {
			t.Errorf("%q: got %t, want %t", s, got, want)
		}
	})
}
