package survey

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

var (
	ownPlace = lazyregexp.New(`__file__|__dirname|__filename|import\.meta|BASH_SOURCE|\$0\b|\$\{0`)
	stepUp   = lazyregexp.New(`\.parent\b|\bdirname\b|\.\.(?:/|\\|"|')|\.parents\[(\d{1,2})\]`)
)

// LooksAbove reports whether a line of a script goes from the script's own place to a folder above the skill. file is the
// script's slash path in the skill.
func LooksAbove(file string, text []byte) bool {
	inside := 1 + strings.Count(file, "/") // steps to the skill's folder
	for line := range bytes.Lines(text) {
		if len(line) > maxUsageLine || !ownPlace().Match(line) {
			continue
		}
		steps := 0
		if bytes.Contains(line, []byte("__dirname")) {
			steps = 1
		}
		for _, m := range stepUp().FindAllSubmatch(line, -1) {
			steps++
			if n, err := strconv.Atoi(string(m[1])); err == nil {
				steps += n
			}
		}
		if steps > inside {
			return true
		}
	}
	return false
}
