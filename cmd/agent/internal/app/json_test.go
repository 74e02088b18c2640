package app

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Control characters of a terminal do not come out of --json unchanged (security 2.14 #184), and the value is the same.
func TestWriteJSON(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a<b>é日本", `"a<b>é日本"`},
		{"controls", "\x1b[2J\x7f\u009b2J\u0085", `"\u001b[2J\u007f\u009b2J\u0085"`},
		{"directions and hidden letters", "\u202ea\u200bb\u2028\U000e0041", `"\u202ea\u200bb\u2028\udb40\udc41"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := writeJSON(&b, c.text); err != nil || b.String() != c.want+"\n" {
				t.Errorf("got %s, %v; want %s", b.String(), err, c.want)
			}
			var back string
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != c.text {
				t.Errorf("it reads as %q, %v", back, err)
			}
		})
	}
}
