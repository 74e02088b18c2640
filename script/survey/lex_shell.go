package survey

import (
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// shellLexer splits a shell script into words and operators. Words lose their quotes; what is replaced in them stays as it
// is written. A text that follows << becomes an empty textToken at the end of the line of <<, with what is replaced in it.
type shellLexer struct {
	lexer
	inWord   bool
	buf      strings.Builder // the present word
	expanded [][]token       // the commands that are replaced in the present word: $(…), `…`, also in ${…}
	here     []hereText
	depth    int // expansions around it
}

// hereText is a text that follows << and begins on the next line.
type hereText struct {
	end    string // the line after it
	quoted bool   // nothing is replaced in it
}

func lexShell(src string) []token {
	l := &shellLexer{lexer: lexer{src: src}}
	for l.at < len(l.src) {
		l.step()
	}
	l.endWord()
	return l.tokens
}

func (l *shellLexer) endWord() {
	if l.inWord {
		l.tokens = append(l.tokens, token{wordToken, l.buf.String(), l.lines, 0, l.expanded})
		l.buf.Reset()
		l.inWord, l.expanded = false, nil
	}
}

// take adds the next n characters to the word.
func (l *shellLexer) take(n int) {
	l.inWord = true
	l.buf.WriteString(l.src[l.at : l.at+n])
	l.at += n
}

func (l *shellLexer) step() {
	rest := l.src[l.at:]
	c := rest[0]
	switch {
	case c == '\n':
		l.endWord()
		l.line()
	case strings.HasPrefix(rest, "\\\n"):
		l.at += 2
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		l.at++
	case c == '#' && !l.inWord:
		l.skipLine()
	case c == '\'':
		l.quoted(1)
	case strings.HasPrefix(rest, "$'"):
		l.quoted(2)
	case c == '"':
		l.double()
	case strings.HasPrefix(rest, "<<<"):
		l.endWord()
		l.at += 3
	case strings.HasPrefix(rest, "<<"):
		l.endWord()
		l.hereStart(rest)
	case strings.IndexByte("|&;()<>", c) >= 0:
		l.operator(rest)
	default:
		l.character()
	}
}

func (l *shellLexer) operator(rest string) {
	l.endWord()
	for _, op := range []string{";;&", ";;", ";&", "&&", "||", "|&"} {
		if strings.HasPrefix(rest, op) {
			l.add(markToken, op)
			l.at += len(op)
			return
		}
	}
	l.add(markToken, rest[:1])
	l.at++
}

// quoted takes a text in single quotes, after n characters that begin it.
func (l *shellLexer) quoted(n int) {
	l.at += n
	l.inWord = true
	end := strings.IndexByte(l.src[l.at:], '\'')
	if end < 0 {
		l.at = len(l.src)
		return
	}
	l.take(end)
	l.at++
}

// double takes a text in double quotes.
func (l *shellLexer) double() {
	l.at++
	l.inWord = true
	for l.at < len(l.src) {
		if l.src[l.at] == '"' {
			l.at++
			return
		}
		l.character()
	}
}

// character takes one character, an escaped one, or all of what a shell replaces.
func (l *shellLexer) character() {
	rest := l.src[l.at:]
	end := l.at + 1
	switch {
	case rest[0] == '\\' && len(rest) > 1:
		l.at++
		end++
	case l.depth == maxDepth:
	case rest[0] == '`':
		end = l.backquoted()
	case strings.HasPrefix(rest, "$("):
		end = l.commands()
	case strings.HasPrefix(rest, "${"):
		end = l.variable()
	}
	l.take(end - l.at)
}

// within returns a lexer of what begins n characters further on.
func (l *shellLexer) within(n int) *shellLexer {
	return &shellLexer{lexer: lexer{src: l.src, at: l.at + n}, depth: l.depth + 1}
}

// commands notes the commands in the $(…) that begins here, and returns where it ends.
func (l *shellLexer) commands() int {
	in := l.within(2)
	for open := 1; in.at < len(in.src); in.step() {
		if c := in.src[in.at]; c == '(' {
			open++
		} else if c == ')' {
			open--
		}
		if open == 0 {
			break
		}
	}
	return l.expand(in)
}

// backquoted notes the commands in the `…` that begins here, and returns where it ends.
func (l *shellLexer) backquoted() int {
	in := l.within(1)
	if end := strings.IndexByte(in.src[in.at:], '`'); end >= 0 {
		in.src = in.src[:in.at+end]
	}
	for in.at < len(in.src) {
		in.step()
	}
	return l.expand(in)
}

// expand notes the commands of which in has read all but the last character, and returns where they end.
func (l *shellLexer) expand(in *shellLexer) int {
	in.endWord()
	l.expanded = append(l.expanded, in.tokens)
	return min(in.at+1, len(l.src))
}

// variable notes the commands in the ${NAME…} that begins here, and returns where it ends.
func (l *shellLexer) variable() int {
	in := l.within(2)
	for in.at < len(in.src) && in.src[in.at] != '}' {
		if in.src[in.at] == '"' {
			in.double()
		} else {
			in.character()
		}
	}
	l.expanded = append(l.expanded, in.expanded...)
	return min(in.at+1, len(l.src))
}

var hereWord = lazyregexp.New(`^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|(\\?)([A-Za-z_][A-Za-z0-9_]*))`)

// hereStart takes << and the name of the line that ends the text.
func (l *shellLexer) hereStart(rest string) {
	m := hereWord().FindStringSubmatch(rest[:min(len(rest), 200)])
	if m == nil {
		l.add(markToken, "<")
		l.at++
		return
	}
	l.at += len(m[0])
	l.here = append(l.here, hereText{m[1] + m[2] + m[4], m[3] != "" || m[4] == ""})
}

// line goes to the next line, past the texts that begin there.
func (l *shellLexer) line() {
	end := l.at
	l.at++
	for _, h := range l.here {
		in := l.within(0)
		l.skipLines(h.end)
		for in.src = in.src[:l.at]; in.at < len(in.src) && !h.quoted; {
			in.character()
		}
		l.tokens = append(l.tokens, token{textToken, "", l.lines, 0, in.expanded})
	}
	l.here = nil
	l.add(markToken, l.src[end:end+1])
	l.lines++
}
