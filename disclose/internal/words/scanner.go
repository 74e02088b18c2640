package words

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Scanner reads the words of a text for the search, one after the other: runs of letters and digits, in lower case and in
// Unicode's compatibility form. A word in camelCase is followed by its parts. Of Chinese, Japanese and Korean, which are
// not read by words, each pair of neighbouring characters is a word.
type Scanner struct {
	Word   []byte // the present word, in lower case; valid until the next
	Part   bool   // it is a part of the word before it
	Joined bool   // no sign stands between it and the word before it, so both may be of one phrase
	Ended  rune   // the last end of a sentence before it: '.', '!', '?' or '\n', else 0
	Run    string // with the first pair of a run of characters, all of them

	rest  string
	parts []string // still to come, of the present word
	pairs string   // characters of which the pairs are still to come
}

// Read begins with another text. The memory is reused.
func (s *Scanner) Read(text string) {
	if !ASCII(text) {
		text = norm.NFKC.String(text)
	}
	*s = Scanner{rest: text, Word: s.Word, parts: s.parts[:0]}
}

// Next reads the next word and reports whether there is one.
func (s *Scanner) Next() bool {
	s.Ended, s.Run = 0, ""
	switch {
	case len(s.parts) > 0:
		s.Part = true
		s.lower(s.parts[0])
		s.parts = s.parts[1:]
		return true
	case s.pairs != "":
		s.Part, s.Joined = false, true
		s.pair()
		return true
	}
	s.Part, s.Joined = false, true
	s.skip()
	if s.rest == "" {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(s.rest); paired(r) {
		n := pairedLength(s.rest)
		s.Run, s.pairs, s.rest = s.rest[:n], s.rest[:n], s.rest[n:]
		s.pair()
		return true
	}
	n := wordLength(s.rest)
	if n <= 2 && Letter(s.rest[0]) {
		n += signLength(s.rest[n:])
	}
	word := s.rest[:n]
	s.rest = s.rest[n:]
	s.parts = camelParts(s.parts[:0], word)
	s.lower(word)
	return true
}

// pair reads the next pair of characters, or a character that stands alone.
func (s *Scanner) pair() {
	_, first := utf8.DecodeRuneInString(s.pairs)
	_, second := utf8.DecodeRuneInString(s.pairs[first:])
	s.Word = append(s.Word[:0], s.pairs[:first+second]...)
	if s.pairs = s.pairs[first:]; len(s.pairs) == second {
		s.pairs = ""
	}
}

// skip passes what stands between words.
func (s *Scanner) skip() {
	for s.rest != "" {
		r, n := utf8.DecodeRuneInString(s.rest)
		if inWord(r) || paired(r) {
			return
		}
		s.rest = s.rest[n:]
		switch r {
		case ' ', '\t', '-', '_', '/', '&', '\'', '’':
			continue
		case '.', '!', '?':
			if s.rest == "" || s.rest[0] == ' ' || s.rest[0] == '\n' || r != '.' {
				s.Ended = r
			}
		case '\n', '。':
			s.Ended = '\n'
		}
		s.Joined = false
	}
}

// lower makes w the present word.
func (s *Scanner) lower(w string) {
	s.Word = s.Word[:0]
	for i := 0; i < len(w); {
		if c := w[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			s.Word = append(s.Word, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(w[i:])
		s.Word = utf8.AppendRune(s.Word, Lowest(r))
		i += n
	}
}

func wordLength(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if folded[c] == ' ' {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !inWord(r) {
			return i
		}
		i += n
	}
	return len(s)
}

func pairedLength(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !paired(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// signLength returns the length of the signs that belong to a short word before s: those of "C++" and "F#".
func signLength(s string) int { return len(s) - len(strings.TrimLeft(s, "+#")) }

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return folded[r] != ' '
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !paired(r)
}

// paired reports whether r is read in pairs: it is of a script without spaces, or Korean, whose endings are many.
func paired(r rune) bool { return alone(r) || r >= 0x1100 && unicode.Is(unicode.Hangul, r) }

// Characters reports whether a word is one or two characters of a script that is read in pairs.
func Characters(word []byte) bool {
	r, _ := utf8.DecodeRune(word)
	return paired(r)
}

// Grammatical reports whether a word has Hiragana, with which Japanese writes its endings and particles.
func Grammatical(word []byte) bool {
	return word[0] >= utf8.RuneSelf && bytes.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
}

// camelParts appends the parts of a word such as "GitHubAPI" or "py3" that have two letters and more, if it has several.
func camelParts(to []string, w string) []string {
	from := 0
	for i := 1; i <= len(w); i++ {
		if i < len(w) && ('a' <= w[i] && w[i] <= 'z' && w[i-1] >= 'A' || !breaks(w, i)) {
			continue
		}
		if i-from > 1 && (i < len(w) || from > 0) {
			to = append(to, w[from:i])
		}
		from = i
	}
	return to
}

// breaks reports whether a new part of w begins at i.
func breaks(w string, i int) bool {
	a, b := kindOf(w[i-1]), kindOf(w[i])
	switch {
	case a == 0 || b == 0 || a == 'A' && b == 'a':
		return false
	case a == 'A' && b == 'A':
		return i+2 < len(w) && kindOf(w[i+1]) == 'a' // the H of "APIHost", but not the I of "APIs"
	}
	return a != b
}

// kindOf returns 'a', 'A' or '0' for the kind of an ASCII letter or digit, else 0.
func kindOf(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'a'
	case 'A' <= c && c <= 'Z':
		return 'A'
	case '0' <= c && c <= '9':
		return '0'
	}
	return 0
}

// stopWords are the words that say nothing about a skill: function words, the words of any request and of any chat, and
// those with which descriptions say when to use a skill. The pairs of characters are their like in Chinese.
const stopWords = "a about all also am an and any are as at be been but by can could d did do does don doesn for from get got had has have " +
	"help how i if in into is isn it its just let lets like ll m me more most my need needs no not of on or our out over please re s should so " +
	"some t than that the their them then there these they this those to too up us use used user users uses using ve want wants " +
	"was we were what when where which who why will with would you your " +
	"ask asks mention mentions say says whenever " +
	"again evening good great hello here hey hi morning much nice now ok okay really thank thanks very yes " +
	"一下 一个 一些 一份 不要 什么 以及 使用 包括 可以 哪些 如何 帮我 当用 怎么 怎样 想要 我们 或者 支持 你们 他们 " +
	"是否 有没 根据 没有 现在 用于 用户 目前 给我 能否 触发 说明 请帮 还有 这个 这些 进行 适用 通过 那个 那些 需要 时使 发词 要不 我想"

// PlainVerbs are the verbs of requests about anything. Unlike stop words they count in a search. A skill that is called by one is
// not meant by every request that has it.
const PlainVerbs = "add apply build change check clean copy create delete do edit find fix generate go improve install list make move open " +
	"print read remove replace run save search send set show start stop test try update view watch work write"

// StopSet returns the set of stopWords.
func StopSet() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(stopWords) {
		m[w] = true
	}
	return m
}

// Letter reports whether a character is a letter of ASCII.
func Letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
