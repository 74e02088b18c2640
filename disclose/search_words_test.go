package disclose

import (
	"strings"
	"testing"
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
