package words

import (
	_ "embed" // the words
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// inflected has the English of common words of requests in Spanish, French, German and Portuguese, as glossary has that of other
// languages. The words have no accents. A star stands for any ending, because these languages inflect.
//
//go:embed inflected.txt
var inflected string

// smallWords are words of these languages that say nothing about a task. Some are words of English, or names, too: they count unless
// the request is in another language.
const smallWords = `
a al als am an ao aos as auf aus avec bei com como con da das dans de del dem den der des die dies diese diesem diesen dieser dieses
do dos du e ein eine einem einen einer eines el elle em en entre es est esta estas este esto estos et eu fur haz hacer faire fais
fazer faca il im in ist la las le les leur lo los ma mach mache machen mas me mein meine meinem meinen meiner mes meu mi minha mis
mit mon na nas ne no nos nossa nosso notre nuestra nuestro o os ou par para pela pelo por pour que quiero sa sein ser ses sind sobre
son su sur te teu tu um uma un una une uns unser unsere und unter veux vom von vous vos wie wir y zu zum zur
`

// Inflected finds the English of words of languages that inflect.
type Inflected struct {
	whole, begin map[string]string // words, and beginnings of words, with their English
	small        map[string]bool   // smallWords
}

// NewInflected reads the words.
func NewInflected() *Inflected {
	w := &Inflected{map[string]string{}, map[string]string{}, map[string]bool{}}
	for word := range strings.FieldsSeq(smallWords) {
		w.small[word] = true
	}
	for line := range strings.Lines(inflected) {
		theirs, english, _ := strings.Cut(strings.TrimSpace(line), "=")
		for word := range strings.FieldsSeq(theirs) {
			to := w.whole
			if beginning, is := strings.CutSuffix(word, "*"); is {
				to, word = w.begin, beginning
			}
			to[word] = strings.TrimSpace(to[word] + " " + english)
		}
	}
	return w
}

// longestWord is the length in bytes of the longest word that is looked up.
const longestWord = 40

// In returns the English of a word of the Scanner, or "". The longest beginning decides.
func (w *Inflected) In(word []byte) string {
	if len(word) > longestWord {
		return ""
	}
	plain := unaccented(word)
	if english := w.whole[plain]; english != "" {
		return english
	}
	for n := len(plain); n > 0; n-- {
		if english := w.begin[plain[:n]]; english != "" {
			return english
		}
	}
	return ""
}

// Small reports whether a word says nothing about a task in one of these languages.
func (w *Inflected) Small(word []byte) bool { return w.small[unaccented(word)] }

// unaccented returns a word without accents: "präsentación" is "prasentacion".
func unaccented(word []byte) string {
	plain := true
	for _, c := range word {
		plain = plain && c < utf8.RuneSelf
	}
	if plain {
		return string(word)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(string(word))) {
		switch {
		case r == 'ß':
			b.WriteString("ss")
		case !unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
