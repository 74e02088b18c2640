package check

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// marks is the memory of codeSpans.
type marks struct {
	runs [][2]int // of `
	next []int    // for each run the following one of the same length, 0 without one
	last []int    // the run of each length that was seen last, 0 without one
}

// codeSpans appends where the contents of a line's code spans begin and end. A span ends with as many ` as it begins with.
func (m *marks) codeSpans(out [][2]int, line string) [][2]int {
	m.runs, m.last = m.runs[:0], m.last[:0]
	for i := strings.IndexByte(line, '`'); i >= 0 && i < len(line); {
		begin := i
		for i < len(line) && line[i] == '`' {
			i++
		}
		m.runs = append(m.runs, [2]int{begin, i})
		for len(m.last) <= i-begin {
			m.last = append(m.last, 0)
		}
		n := strings.IndexByte(line[i:], '`')
		if n < 0 {
			break
		}
		i += n
	}
	if len(m.runs) < 2 {
		return out
	}
	m.next = slices.Grow(m.next[:0], len(m.runs))[:len(m.runs)]
	for i, run := range slices.Backward(m.runs) {
		length := run[1] - run[0]
		m.next[i], m.last[length] = m.last[length], i
	}
	for i := 0; i < len(m.runs); i++ {
		if m.next[i] > 0 {
			out = append(out, [2]int{m.runs[i][1], m.runs[m.next[i]][0]})
			i = m.next[i]
		}
	}
	return out
}

// linkTarget returns where the target of the next link from a byte of a line begins and ends, and where the text after the
// link begins. All are 0 if there is none.
func linkTarget(line string, from int) (at, end, next int) {
	last := strings.LastIndexByte(line, ')')
	for {
		n := strings.Index(line[from:], "](")
		if from += n + 2; n < 0 || from > last {
			return 0, 0, 0
		}
		at = from
		if line[at] == '<' {
			at++
		}
		if n := strings.IndexAny(line[at:], ")<> \t\n\f\r"); n > 0 {
			end = at + n
			return at, end, end + strings.IndexByte(line[end:], ')') + 1
		}
	}
}

// localTarget is the path that a link means, "" when it is not a file of the skill or only a pattern.
func localTarget(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if s == "" || s[0] == '/' || s[0] == '~' || strings.ContainsAny(s, "<>{}$*|\\") || strings.Contains(s, "...") {
		return ""
	}
	if s[0] == '.' && len(s) > 1 && isWord(s[1]) { // of the project that the skill works on
		return ""
	}
	if isPlainPath(s) {
		return s
	}
	if u, err := url.Parse(s); err != nil || u.Scheme != "" || u.Host != "" {
		return ""
	}
	if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) && !strings.ContainsRune(plain, 0) {
		return plain
	}
	return ""
}

// isPlainPath reports whether a path has only characters that mean themselves in a URL, and no scheme.
func isPlainPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isWord(c) && c != '.' && c != '/' && c != '-' {
			return false
		}
	}
	return true
}

// withSpaces returns the line with spaces in place of its code spans.
func withSpaces(line string, spans [][2]int) string {
	if len(spans) == 0 {
		return line
	}
	out := []byte(line)
	for _, span := range spans {
		for i := span[0]; i < span[1]; i++ {
			out[i] = ' '
		}
	}
	return string(out)
}

// margin returns the length of what may stand before a fence: the marks of quotes and of a list.
func margin(line string) int {
	skip := func(from int, chars string) int {
		for from < len(line) && strings.IndexByte(chars, line[from]) >= 0 {
			from++
		}
		return from
	}
	begin := skip(0, " \t>")
	mark := skip(begin, "0123456789")
	end := skip(mark, ".)")
	if mark == begin {
		end = skip(mark, "-*+")
	}
	if text := skip(end, " \t"); end == mark+1 && text > end {
		return text
	}
	return begin
}

// fenceMark returns the run of ` or ~ that a line of a code fence begins with, "" for other lines, and the text after it.
func fenceMark(line string) (mark, info string) {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return "", ""
	}
	s := line[margin(line):]
	if len(s) < 3 || s[0] != '`' && s[0] != '~' || s[1] != s[0] || s[2] != s[0] {
		return "", ""
	}
	info = strings.TrimLeft(s, s[:1])
	mark, info = s[:len(s)-len(info)], strings.TrimSpace(info)
	if s[0] == '`' && strings.IndexByte(info, '`') >= 0 { // it is a code span
		return "", ""
	}
	return mark, info
}

// isShell reports whether the info string of a code block says that it holds commands, or says nothing.
func isShell(info string) bool {
	lang, _, _ := strings.Cut(strings.ToLower(info), " ")
	return slices.Contains([]string{"", "bash", "sh", "shell", "zsh", "console", "shell-session", "powershell"}, lang)
}
