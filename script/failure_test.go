package script

import (
	"strings"
	"testing"
)

// The error of a stack trace that begins with it is not lost among the calls of the runtime.
func TestShortTraces(t *testing.T) {
	path := "(/home/ada/.agents/skills/report/scripts/make.js:10:5)\n"
	internal := strings.Repeat("    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n", 6)
	node := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 5) + internal + "\nNode.js v20.20.2\n"
	want := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 3) + "\nNode.js v20.20.2\n"
	if got := string(shortTraces([]byte(node))); got != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", internal[:100], strings.Repeat("look at this\n", 100)} {
		if got := string(shortTraces([]byte(text))); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}
