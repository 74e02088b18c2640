package survey

import "strings"

// shellLexer splits a shell script into words and operators. Words lose their quotes; what is substituted in them stays as
// it is written.
type shellLexer struct {
	lexer
	inWord bool
	buf    strings.Builder
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
		l.add(wordToken, l.buf.String())
		l.buf.Reset()
		l.inWord = false
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
		l.add(markToken, "\n")
		l.newline()
	case strings.HasPrefix(rest, "\\\n"):
		l.at += 2
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		l.at++
	case c == '#' && !l.inWord:
		l.skipLine()
	case c == '\\' && len(rest) > 1:
		l.at++
		l.take(1)
	case c == '\'':
		l.quoted(1)
	case strings.HasPrefix(rest, "$'"):
		l.quoted(2)
	case c == '"':
		l.double()
	case c == '`' || strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "${"):
		l.take(l.substitution(l.at, 0) - l.at)
	case strings.HasPrefix(rest, "<<<"):
		l.endWord()
		l.at += 3
	case strings.HasPrefix(rest, "<<"):
		l.endWord()
		l.hereText(hereWord())
	case strings.IndexByte("|&;()<>", c) >= 0:
		l.operator(rest)
	default:
		l.take(1)
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
		switch rest := l.src[l.at:]; {
		case rest[0] == '"':
			l.at++
			return
		case rest[0] == '\\' && len(rest) > 1:
			l.at++
			l.take(1)
		case rest[0] == '`' || strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "${"):
			l.take(l.substitution(l.at, 0) - l.at)
		default:
			l.take(1)
		}
	}
}

// substitution returns where `…`, $(…) or ${…} ends that begins at i.
func (l *shellLexer) substitution(i, depth int) int {
	if l.src[i] == '`' {
		if end := strings.IndexByte(l.src[i+1:], '`'); end >= 0 {
			return i + end + 2
		}
		return len(l.src)
	}
	first, last := l.src[i+1], byte(')')
	if first == '{' {
		last = '}'
	}
	open := 0
	for i++; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == first:
			open++
		case c == last:
			if open--; open == 0 {
				return i + 1
			}
		case c == '\'' && first == '(':
			if end := strings.IndexByte(l.src[i+1:], '\''); end >= 0 {
				i += end + 1
			}
		case c == '$' && depth < maxDepth && i+1 < len(l.src) && (l.src[i+1] == '(' || l.src[i+1] == '{'):
			i = l.substitution(i, depth+1) - 1
		}
	}
	return len(l.src)
}
