package script

import (
	"bytes"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// mostFrames is how many calls are left of a stack trace, the innermost.
const mostFrames = 3

// frame finds a line of a stack trace of JavaScript or Java, inFramework one that is not in the script's own code.
var (
	frame       = lazyregexp.New(`^\s+at \S.*`)
	inFramework = lazyregexp.New(`[( ]node:internal/|^\s+at (java|jdk)\.`)
)

// shortTraces leaves calls out of stack traces that begin with the error, as those of JavaScript do: the end of such a text has only
// calls of the runtime. A text that is short enough stays as it is.
func shortTraces(b []byte) []byte {
	if len(b) <= StderrTail || !bytes.Contains(b, []byte(" at ")) {
		return b
	}
	var out []byte
	frames := 0
	for line := range bytes.Lines(b) {
		if !frame().Match(line) {
			frames = 0
			out = append(out, line...)
			continue
		}
		if frames == mostFrames || inFramework().Match(line) {
			continue
		}
		frames++
		out = append(out, line...)
	}
	return out
}
