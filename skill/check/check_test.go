package check

import "testing"

func TestFoldedPathASCII(t *testing.T) { // security 2.2 #25
	for c := range rune(0x80) {
		if got, want := foldedPath(string(c)), foldedPath(string(c)+"é"); got+"É" != want {
			t.Errorf("%q: got %q, next to another letter %q", c, got, want)
		}
	}
}
