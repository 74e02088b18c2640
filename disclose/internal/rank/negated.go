package rank

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

// positive yields the parts of a description that say what the skill is for. It leaves out what follows words such as "do
// not use for" up to the end of the sentence, and sentences that send the reader to another skill: "For paid ads, see
// ads." The function other reports whether a word is the name of another skill.
func positive(description string, other func(string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := description; rest != ""; {
			n := sentenceEnd(rest)
			sentence := rest[:n]
			rest = rest[n:]
			if refers(sentence, other) {
				continue
			}
			if !yield(sentence[:negation(sentence)]) {
				return
			}
		}
	}
}

// sentenceEnd returns the length of the first sentence of s. A list item is a sentence.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '.', '!', '?':
			end := i + 1
			if end < len(s) && s[end] != ' ' {
				end = len(s) - len(strings.TrimLeft(s[end:], `"'”’)`))
			}
			if end == len(s) || s[end] == ' ' || s[end] == '\n' {
				return end
			}
		case '\n':
			if i+1 < len(s) && strings.IndexByte("\n-*", s[i+1]) >= 0 {
				return i + 1
			}
		case 0xe3, 0xef: // the first byte of "。" and of "！" and "？"
			if r, n := utf8.DecodeRuneInString(s[i:]); r == '。' || r == '！' || r == '？' {
				return i + n
			}
		}
	}
	return len(s)
}

// refers reports whether a sentence sends the reader to another skill.
func refers(sentence string, other func(string) bool) bool {
	s := strings.TrimLeft(sentence, " \n\"'”’)(-*")
	if len(s) < 4 || !strings.EqualFold(s[:4], "for ") {
		return false
	}
	fields := strings.Fields(s)
	for i, f := range fields {
		if f = strings.ToLower(strings.TrimLeft(f, "(")); f != "see" && f != "use" || i+1 == len(fields) {
			continue
		}
		name := fields[i+1]
		if name == "the" && i+2 < len(fields) {
			name = fields[i+2]
		}
		name = strings.Trim(name, "`'\"*.,;:()/")
		if other(name[strings.LastIndexByte(name, ':')+1:]) {
			return true
		}
	}
	return false
}

// negations begin the part of a sentence that says what a skill is not for.
var negations = []string{"do not use", "don't use", "don’t use", "do not trigger", "don't trigger", "do not activate", "do not invoke",
	"not for", "not when", "not intended for", "not suitable for", "not to be used", "not to be confused", "never use",
	"distinct from", "unlike", "skip when", "skip if", "skip for", "avoid when", "avoid if", "avoid for",
	"不适用", "不適用", "不用于", "不要用", "不要在"}

// negation returns the position of the first of negations in a sentence, or the sentence's length.
func negation(sentence string) int {
	before := byte(' ')
	for i := 0; i < len(sentence); i++ {
		c := sentence[i]
		if first := c | 0x20; c == 0xe4 || !words.Letter(before) && (first == 'd' || first == 'n' || first == 's' || first == 'a' || first == 'u') {
			for _, m := range negations {
				if n := len(m); i+n <= len(sentence) && m[0]|0x20 == first && strings.EqualFold(sentence[i:i+n], m) && (i+n == len(sentence) || c == 0xe4 || !words.Letter(sentence[i+n])) {
					return i
				}
			}
		}
		before = c
	}
	return len(sentence)
}
