package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGlossed(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"数据库", []string{"database sql"}}, // not also 数据
		{"数据和图表", []string{"data", "chart graph"}},
		{"限流流水线", []string{"rate limit", "pipeline"}},
		{"あ動画い", []string{"video animation"}},
	} {
		if got := NewGlossary().In(row.text); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.text, got, row.want)
		}
	}
}

// Each line of the glossary can be reached: its words are of characters that are read in pairs, and its English is in ASCII.
func TestGlossary(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(glossary)) {
		foreign, english, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !ASCII(english) || english == "" {
			t.Errorf("%q has no English", line)
		}
		for word := range strings.FieldsSeq(foreign) {
			if pairedLength(word) != len(word) || utf8.RuneCountInString(word) > 12 {
				t.Errorf("%q is not a word of characters that are read in pairs", word)
			}
		}
	}
}

// Each line of the glossary of words can be reached: its words have no accents and capitals, and its English is in ASCII.
func TestInflected(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(inflected)) {
		theirs, english, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !ASCII(english) || english == "" {
			t.Errorf("%q has no English", line)
		}
		for word := range strings.FieldsSeq(theirs) {
			if plain := strings.TrimSuffix(word, "*"); unaccented([]byte(plain)) != plain || strings.ToLower(plain) != plain || len(plain) < 3 || len(plain) > longestWord {
				t.Errorf("%q is never looked up", word)
			}
		}
	}
	w := NewInflected()
	for _, row := range []struct{ word, want string }{
		{"übersetzung", "translate translation"}, {"subvención", "grant funding"}, {"straße", ""}, {"acta", "minutes meeting notes"}, {"actas", "minutes meeting notes"}, {"actaxyz", ""},
		{strings.Repeat("traduc", 10), ""}, {"", ""},
	} {
		if got := w.In([]byte(row.word)); got != row.want {
			t.Errorf("%s: got %q, want %q", row.word, got, row.want)
		}
	}
}

func FuzzInflected(f *testing.F) {
	f.Add([]byte("PrÄsentaciÓn\xff"))
	w := NewInflected()
	f.Fuzz(func(t *testing.T, word []byte) {
		before := string(word)
		w.In(word)
		if string(word) != before {
			t.Errorf("%q was changed to %q", before, word)
		}
	})
}

func FuzzGlossary(f *testing.F) {
	f.Add("数据库を動画に\xff")
	g := NewGlossary()
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(g.In(text)); n > len(text) {
			t.Errorf("%d words in %d bytes", n, len(text))
		}
	})
}
