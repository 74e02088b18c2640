package disclose

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// C71: a request in another language finds skills that are described in English.
func TestSearchInAnotherLanguage(t *testing.T) {
	x := NewIndex(catalog(t,
		file{name: "docx", desc: "Create, edit and convert Word documents."},
		file{name: "slides", desc: "Makes presentations from an outline."},
		file{name: "video-tools", desc: "Cut, merge and compress videos."},
		file{name: "minutes", desc: "整理会议纪要"},
		file{name: "db-check", desc: "Finds slow queries of a database and speeds up a server."},
		file{name: "weather", desc: "Tells the weather of a place."},
	))
	for _, row := range []struct{ query, want string }{
		{"帮我压缩一下这个视频", "video-tools"},
		{"把这份文档转换成PDF", "docx"},
		{"動画を結合してください", "video-tools"},
		{"プレゼンテーションを作成して", "slides"},
		{"サーバーが遅い", "db-check"},
		{"整理会议纪要", "minutes"}, // its own words count more
		{"天气", "weather"},
		{"이 동영상들을 합쳐 줘", "video-tools"},
		{"haz una presentación con diez diapositivas", "slides"},
		{"HAZ UNA PRESENTACION", "slides"},
		{"convertis ce document en PDF", "docx"},
		{"wie wird das Wetter?", "weather"},
		{"a base de dados está lenta", "db-check"},
	} {
		hits := x.Search(row.query, 1)
		if got := hitNames(hits); got != row.want {
			t.Errorf("%s: got %q, want %q", row.query, got, row.want)
		}
	}
	if hits := x.Search("你好", 0); len(hits) > 0 {
		t.Errorf("a greeting finds %q", hitNames(hits))
	}
}

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
		if got := newGlosses().in(row.text); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.text, got, row.want)
		}
	}
}

// Each line of the glossary can be reached: its words are of characters that are read in pairs, and its English is in ASCII.
func TestGlossary(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(glossary + koreanGlossary)) {
		foreign, english, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !ascii(english) || english == "" {
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
func TestWordGlossary(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(wordGlossary)) {
		theirs, english, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !ascii(english) || english == "" {
			t.Errorf("%q has no English", line)
		}
		for word := range strings.FieldsSeq(theirs) {
			if plain := strings.TrimSuffix(word, "*"); unaccented([]byte(plain)) != plain || strings.ToLower(plain) != plain || len(plain) < 3 || len(plain) > longestWord {
				t.Errorf("%q is never looked up", word)
			}
		}
	}
	w := newForeign()
	for _, row := range []struct{ word, want string }{
		{"übersetzung", "translate translation"}, {"subvención", "grant funding"}, {"straße", ""}, {"acta", "minutes meeting notes"}, {"actas", "minutes meeting notes"}, {"actaxyz", ""},
		{strings.Repeat("traduc", 10), ""}, {"", ""},
	} {
		if got := w.in([]byte(row.word)); got != row.want {
			t.Errorf("%s: got %q, want %q", row.word, got, row.want)
		}
	}
}

// A small word of another language counts in a request in English, where it may be a name.
func TestSmallWords(t *testing.T) {
	x := NewIndex(catalog(t, file{name: "de-tools", desc: "Differential expression (DE) of genes."}, file{name: "charts", desc: "Draws a graph of data."}))
	if got := hitNames(x.Search("de analysis", 1)); got != "de-tools" {
		t.Errorf("in English: got %q", got)
	}
	if got := hitNames(x.Search("un gráfico de barras", 0)); got != "charts" {
		t.Errorf("in Spanish: got %q", got)
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("PrÄsentaciÓn\xff"))
	w := newForeign()
	f.Fuzz(func(t *testing.T, word []byte) {
		before := string(word)
		w.in(word)
		if string(word) != before {
			t.Errorf("%q was changed to %q", before, word)
		}
	})
}

func FuzzGlossed(f *testing.F) {
	f.Add("数据库を動画に\xff")
	g := newGlosses()
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(g.in(text)); n > len(text) {
			t.Errorf("%d words in %d bytes", n, len(text))
		}
	})
}
