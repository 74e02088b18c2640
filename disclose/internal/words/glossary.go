package words

import (
	_ "embed" // the glossary
	"strings"
	"unicode/utf8"
)

// glossary has the English of common words of requests in Chinese, Japanese and Korean: what people work on, and what they do with it.
// Most skills are described in English, so a request in another language would have no word in common with them. Each line is one
// meaning: the words, "=", and the English words.
//
//go:embed glossary.txt
var glossary string

// Glossary finds the English of words of languages that are read by characters.
type Glossary struct {
	english map[string]string
	longest int // characters of a word
}

// NewGlossary reads the glossary.
func NewGlossary() *Glossary {
	g := &Glossary{english: map[string]string{}}
	for line := range strings.Lines(glossary) {
		foreign, english, _ := strings.Cut(strings.TrimSpace(line), "=")
		for word := range strings.FieldsSeq(foreign) {
			g.english[word] = strings.TrimSpace(g.english[word] + " " + english)
			g.longest = max(g.longest, utf8.RuneCountInString(word))
		}
	}
	return g
}

// In returns the English of the words in a text, the longest word at each place.
func (g *Glossary) In(text string) []string {
	var out []string
	for text != "" {
		n, english := g.first(text)
		if english != "" {
			out = append(out, english)
		}
		text = text[n:]
	}
	return out
}

// first returns the length of the longest word at the beginning of a text and its English, or that of a character.
func (g *Glossary) first(text string) (n int, english string) {
	_, n = utf8.DecodeRuneInString(text)
	for end, count := 0, 0; end < len(text) && count < g.longest; count++ {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
		if e := g.english[text[:end]]; e != "" {
			n, english = end, e
		}
	}
	return n, english
}
