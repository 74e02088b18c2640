package naming

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// alike lists letters that people take for each other in lower or in upper case: the first of each word stands for all of it. It has the
// alphabets that share their shapes with Latin, and the shapes that Chinese shares with Japanese. Accents are seen, so that they count.
const alike = `
	aаαɑꭺ bвβьᏼ cсϲᴄꮯ dԁꭰ eеεҽꭱ fϝ gɡցԍꮐ hнһհꮋ iіιıɩꭵ jјϳյꭻ kкκꮶ lӏⅼլꮮ mмμꮇ nпηոռ oоοσօסഠ pрρꮲ qԛգզ rгᴦꮢ sѕꜱꮪ tтτꭲ uυսʋ vνѵꮩ
	wԝωաꮃ xхχ yуγүყ zζꮓ 3зʒӡ
	ロ口囗 ニ二 カ力 エ工 ハ八 タ夕 ー一 ト卜 ヒ匕 ヘへ リり ナ十 チ千 メ乂 ミ三 ノ丿 セせ
	يىی كک هہەھ
	`

// shapes maps each letter of alike to the one that stands for it.
func shapes() map[rune]rune {
	out := map[rune]rune{}
	for word := range strings.FieldsSeq(alike) {
		first := []rune(word)[0]
		for _, r := range word {
			out[r] = first
		}
	}
	return out
}

// Alike returns, for each name that looks like another one and is not the same, such another name: one in ASCII, else the first.
func Alike(names []string) map[string]string {
	table := once()
	first := map[string]string{}
	for _, name := range names { // those that everybody can type
		if ASCII(name) {
			first[skeleton(name, table)] = name
		}
	}
	out := map[string]string{}
	for _, name := range names {
		if ASCII(name) {
			continue
		}
		shape := skeleton(name, table)
		switch other, ok := first[shape]; {
		case !ok:
			first[shape] = name
		case Canonical(other) != Canonical(name):
			out[name] = other
		}
	}
	return out
}

// Shape returns a text that is equal for texts that look the same: that in Latin letters for one that has Cyrillic letters in place of some.
func Shape(text string) string { return skeleton(text, once()) }

var once = sync.OnceValue(shapes)

// skeleton returns a text that is equal for names that look the same.
func skeleton(name string, table map[rune]rune) string {
	return strings.Map(func(r rune) rune {
		if to, ok := table[r]; ok {
			return to
		}
		return r
	}, Canonical(norm.NFKC.String(name)))
}

// alphabets are those whose letters are taken for each other.
var alphabets = [...]*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu, unicode.Georgian, unicode.Coptic}

// Mixed reports whether a name has letters of two alphabets that are taken for each other, such as Latin and Cyrillic.
func Mixed(name string) bool {
	seen := -1
	for _, r := range name {
		for i, a := range alphabets {
			if !unicode.Is(a, r) {
				continue
			}
			if seen >= 0 && seen != i {
				return true
			}
			seen = i
		}
	}
	return false
}
