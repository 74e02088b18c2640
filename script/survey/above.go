package survey

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

var (
	ownPlace = lazyregexp.New(`__file__|__dirname|__filename|import\.meta|BASH_SOURCE|\$0\b|\$\{0`)
	named    = lazyregexp.New(`^\s*(?:(?:const|let|var|export|local|readonly)\s+)*(\w+)\s*=[^=]`)
	word     = lazyregexp.New(`\w+`)
	stepUp   = lazyregexp.New(`\.parent\b|\bdirname\b|\.\.(?:/|\\|"|')|\.parents\[(\d{1,2})\]`)
)

// mostPlaces is how many names of folders LooksAbove follows in one script.
const mostPlaces = 20

// LooksAbove returns how many folders above the skill a script goes from its own place, in one line, from a folder to which it gave a
// name, or by an import of JavaScript; 0 if it stays in the skill. file is the script's slash path in the skill.
func LooksAbove(file string, text []byte) int {
	above := 0
	inside := 1 + strings.Count(file, "/") // steps to the skill's folder
	places := map[string]int{}             // steps to the folders that have names
	lang := LanguageIn(file, text)
	for line := range bytes.Lines(text) {
		if len(line) > maxUsageLine {
			continue
		}
		if (lang == JavaScript || lang == TypeScript) && !isRemark(line) {
			for _, m := range ownFile().FindAllSubmatch(line, -1) {
				above = max(above, strings.Count(path.Join(path.Dir(file), string(m[1]))+"/", "../"))
			}
		}
		from, ok := stepsBefore(line, places)
		if !ok {
			continue
		}
		steps := from + stepsIn(line)
		above = max(above, steps-inside)
		if m := named().FindSubmatch(line); m != nil && len(places) < mostPlaces {
			places[string(m[1])] = steps
		}
	}
	return above
}

// stepsBefore returns how far up the place is from which a line goes, and false for a line that goes from none.
func stepsBefore(line []byte, places map[string]int) (int, bool) {
	switch {
	case bytes.Contains(line, []byte("__dirname")):
		return 1, true
	case ownPlace().Match(line):
		return 0, true
	}
	for _, w := range word().FindAll(line[:min(len(line), maxUsageLine)], -1) {
		if steps, ok := places[string(w)]; ok {
			return steps, true
		}
	}
	return 0, false
}

func stepsIn(line []byte) int {
	steps := 0
	for _, m := range stepUp().FindAllSubmatch(line, -1) {
		steps++
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			steps += n
		}
	}
	return steps
}
