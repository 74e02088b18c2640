package manifest

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// keyLine finds what this expression finds.
func TestKeyLine(t *testing.T) {
	pattern := regexp.MustCompile(`^( *)("[^"\\]*"|'[^']*'|[\pL_$][\pL\pN_.$/ -]*?)[ \t]*:([ \t]+|$)`)
	parts := []string{" ", "\t", ":", ": ", `"`, "'", `\`, "a", "B", "_", "$", ".", "/", "-", "7", "é", "٣", "\u00a0", "\ufffd", "#", "x y"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var b strings.Builder
		for range rnd.IntN(9) {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		line := b.String()
		indent, key, value := keyLine(line)
		m := pattern.FindStringSubmatchIndex(line)
		if m == nil {
			if value != 0 {
				t.Fatalf("%q: got the key %q, want none", line, key)
			}
		} else if indent != m[3] || key != line[m[4]:m[5]] || value != m[1] {
			t.Fatalf("%q: got %d %q %d, want %d %q %d", line, indent, key, value, m[3], line[m[4]:m[5]], m[1])
		}
	}
}
