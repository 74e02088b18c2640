// Package toolrule is the text form of a rule about tools: a tool's name, or the name with a pattern in parentheses, such
// as Read or Bash(git:*). It splits a text into rules and a rule into its two parts. What a name or a pattern means is
// decided by the package session/allow.
//
// All functions are safe for concurrent use.
package toolrule

import "strings"

// Split splits a text at the spaces, tabs, line breaks and commas that are not inside parentheses, and drops empty
// entries. A parenthesis that is never closed holds everything after it, so an unclear text yields one entry that Cut
// refuses, and not several that it accepts.
func Split(text string) []string { return SplitAt(text, " \t\r\n,") }

// SplitAt is Split with other separators, each one byte.
func SplitAt(text, separators string) []string {
	var out []string
	depth, start := 0, 0
	cut := func(end int) {
		if start < end {
			out = append(out, text[start:end])
		}
		start = end + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		case depth == 0 && strings.IndexByte(separators, c) >= 0:
			cut(i)
		}
	}
	cut(len(text))
	return out
}

// Cut splits a rule into the name of a tool and its pattern. patterned distinguishes Bash() from Bash. ok is false for a
// text that is not a rule: the name begins with a letter or "_" and has ASCII letters, digits and _ - . : / * alone, the
// pattern is one line of balanced parentheses, and nothing follows it.
func Cut(rule string) (name, pattern string, patterned, ok bool) {
	n := 0
	for n < len(rule) && nameByte(rule[n], n == 0) {
		n++
	}
	if n == 0 {
		return "", "", false, false
	}
	name, rest := rule[:n], rule[n:]
	if rest == "" {
		return name, "", false, true
	}
	if rest[0] != '(' || closing(rest) != len(rest)-1 || strings.ContainsAny(rest, "\n\r\x00") {
		return "", "", false, false
	}
	return name, rest[1 : len(rest)-1], true, true
}

func nameByte(c byte, first bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		return true
	case first:
		return false
	}
	return '0' <= c && c <= '9' || strings.IndexByte("-.:/*", c) >= 0
}

// closing returns the index of the parenthesis that closes the one at the beginning of s, or -1.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
