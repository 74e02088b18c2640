package survey

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/want"
)

// Limits of Variables.
const (
	maxVariables = 200     // names
	maxText      = 1 << 20 // bytes of the text
)

// Variables returns the environment variables that the text of a script reads which no grammar reads. It looks for the usual ways of
// the language, so it misses names that are computed and may name one that is never reached. A variable that the script only sets is
// not one. It knows nothing of shells.
func Variables(lang Language, text []byte) want.Set {
	found := map[string]bool{}
	source := string(text[:min(len(text), maxText)])
	row := lang.Row()
	if slices.Contains(row.Syntax.Line, "#") {
		source = withoutComments(source)
	}
	reads(row.Reads).find(source, found)
	if lang == Python {
		byConstant(source, found)
	}
	names := slices.Sorted(maps.Keys(found))
	return want.Each(want.Variable, want.Seen, names[:min(len(names), maxVariables)]...)
}

// reads are the expressions that read a variable. The first group of each is its name, and a second one, if it matches, shows
// that the variable is set in place of read.
type reads []func() *regexp.Regexp

func (r reads) find(text string, found map[string]bool) {
	for _, expression := range r {
		for _, m := range expression().FindAllStringSubmatch(text, -1) {
			if len(m) < 3 || m[2] == "" || strings.HasPrefix(m[2], "==") || strings.HasPrefix(m[2], "=~") || strings.HasPrefix(m[2], "=>") {
				found[m[1]] = true
			}
		}
	}
}

var (
	constantValue = lazyregexp.New(`(?m)^[ \t]*([A-Z_][A-Z0-9_]*)[ \t]*=[ \t]*["']([A-Za-z_][A-Za-z0-9_]*)["']`)
	constantRead  = lazyregexp.New(`\b(?:environ(?:\.get|\.pop)?|getenv)\s*[\[(]\s*([A-Z_][A-Z0-9_]*)\s*[\]),]`)
)

// byConstant finds the names that a Python script reads by a constant: KEY = "A_KEY"; os.environ[KEY].
func byConstant(text string, found map[string]bool) {
	values := map[string]string{}
	for _, m := range constantValue().FindAllStringSubmatch(text, -1) {
		values[m[1]] = m[2]
	}
	for _, m := range constantRead().FindAllStringSubmatch(text, -1) {
		if name := values[m[1]]; name != "" {
			found[name] = true
		}
	}
}

// commentLine is a line that is only a comment.
var commentLine = lazyregexp.New(`(?m)^[ \t]*#.*$`)

func withoutComments(text string) string { return commentLine().ReplaceAllString(text, "") }
