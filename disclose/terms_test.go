package disclose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scanned writes the words of a text: parts in brackets, a bar where no phrase goes on, and the sign that ends a sentence.
func scanned(s string) string {
	var out []string
	var sc scanner
	for sc.read(s); sc.next(); {
		w := string(sc.word)
		if sc.part {
			w = "(" + w + ")"
		}
		if sc.ended != 0 {
			w = strings.ReplaceAll(string(sc.ended), "\n", "/") + w
		}
		if !sc.joined {
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
		var sc scanner
		for sc.read(s); sc.next(); n++ {
			if len(sc.word) == 0 || n > 3*len(s)+3 {
				t.Fatalf("%q: word %d is %q", s, n, sc.word)
			}
			for _, r := range string(sc.word) {
				words[r] = true
			}
		}
		for _, r := range norm.NFKC.String(s) {
			if (inWord(r) || paired(r)) && r != utf8.RuneError && !words[r] && !words[lowest(r)] {
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
		want := string(stem([]byte(words[0])))
		for _, w := range words {
			if got := string(stem([]byte(w))); got != want {
				t.Errorf("%q has the stem %q, %q has %q", w, got, words[0], want)
			}
		}
		if other := seen[want]; other != "" {
			t.Errorf("%q and %q have the stem %q", other, words[0], want)
		}
		seen[want] = words[0]
	}
}

// C71: what a description says that the skill is not for.
func TestPositive(t *testing.T) {
	other := func(name string) bool {
		return slices.Contains([]string{"ads", "seo-audit", "cro"}, strings.ToLower(name))
	}
	rows := []struct{ name, text, want string }{
		{"all", "Writes copy. Use when asked, e.g. for ads.", "Writes copy. Use when asked, e.g. for ads."},
		{"do not use", "Writes copy. Do NOT use for tables, charts. Fast.", "Writes copy.  Fast."},
		{"within a sentence", "Writes copy — not for tables. Fast.", "Writes copy —  Fast."},
		{"a word like it", "Knows nothing, notforms and unlikely things.", "Knows nothing, notforms and unlikely things."},
		{"another skill", "Edits copy. For paid ads, see ads. For a review of pages use the `seo-audit` skill. Done.", "Edits copy. Done."},
		{"with its plugin", "Edits. For tests, see marketing:cro.", "Edits."},
		{"a place that is no skill", "Edits. For more, see the manual. For each file use grep.", "Edits. For more, see the manual. For each file use grep."},
		{"after a quotation", `Use for "copy." For ads, see ads. More.`, `Use for "copy." More.`},
		{"lines", "Edits.\n\nDo not use for:\n tables\n- charts", "Edits.\n\n- charts"},
		{"Chinese", "整理纪要。不适用于：翻译、校对。支持音频。", "整理纪要。支持音频。"},
		{"nothing", "", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := strings.Join(slices.Collect(positive(r.text, other)), ""); got != r.want {
				t.Errorf("got  %q\nwant %q", got, r.want)
			}
		})
	}
}

// FuzzPositive: what is left is part of the text, in order.
func FuzzPositive(f *testing.F) {
	f.Add("Edits. For ads, see ads. Not for x! 不适用于。”")
	f.Fuzz(func(t *testing.T, s string) {
		rest := s
		for part := range positive(s, func(name string) bool { return len(name)%2 == 1 }) {
			i := strings.Index(rest, part)
			if i < 0 {
				t.Fatalf("%q: %q is not in it", s, part)
			}
			rest = rest[i+len(part):]
		}
	})
}

// C71: what is quoted at length is not the request.
func TestPassages(t *testing.T) {
	long := "our product is the best thing that ever happened to the world"
	rows := []struct{ query, want string }{
		{"edit this: '" + long + "' and that", "edit this: |*" + long + "|' and that"},
		{"edit “" + long + "”.", "edit |*" + long + "|”."},
		{`say "hello" to me`, `say "hello" to me`},
		{"don't and won't, whatever the long text between the two says", "don't and won't, whatever the long text between the two says"},
		{"an open \" " + long, "an open \" " + long},
	}
	for _, r := range rows {
		var got []string
		for text, inQuotes := range passages(r.query, longQuote, math.MaxInt) {
			if inQuotes {
				text = "*" + text
			}
			got = append(got, text)
		}
		if g := strings.Join(got, "|"); g != r.want {
			t.Errorf("got  %s\nwant %s", g, r.want)
		}
	}
}

// C71: the ranking, one habit of requests and descriptions a row.
func TestRanking(t *testing.T) {
	x := NewIndex(catalog(t,
		file{name: "cold-email", desc: "Writes cold emails to prospects that get replies. For warm sequences, see emails."},
		file{name: "emails", desc: "Writes welcome sequences, newsletters and other emails to subscribers."},
		file{name: "ads", desc: "Plans campaigns on Google Ads. Do not use for landing pages, emails or referrals."},
		file{name: "copywriting", desc: "Writes the copy of landing pages and of sales decks."},
		file{name: "referrals", desc: "Designs programs in which customers bring customers."},
		file{name: "slides", desc: "Writes slides. Some are for sales, a deck is for the board."},
		file{name: "minutes", desc: "把会议录音整理成会议纪要。"},
		file{name: "poster", desc: "生成海报图片，用于会议宣传。"},
		file{name: "uptime", desc: "Watches servers, alarms and their owners when checks fail, with plain reports on what failed, how long and why it matters. Also when the user says \"site down\" or \"bad gateway\"."},
		file{name: "publish", desc: "Puts a site online and takes it down."},
		file{name: "budget-plan", desc: "Money of a year, month by month, by cost centre, with a forecast and the difference, as tables, charts and one line for those who read no more than that."},
		file{name: "finance", desc: "A plan of a budget, and budgets after a plan."},
		file{name: "translate", desc: "文書を日本語から英語へ翻訳します。"},
		file{name: "greet", desc: "だれかにあいさつをしてください。"},
	))
	rows := []struct{ name, query, first string }{
		{"endings", "landing page", "copywriting"},
		{"a word that a description excludes", "a program for referrals", "referrals"},
		{"a reference to another skill", "a warm sequence", "emails"},
		{"a phrase", "make a sales deck", "copywriting"},
		{"the request before its background", "Write a newsletter to subscribers. We sell programs that customers design.", "emails"},
		{"the question after its background", "We sell books. Newsletter subscribers do not come. Should we run campaigns on Google?", "ads"},
		{"a quotation", "Put this on a landing page: 'Newsletters, campaigns, prospects, customers and sequences, all in one place'", "copywriting"},
		{"a phrase in quotation marks", "my site suddenly went down", "uptime"},
		{"a name with all its words", "our budget (and a plan)", "budget-plan"},
		{"Japanese endings", "この文書を翻訳してください", "translate"},
		{"Hiragana alone", "あいさつ", "greet"},
		{"Chinese", "帮我整理一下会议纪要", "minutes"},
		{"Chinese, another", "做一张会议的海报", "poster"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			hits := x.Search(r.query, 0)
			if len(hits) == 0 || hits[0].Entry.Name() != r.first {
				t.Errorf("%q: got %q, want %q first", r.query, hitNames(hits), r.first)
			}
		})
	}
}

// C71: a request that is about no skill brings up none.
func TestAbout(t *testing.T) {
	x := NewIndex(catalog(t, synthetic(200)...))
	for _, query := range []string{"", "Good morning!", "thanks, that looks very good", "explain the theory of relativity"} {
		if got := x.About(query, 0); got != nil {
			t.Errorf("%q: got %d skills", query, len(got))
		}
	}
	got := x.About("please merge my invoices and the map", 3)
	if len(got) != 3 || !strings.HasPrefix(got[0].Name(), "invoice-") && !strings.HasPrefix(got[0].Name(), "map-") {
		t.Errorf("got %v", got)
	}
}
