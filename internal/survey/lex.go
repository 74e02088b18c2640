package survey

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// MaxText is the most bytes of a script that are examined.
const MaxText = 256 << 10

// Beginning returns the first MaxText bytes of a script, nil when it cannot be read.
func Beginning(fsys fs.FS, name string) []byte {
	f, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, MaxText))
	return b
}

// LanguageIn returns the language of a script from its extension, or from the #! line that its text begins with.
func LanguageIn(file string, text []byte) Language {
	if lang := LanguageOf(file); lang != "" {
		return lang
	}
	bang, err := ParseShebang(text[:min(len(text), headBytes)])
	if err != nil {
		return ""
	}
	return LanguageNamed(bang.Name())
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	wordToken tokenKind = iota // a name or a number
	textToken                  // the content of a string
	markToken                  // one other character
)

// token is one piece of a program. Comments and texts that follow << are not tokens.
type token struct {
	kind tokenKind
	s    string
	line int // how many line ends outside texts and comments come before it
	end  int // of a text: the offset of its end
}

func (t token) is(kind tokenKind, s string) bool { return t.kind == kind && t.s == s }

// lexer splits the text of a program into tokens. What it cannot read it takes for marks: it never fails.
type lexer struct {
	language.Syntax
	src    string
	at     int
	lines  int // before at
	tokens []token
	ends   []string // of the texts that follow << and begin on the next line
	divide int      // up to here no / begins an expression
}

// lex returns the tokens of the beginning of a program, none in a language without a grammar.
func lex(lang Language, src []byte) []token {
	src = src[:min(len(src), MaxText)]
	syntax := lang.Row().Syntax
	if syntax.Quotes == "" {
		return nil
	}
	l := &lexer{Syntax: syntax, src: string(src)}
	if strings.HasPrefix(l.src, "#!") {
		l.skipLine()
	}
	l.skipComment()
	for l.at < len(l.src) {
		l.next()
	}
	return l.tokens
}

// A Literal is a text that stands in a program, with its escapes as written.
type Literal struct {
	Text string
	Line int // from 1, on which it begins
}

// Texts returns the texts in the first MaxText bytes of a program, without parsing it, none of a shell script: for a program that no
// grammar can read.
func Texts(lang Language, src []byte) []Literal {
	var out []Literal
	line, at := 1, 0
	for _, t := range lex(lang, src) {
		if t.kind == textToken && t.s != "" {
			begin := t.end - len(t.s)
			line += strings.Count(string(src[at:begin]), "\n")
			at = begin
			out = append(out, Literal{t.s, line})
		}
	}
	return out
}

func (l *lexer) add(kind tokenKind, s string) {
	l.tokens = append(l.tokens, token{kind, s, l.lines, l.at})
}

func (l *lexer) next() {
	rest := l.src[l.at:]
	c := rest[0]
	switch {
	case c == '\n':
		l.newline()
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case l.comment(rest) && !(c == '#' && l.at > 0 && l.src[l.at-1] == '$'):
		l.skipLine()
	case l.Block[0] != "" && strings.HasPrefix(rest, l.Block[0]):
		l.skipTo(l.Block[1])
	case strings.IndexByte(l.Quotes, c) >= 0:
		l.text()
	case l.Regexp && c == '/' && l.at >= l.divide && l.operand():
		l.expression()
	case l.Here && strings.HasPrefix(rest, "<<"):
		l.hereText()
	case wordChar(rune(c)) || c >= utf8.RuneSelf:
		l.word()
	default:
		l.add(markToken, rest[:1])
		l.at++
	}
}

// comment reports whether the rest of the line is a comment.
func (l *lexer) comment(rest string) bool {
	return slices.ContainsFunc(l.Line, func(mark string) bool { return strings.HasPrefix(rest, mark) })
}

// newline goes to the next line, past the texts that follow << and a comment of whole lines.
func (l *lexer) newline() {
	l.at++
	l.lines++
	for _, end := range l.ends {
		l.skipLines(end)
	}
	l.ends = nil
	l.skipComment()
}

// skipComment goes past a comment of whole lines that begins here.
func (l *lexer) skipComment() {
	for first, end := range l.Begin {
		if rest := l.src[l.at:]; strings.HasPrefix(rest, first) && (first != "=" || len(rest) > 1 && unicode.IsLetter(rune(rest[1]))) {
			l.skipLines(end)
			return
		}
	}
}

func (l *lexer) skipLine() {
	if i := strings.IndexByte(l.src[l.at:], '\n'); i >= 0 {
		l.at += i
		return
	}
	l.at = len(l.src)
}

// skipTo goes past a text, or to the end.
func (l *lexer) skipTo(end string) {
	if i := strings.Index(l.src[l.at:], end); i >= 0 {
		l.at += i + len(end)
		return
	}
	l.at = len(l.src)
}

// skipLines goes past the first line that has nothing but end, or to the end of the text.
func (l *lexer) skipLines(end string) {
	for l.at < len(l.src) {
		line, _, _ := strings.Cut(l.src[l.at:], "\n")
		l.at = min(l.at+len(line)+1, len(l.src))
		if strings.TrimSpace(line) == end {
			return
		}
	}
}

func wordChar(r rune) bool {
	return r == '_' || r == '$' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= utf8.RuneSelf
}

func (l *lexer) word() {
	rest := l.src[l.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !wordChar(r) })
	if end < 0 {
		end = len(rest)
	}
	l.at += end
	if l.Triple && end <= 2 && end < len(rest) && strings.IndexByte(l.Quotes, rest[end]) >= 0 && strings.Trim(strings.ToLower(rest[:end]), "rbfut") == "" {
		return // the prefix of a text
	}
	l.add(wordToken, rest[:end])
}

// text reads a text. One in single quotes, or in double quotes, ends with its line at the latest: a stray quote does not
// hide the rest of a program.
func (l *lexer) text() {
	quote := l.src[l.at : l.at+1]
	if l.Triple && strings.HasPrefix(l.src[l.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.at += len(quote)
	long := len(quote) == 3 || quote == "`"
	start := l.at
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\\':
			l.at++
		case c == '\n' && !long:
			return
		case quote == "`" && strings.HasPrefix(l.src[l.at:], "${"):
			l.skipBraces(0)
			continue
		case strings.HasPrefix(l.src[l.at:], quote):
			l.add(textToken, l.src[start:l.at])
			l.at += len(quote)
			return
		}
		l.at++
	}
	l.at = len(l.src)
}

// maxDepth is how deep expressions in texts are followed.
const maxDepth = 20

// skipBraces goes past an expression in braces in a text, with the texts in it.
func (l *lexer) skipBraces(depth int) {
	l.at += 2
	for open := 1; l.at < len(l.src) && open > 0; l.at++ {
		switch c := l.src[l.at]; {
		case c == '{':
			open++
		case c == '}':
			open--
		case c == '`' && depth < maxDepth:
			l.skipTemplate(depth + 1)
		case c == '"' || c == '\'':
			if end := strings.IndexAny(l.src[l.at+1:], string(c)+"\n"); end >= 0 {
				l.at += end + 1
			}
		}
	}
}

// skipTemplate goes to the quote that ends a text in an expression in a text.
func (l *lexer) skipTemplate(depth int) {
	for l.at++; l.at < len(l.src) && l.src[l.at] != '`'; l.at++ {
		if l.src[l.at] == '\\' {
			l.at++
		} else if strings.HasPrefix(l.src[l.at:], "${") {
			l.skipBraces(depth)
			l.at--
		}
	}
}

// operand reports whether an operand is expected, so that / begins an expression and does not divide.
func (l *lexer) operand() bool {
	if len(l.tokens) == 0 {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	switch last.kind {
	case markToken:
		return !strings.Contains(")]}", last.s)
	case wordToken:
		return strings.Contains(" return typeof case in of delete void throw new else do ", " "+last.s+" ")
	}
	return false
}

// expression goes past a regular expression. After one that does not end, the rest of the line is not searched again.
func (l *lexer) expression() {
	class := false
	i := l.at + 1
	for ; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.at = i + 1
			l.add(textToken, "")
			return
		}
	}
	l.divide = i
	l.add(markToken, "/")
	l.at++
}

var hereName = lazyregexp.New("^<<[~-]?[\"'`]?([A-Z_][A-Za-z0-9_]*)")

// hereText takes << and the name of the line that ends the text, which begins on the next line.
func (l *lexer) hereText() {
	m := hereName().FindStringSubmatch(l.src[l.at:min(len(l.src), l.at+200)])
	if m == nil {
		l.add(markToken, "<")
		l.at++
		return
	}
	l.at += len(m[0])
	l.ends = append(l.ends, m[1])
}
