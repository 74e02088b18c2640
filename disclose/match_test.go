package disclose

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill/manifest"
)

func triggerFile(name, front string) file {
	return file{name: name, front: "triggers:\n" + front}
}

// R35 R36 R78: keywords, verbs and patterns, and the skill's own name.
func TestMatch(t *testing.T) {
	x := NewIndex(catalog(t,
		triggerFile("kalshi-markets", "  keywords: [prediction market, kalshi, 'event contract on a public exchange']\n"),
		triggerFile("pdf", "  keywords: [acrobat]\n  verbs: [merge, split]\n"),
		triggerFile("cpp", "  keywords: [c++, 'C#', .net, node.js]\n"),
		triggerFile("tickets", "  patterns: ['[A-Z]{2,5}-\\d+', 'tickets?|issues? (open|closed)', '^\\s*fix']\n"),
		triggerFile("translate", "  keywords: [翻译, Übersetzung, traduçao]\n"),
		file{name: "Weather_Maps"},
		file{name: "help"}, file{name: "run"},
	))
	rows := []struct{ name, query, want string }{
		{"keyword", "show me KALSHI odds", "kalshi-markets"},
		{"keyword of two words", "a Prediction  Market, please", "kalshi-markets"},
		{"keyword of five words", "buy an event contract on a public exchange?", "kalshi-markets"},
		{"five words, the last one another", "an event contract on a public beach", ""},
		{"part of a word", "kalshis acrobatics", ""},
		{"words in another order", "market prediction", ""},
		{"verb", "please merge these", "pdf"},
		{"part of a verb", "an emergency, merged", ""},
		{"keyword with signs", "port it to C++", "cpp"},
		{"the same without signs", "vitamin c", ""},
		{"signs of another kind", "c+++ or c", ""},
		{"c sharp in a sentence", "is c# hard?", "cpp"},
		{"dot first", "a .NET service", "cpp"},
		{"dot first, inside a word", "example.net", ""},
		{"sign before a digit", "write C++17", "cpp"},
		{"dot inside", "run node.js.", "cpp"},
		{"pattern", "see ABC-123", "tickets"},
		{"pattern in any case", "see abc-123", "tickets"},
		{"pattern with literals", "which issues closed today", "tickets"},
		{"pattern at the start", "  fix this", "tickets"},
		{"pattern elsewhere", "a quick fix", ""},
		{"script without spaces", "请翻译这个文件", "translate"},
		{"umlaut in another form", "eine U\u0308BERSETZUNG", "translate"},
		{"name", "use the weather-maps skill", "Weather_Maps"},
		{"name as words", "show weather maps", "Weather_Maps"},
		{"name in any form", "WEATHER_MAPS", "Weather_Maps"},
		{"a verb as a name", "Run", "run"},
		{"a verb in a sentence", "please run this again", ""},
		{"a verb that is said to be a skill", "use the run skill", "run"},
		{"a common word as a name", "Help!", "help"},
		{"a common word in a sentence", "help me with this", ""},
		{"a common word that is said to be a skill", "use the help skill for this", "help"},
		{"nothing", "good morning", ""},
		{"empty", "", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := matchNames(x.Match(r.query, nil)); got != r.want {
				t.Errorf("%q: got %q, want %q", r.query, got, r.want)
			}
		})
	}
}

// R78: explicit mention, exact phrase, recent use, then priority and name; at most 3 by default.
func TestMatchRanking(t *testing.T) {
	x := NewIndex(catalog(t,
		triggerFile("deploy", "  keywords: [ship]\n"),
		triggerFile("a-pattern", "  patterns: ['releas\\w+']\n"),
		triggerFile("b-word", "  keywords: [release]\n"),
		triggerFile("c-word", "  keywords: [release]\n"),
		triggerFile("d-word", "  keywords: [release]\npriority: 7\n"),
		triggerFile("e-phrase", "  keywords: [release notes]\n"),
	))
	rows := []struct {
		name, query string
		o           MatchOptions
		want        string
	}{
		{"all in order", "release notes for deploy", MatchOptions{Max: 9}, "deploy e-phrase d-word b-word c-word a-pattern"},
		{"three", "release notes for deploy", MatchOptions{}, "deploy e-phrase d-word"},
		{"recent first among equals", "a release", MatchOptions{Recent: []string{"C_Word", "b-word"}, Max: 9}, "c-word b-word d-word a-pattern"},
		{"recent does not beat a phrase", "release notes", MatchOptions{Recent: []string{"a-pattern", "b-word"}, Max: 2}, "e-phrase b-word"},
		{"recent does not beat a name", "release deploy", MatchOptions{Recent: []string{"b-word"}, Max: 2}, "deploy b-word"},
		{"both named, one called for as well", "b-word or deploy: ship it", MatchOptions{Max: 2}, "deploy b-word"},
		{"recent, but not called for", "ship", MatchOptions{Recent: []string{"b-word"}}, "deploy"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := matchNames(x.Match(r.query, &r.o)); got != r.want {
				t.Errorf("%q: got %q, want %q", r.query, got, r.want)
			}
		})
	}
	var why []string
	for _, m := range x.Match("release notes for deploy", &MatchOptions{Max: 9}) {
		why = append(why, m.Why())
	}
	if got, want := fmt.Sprint(why), `[name keyword "release notes" keyword "release" keyword "release" keyword "release" pattern "releas\\w+"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// REQUIREMENTS 1.4: an invalid or costly pattern is off, the skill's other triggers stay.
func TestPatternBounds(t *testing.T) {
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "    - 'number%dx'\n", i)
	}
	x := NewIndex(catalog(t,
		triggerFile("bad", "  keywords: [good]\n  patterns: ['(', 'fine\\d', '(?=x)', '.*', '^']\n"),
		triggerFile("huge", "  patterns: ['((a{100}){10}){10}', '"+strings.Repeat("x", 201)+"']\n"),
		triggerFile("many", "  patterns:\n"+many.String()),
	))
	for query, want := range map[string]string{"good": "bad", "fine1": "bad", "number15x": "many", "number16x": ""} {
		if got := matchNames(x.Match(query, nil)); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	if got := len(x.Problems()); got > 10 {
		t.Errorf("got %d problems, want at most 10", got)
	}
	for _, p := range x.Problems() {
		if p.Code != "triggers-pattern-off" || p.Severity != manifest.SeverityWarning || p.Cure == "" {
			t.Errorf("got %+v", p)
		}
	}
}

// Each bound of one pattern.
func TestPatternRefused(t *testing.T) {
	rows := []struct {
		name, source string
		at           int
		ok           bool
	}{
		{"fine", `deploy\w*`, 15, true},
		{"the seventeenth", `deploy\w*`, 16, false},
		{"200 characters", strings.Repeat("é", 200), 0, true},
		{"201 characters", strings.Repeat("é", 201), 0, false},
		{"not RE2", `(a)\1`, 0, false},
		{"too many steps", `(\w[^d][^e][^f][^g]){1000}`, 0, false},
		{"matches everything", `a*|b`, 0, false},
		{"nothing", "", 0, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			x := newTriggers(nil)
			if err := x.patterns.add(r.source, r.at, 0, 0); (err == nil) != r.ok {
				t.Errorf("%q: got %v", r.source, err)
			}
		})
	}
}

// security 2.14: the work for one query is bounded, whatever skills and query are, and what is cut
// is the least wanted.
func TestMatchWorkIsBounded(t *testing.T) {
	x := newTriggers(nil)
	for i := range maxLoose + 10 {
		err := x.patterns.add("(a|b|.){1,60}c?", 0, int32(i), i)
		if (err != nil) != (i >= maxLoose) {
			t.Fatalf("pattern %d: %v", i, err)
		}
	}
	x.patterns.order()
	query := words.Capped(strings.Repeat("ab", 100_000))
	if len(query) != words.MaxQuery {
		t.Fatalf("query of %d bytes", len(query))
	}
	hits := x.find(query, new(scratch))
	if want := maxWork / (x.patterns.all[0].size * (words.MaxQuery + compileWork)); len(hits) != want || want == 0 || want >= maxLoose {
		t.Errorf("%d patterns ran, want %d", len(hits), want)
	}
	if hits[0].doc != maxLoose-1 {
		t.Errorf("the first that ran is of priority %d", hits[0].doc)
	}
}

// R78: the table of many skills' phrases against looking for each of them: phrases of one to six words, many of which
// begin alike or are the same.
func TestMatchAgainstThePlainWay(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	phrase := func(most int) string {
		list := make([]string, 1+r.IntN(most))
		for i := range list {
			list[i] = string(rune('a' + r.IntN(5)))
		}
		return strings.Join(list, " ")
	}
	x := newTriggers(nil)
	phrases := make([]string, 3000)
	var w words.Folded
	for i := range phrases {
		phrases[i] = phrase(6)
		x.add(&w, phrases[i], target{doc: int32(i), kind: byKeyword})
	}
	x.link()
	for range 300 {
		query := phrase(12)
		want := map[int32]int32{}
		for i, p := range phrases {
			if strings.Contains(" "+query+" ", " "+p+" ") {
				want[int32(i)] = phraseScore * int32(len(strings.Fields(p)))
			}
		}
		got := map[int32]int32{}
		for _, h := range merged(x.find(query, new(scratch))) {
			got[h.doc] = h.score
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", query, got, want)
		}
	}
}

// FuzzMatch holds the phrase table and the literal filter against the plain way to do it.
func FuzzMatch(f *testing.F) {
	f.Add("merge a pdf", "merge", `merg\w+`)
	f.Add("Straße \u212Aelvin ſ", "kelvin", "kelvin|stra.e")
	f.Add("c++ and c", "c++", `(?:ab|cd)+x?`)
	f.Add("A|b", "", `\Qa|`)
	f.Add("xx", "", "(abcd){0,3}xx?")
	f.Add("te\u017Ft", "", "test|best")
	f.Add("a b c d e", "b c d e", `(b c){2}|abcd`)
	f.Fuzz(func(t *testing.T, query, keyword, source string) {
		x := newTriggers(nil)
		var w words.Folded
		x.add(&w, keyword, target{kind: byKeyword})
		x.link()
		hasPattern := x.patterns.add(source, 0, 1, 0) == nil
		var gotKeyword, gotPattern bool
		for _, h := range x.find(words.Capped(query), new(scratch)) {
			gotKeyword = gotKeyword || h.kind == byKeyword
			gotPattern = gotPattern || h.kind == byPattern
		}
		w.Fold(words.Capped(keyword))
		phrase := string(w.Text)
		w.Fold(words.Capped(query))
		if want := phrase != " " && strings.Contains(string(w.Text), phrase); !signed(keyword) && gotKeyword != want {
			t.Errorf("%q in %q: got %v, want %v", keyword, query, gotKeyword, want)
		}
		if hasPattern {
			if want := regexp.MustCompile("(?i)" + source).MatchString(words.Capped(query)); gotPattern != want {
				t.Errorf("%q on %q: got %v, want %v", source, query, gotPattern, want)
			}
		}
	})
}
