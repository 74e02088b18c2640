package check

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

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

// isShell reports whether the info string of a code block says that it holds commands, or says nothing.
func isShell(info string) bool {
	lang, _, _ := strings.Cut(strings.ToLower(info), " ")
	return slices.Contains([]string{"", "bash", "sh", "shell", "zsh", "console", "shell-session", "powershell"}, lang)
}
