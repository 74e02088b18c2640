package survey

import (
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/want"
)

// Limits of Variables.
const (
	maxVariables = 200     // names
	maxText      = 1 << 20 // bytes of the text
)

// Variables returns the environment variables that the text of a script reads. It looks for the usual
// ways of the language, so it misses names that are computed and may name one that is never reached. A variable that the
// script only sets is not one, nor are those that a shell sets itself.
func Variables(lang Language, text []byte) want.Set {
	found := map[string]bool{}
	source := string(text[:min(len(text), maxText)])
	row := lang.Row()
	if slices.Contains(row.Syntax.Line, "#") {
		source = withoutComments(source)
	}
	reads(row.Reads).find(source, found)
	switch lang {
	case Python:
		byConstant(source, found)
	case JavaScript, TypeScript:
		destructured(source, found)
	case Shell:
		v := shellVariables{map[string]bool{}, found}
		v.script(lexShell(source))
		for _, inner := range []Language{Python, JavaScript} { // programs in here-documents
			reads(inner.Row().Reads).find(source, found)
		}
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

var destructuring = lazyregexp.New(`(?:const|let|var)\s*\{([^{}]*)\}\s*=\s*(?:process|Bun)\.env\b`)

// destructured finds the names in const { A, B: b = 1 } = process.env.
func destructured(text string, found map[string]bool) {
	for _, m := range destructuring().FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(m[1], ",") {
			name, _, _ := strings.Cut(part, ":")
			name, _, _ = strings.Cut(name, "=")
			if name = strings.TrimSpace(name); isVariable(name) {
				found[name] = true
			}
		}
	}
}

// isVariable reports whether a text is the name of an environment variable as programs use them.
func isVariable(name string) bool { return variableName().MatchString(name) }

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// FileVariables returns the Variables of a file of a skill, by its extension or #! line. It returns none for a file that
// cannot be read.
func FileVariables(fsys fs.FS, file string) want.Set {
	f, err := fsys.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return nil
	}
	lang := language.OfModule(file)
	if lang == "" {
		lang = LanguageIn(file, text)
	}
	return Variables(lang, text)
}
