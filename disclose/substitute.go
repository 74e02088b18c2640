package disclose

import (
	"iter"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/placeholder"
)

// values holds the values of placeholders.
type values struct {
	args  string            // all arguments, unchanged
	list  []string          // split as a shell does
	named map[string]string // $name, and ${NAME} under its name with "{" before it
	sizes []int             // lengths that names have, the longest first, each once
	dir   string            // the folder of the skill, for its placeholders; "" leaves them unchanged
	skill string            // the name of the skill
	own   bool              // the body gives the variable SKILL_DIR a value of its own
	plain bool              // the skill does not say that it takes arguments: $N is no placeholder

	full bool // set by substitute: a value was left out because the text grew too much
}

// mostFilled is how many bytes a body may grow. Without it a body of many placeholders makes gigabytes of a long argument.
const mostFilled = 1 << 20

// newValues splits args and gives the names of the manifest their positions.
func newValues(args string, names []string, vars map[string]string) *values {
	v := &values{args: args, list: splitArgs(args), named: map[string]string{}}
	for name, s := range vars {
		v.named["{"+name] = s
	}
	for i, name := range names {
		if _, taken := v.named[name]; taken || !argumentName(name) {
			continue
		}
		v.named[name] = ""
		v.sizes = append(v.sizes, len(name))
		if i < len(v.list) {
			v.named[name] = v.list[i]
		}
	}
	slices.Sort(v.sizes)
	v.sizes = slices.Compact(v.sizes)
	slices.Reverse(v.sizes)
	return v
}

// argumentName reports whether $name can be a placeholder: it must not look like an index and must
// be made of what a word is made of, or hyphens.
func argumentName(name string) bool {
	return name != "" && name != "ARGUMENTS" && !digitByte(name[0]) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !nameByte(byte(r)) && r != '-' })
}

// substitute fills in the placeholders of body in one pass; a value that was filled in is not expanded again. used reports
// whether any argument was filled in. unknown lists the ${CLAUDE_…} and ${AGENT_…} without a value, which stay unchanged.
//
// The rules are Claude Code's: $ARGUMENTS, $ARGUMENTS[N], $N with $0 the first, $name. An index
// that was not given stays literal, a name that was not given is empty. One backslash before an
// argument's placeholder keeps it literal and goes away; two do not. Other than there, $N stays literal in the body of a skill
// that does not say that it takes arguments, in a program of awk, and where it is an amount of money, as $1,000: nearly every body that has one
// means its own text. Once the text has grown by mostFilled, what would make it longer stays literal.
func (v *values) substitute(body string) (out string, used bool, unknown []string) {
	var b strings.Builder
	b.Grow(len(body) + min(len(v.args), mostFilled))
	grown, whole, programs := 0, len(body), awkPrograms(body)
	for {
		i := strings.IndexAny(body, "${<~")
		if i < 0 {
			b.WriteString(body)
			return b.String(), used, unknown
		}
		tok := v.token(body[i:])
		before := body[:i]
		switch {
		case tok.variable != "":
			unknown = append(unknown, tok.variable)
		case tok.argument && escaped(before):
			before = before[:i-1]
			tok.text = body[i : i+tok.len]
		case tok.position && (v.plain || isAmount(body[i+tok.len:]) || within(programs, whole-len(body)+i)):
			tok.text = body[i : i+tok.len]
		case tok.argument && !tok.missing:
			used = true
		}
		if more := len(tok.text) - tok.len; more > 0 {
			if grown += more; grown > mostFilled {
				v.full = true
				tok.text = body[i : i+tok.len]
				grown -= more
			}
		}
		b.WriteString(before)
		b.WriteString(tok.text)
		body = body[i+tok.len:]
	}
}

// awkProgram is a program of awk between single quotes.
var awkProgram = lazyregexp.New(`\b[gmn]?awk\b[^'\n]*'[^']*'`)

// awkPrograms returns where the programs of awk in a body begin and end, in order.
func awkPrograms(body string) [][]int {
	if !strings.Contains(body, "awk") {
		return nil
	}
	return awkProgram().FindAllStringIndex(body, -1)
}

func within(spans [][]int, at int) bool {
	return slices.ContainsFunc(spans, func(s []int) bool { return s[0] <= at && at < s[1] })
}

// isAmount reports whether a number goes on in s, as that of $1,000 or $0.06 does.
func isAmount(s string) bool { return len(s) > 1 && (s[0] == ',' || s[0] == '.') && digitByte(s[1]) }

// escaped reports whether s ends with exactly one backslash.
func escaped(s string) bool { return strings.HasSuffix(s, `\`) && !strings.HasSuffix(s, `\\`) }

// folder gives the skill's folder in place of a placeholder for it.
func (v *values) folder(s string) (token, bool) {
	n := placeholder.Folder(s, v.skill)
	if n == 0 || v.dir == "" || v.own && placeholder.OfVariable(s[:n]) {
		return token{}, false
	}
	if _, taken := v.named[strings.TrimPrefix(s[:n], "$")]; taken {
		return token{}, false
	}
	return token{len: n, text: v.dir}, true
}

// token is the placeholder at one "$", "{", "<" or "~".
type token struct {
	len      int    // bytes of the body
	text     string // its replacement
	argument bool   // it stands for arguments
	position bool   // it is $N
	missing  bool   // which were not given that far
	variable string // a ${…} without a value
}

// token reads the placeholder at the character that s begins with.
func (v *values) token(s string) token {
	if t, ok := v.folder(s); ok {
		return t
	}
	literal := token{len: 1, text: s[:1]}
	rest := s[1:]
	switch {
	case s[0] == '{':
		n := len(s) - len(strings.TrimLeft(s, "{"))
		return token{len: n, text: s[:n]}
	case s[0] != '$':
		return literal
	case strings.HasPrefix(rest, "{"):
		return v.variable(s)
	case strings.HasPrefix(rest, "ARGUMENTS"):
		n := len("$ARGUMENTS")
		if digits := leadingDigits(s[n:], "["); digits != "" && strings.HasPrefix(s[n+1+len(digits):], "]") {
			return v.index(digits, s[:n+len(digits)+2])
		}
		if n < len(s) && nameByte(s[n]) {
			return literal
		}
		return token{len: n, text: v.args, argument: true}
	case rest != "" && digitByte(rest[0]):
		digits := leadingDigits(rest, "")
		if n := len(digits); n < len(rest) && nameByte(rest[n]) {
			return literal
		}
		t := v.index(digits, s[:1+len(digits)])
		t.position = true
		return t
	}
	return v.name(rest, literal)
}

// index gives the argument at a position, or the placeholder itself when there is none.
func (v *values) index(digits, placeholder string) token {
	n := 0
	for _, d := range []byte(digits) {
		if n = n*10 + int(d-'0'); n >= len(v.list) {
			return token{len: len(placeholder), text: placeholder, argument: true, missing: true}
		}
	}
	return token{len: len(placeholder), text: v.list[n], argument: true}
}

// name gives the value of the longest argument name that rest begins with.
func (v *values) name(rest string, literal token) token {
	for n := range v.ends(rest) {
		if text, ok := v.named[rest[:n]]; ok {
			return token{len: 1 + n, text: text, argument: true}
		}
	}
	return literal
}

// ends yields where a name that rest begins with may end, the longest first. It looks no further than the longest
// name reaches and yields no length that none has: else a body of one long word would be read again for each byte.
func (v *values) ends(rest string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(v.sizes) == 0 {
			return
		}
		word := 0
		for most := min(len(rest), v.sizes[0]); word < most && (nameByte(rest[word]) || rest[word] == '-'); {
			word++
		}
		for _, n := range v.sizes {
			closed := n == len(rest) || n < len(rest) && !nameByte(rest[n]) && rest[n] != '['
			if n <= word && closed && !yield(n) {
				return
			}
		}
	}
}

// maxVariable is how many bytes a ${NAME} has at most.
const maxVariable = 65

// variable gives the value of a ${NAME}.
func (v *values) variable(s string) token {
	s = variableWindow(s)
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return token{len: 2, text: "${"}
	}
	if text, ok := v.named[s[1:end]]; ok {
		return token{len: end + 1, text: text}
	}
	t := token{len: 2, text: "${"}
	if name := s[2:end]; strings.HasPrefix(name, "CLAUDE_") || strings.HasPrefix(name, "AGENT_SKILL_") {
		t.variable = name
	}
	return t
}

// variableWindow is as much of s as is searched for the end of a ${NAME}: a body of openings alone would else be
// read to its end for each.
func variableWindow(s string) string { return s[:min(len(s), maxVariable)] }

// leadingDigits returns the digits that s begins with after prefix.
func leadingDigits(s, prefix string) string {
	s, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return ""
	}
	n := 0
	for n < len(s) && digitByte(s[n]) {
		n++
	}
	return s[:n]
}

func digitByte(c byte) bool { return c >= '0' && c <= '9' }

func nameByte(c byte) bool { return c == '_' || c < 0x80 && words.InWord(c) }

// splitArgs splits s at spaces as a shell does, with quotes and backslashes. If a quote is not closed, quotes have no
// meaning.
func splitArgs(s string) []string {
	var out []string
	var b strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(s) && (quote == 0 || strings.IndexByte("\"\\$`", s[i+1]) >= 0):
			i++
			b.WriteByte(s[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			if inWord {
				out = append(out, b.String())
				b.Reset()
			}
			inWord = false
		default:
			b.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return strings.Fields(s)
	}
	if inWord {
		out = append(out, b.String())
	}
	return slices.Clip(out)
}
