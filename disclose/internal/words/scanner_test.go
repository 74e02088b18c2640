package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scanned writes the words of a text: parts in brackets, a bar where no phrase goes on, and the sign that ends a sentence.
func scanned(s string) string {
	var out []string
	var sc Scanner
	for sc.Read(s); sc.Next(); {
		w := string(sc.Word)
		if sc.Part {
			w = "(" + w + ")"
		}
		if sc.Ended != 0 {
			w = strings.ReplaceAll(string(sc.Ended), "\n", "/") + w
		}
		if !sc.Joined {
			w = "|" + w
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// C71: the words of a text.
func TestScanner(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"nothing", " .,; ", ""},
		{"case and hyphens", "Merge-PDF_files", "merge pdf files"},
		{"camel case", "GitHubAPI", "githubapi (git) (hub) (api)"},
		{"a plural of capitals", "PDFs", "pdfs"},
		{"letters and digits", "ga4 utf8 B2B", "ga4 (ga) utf8 (utf) b2b"},
		{"signs of languages", "C++ or F#, 2+2", "c++ or f# |2 |2"},
		{"phrases", "sales deck, one (two) three", "sales deck |one |two |three"},
		{"sentences", "Do it. Now? Yes!\nNo", "do it |.now |?yes |/no"},
		{"no end of a sentence", "node.js v1.2", "node |js v1 |2"},
		{"Chinese", "整理会议纪要", "整理 理会 会议 议纪 纪要"},
		{"one character", "用 Go", "用 go"},
		{"Japanese with a long vowel", "サーバー", "サー ーバ バー"},
		{"Chinese with a word between", "做一个PPT吧", "做一 一个 ppt 吧"},
		{"Chinese sentences", "收到了。怎么办？好", "收到 到了 |/怎么 么办 |?好"},
		{"Japanese", "会議のメモ", "会議 議の のメ メモ"},
		{"Korean", "회의록 작성", "회의 의록 작성"},
		{"compatibility forms", "ＰＤＦ　ﬁle", "pdf file"},
		{"accents", "Café CAFÉ", "cafÉ cafÉ"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := scanned(r.text); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
		})
	}
}

// FuzzScanner: every letter and digit of a text is in a word, and the scanner ends.
func FuzzScanner(f *testing.F) {
	f.Add("GitHubAPI: merge 2 PDFs? C++!")
	f.Add("整理会议纪要 of ｔｈｅ team\xff 회의록 é́")
	f.Fuzz(func(t *testing.T, s string) {
		words := map[rune]bool{}
		n := 0
		var sc Scanner
		for sc.Read(s); sc.Next(); n++ {
			if len(sc.Word) == 0 || n > 3*len(s)+3 {
				t.Fatalf("%q: word %d is %q", s, n, sc.Word)
			}
			for _, r := range string(sc.Word) {
				words[r] = true
			}
		}
		for _, r := range norm.NFKC.String(s) {
			if (inWord(r) || paired(r)) && r != utf8.RuneError && !words[r] && !words[Lowest(r)] {
				t.Errorf("%q: %q is in no word", s, r)
			}
		}
	})
}

// C71: words of one family have one stem, others have not.
func TestStem(t *testing.T) {
	families := []string{
		"merge merges merged merging merger", "plan plans planned planning planner", "query queries", "optimize optimization optimizing",
		"deploy deploys deployed deployment deploying", "miss missed misses", "class classes", "status", "analysis", "pdf pdfs", "use",
		"personalization personalize", "api apis", "test tests testing tested tester", "sing", "red", "string strings", "news", "bus",
		"création", "整理",
	}
	seen := map[string]string{}
	for _, family := range families {
		words := strings.Fields(family)
		want := string(Stem([]byte(words[0])))
		for _, w := range words {
			if got := string(Stem([]byte(w))); got != want {
				t.Errorf("%q has the stem %q, %q has %q", w, got, words[0], want)
			}
		}
		if other := seen[want]; other != "" {
			t.Errorf("%q and %q have the stem %q", other, words[0], want)
		}
		seen[want] = words[0]
	}
}

// FuzzFold holds the fast path against the general one.
func FuzzFold(f *testing.F) {
	f.Add("Hello, World-2  x")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.Map(func(r rune) rune { return r & 0x7f }, s)
		var fast, slow Folded
		fast.Fold(s)
		slow.Fold(s + "\u00a0")
		if string(fast.Text) != string(slow.Text) || !slices.Equal(fast.Begins, slow.Begins) || !slices.Equal(fast.Ends, slow.Ends) {
			t.Errorf("%q: got %q, want %q", s, fast.Text, slow.Text)
		}
	})
}

// A query is cut between characters.
func TestCapped(t *testing.T) {
	s := strings.Repeat("é", MaxQuery)
	if got := Capped("x" + s); len(got) != MaxQuery-1 || !strings.HasSuffix(got, "é") {
		t.Errorf("got %d bytes", len(got))
	}
}
