package disclose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

func hitNames(hits []Hit) string {
	var names []string
	for _, h := range hits {
		names = append(names, h.Entry.Name())
	}
	return strings.Join(names, " ")
}

func TestSearch(t *testing.T) {
	c := catalog(t,
		file{name: "pdf-forms", desc: "Fills in the fields of forms."},
		file{name: "invoice-maker", desc: "Writes an invoice as a pdf file."},
		file{name: "kalshi-markets", desc: "Looks up markets, events and orders of an exchange."},
		file{name: "weather", desc: "Tells the weather of a place."},
		file{name: "weather-maps", desc: "Draws weather maps. The weather, weather and weather again."},
		file{name: "cafe-finder", desc: "Finds a café near a place, 咖啡 included."},
		file{name: "hello-you", front: "triggers:\n  keywords: [greeting]\n  verbs: [salute]\ntags: [welcome]\n"},
	)
	x := NewIndex(c)
	rows := []struct{ name, query, want string }{
		{"name before description", "pdf", "pdf-forms invoice-maker"},
		{"two words", "pdf invoice", "invoice-maker pdf-forms"},
		{"beginning of a name", "kal", "kalshi-markets"},
		{"name as typed", "KALSHI_markets", "kalshi-markets"},
		{"a letter too few", "invoce", "invoice-maker"},
		{"a letter too many", "wweather", "weather-maps weather"},
		{"two letters swapped", "exhcange", "kalshi-markets"},
		{"a wrong letter", "exchunge", "kalshi-markets"},
		{"the exact name first", "weather", "weather weather-maps"},
		{"decomposed accent", "cafe\u0301 near", "cafe-finder"},
		{"script without spaces", "咖啡", "cafe-finder"},
		{"a keyword", "greeting", "hello-you"},
		{"a verb", "salute", "hello-you"},
		{"a tag", "welcome", "hello-you"},
		{"a word of any request in a name", "hello!", "hello-you"},
		{"nothing", "", ""},
		{"signs only", "?!", ""},
		{"no such word", "zzzzzzzz", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := hitNames(x.Search(r.query, 0)); got != r.want {
				t.Errorf("%q: got %q, want %q", r.query, got, r.want)
			}
		})
	}
	if got := len(x.Search("place weather pdf", 2)); got != 2 {
		t.Errorf("got %d hits, want 2", got)
	}
	if got := NewIndex(catalog(t)).Search("pdf", 3); got != nil {
		t.Errorf("empty catalogue: got %v", got)
	}
}

// A search leaves nothing behind for the next one.
func TestSearchIsRepeatable(t *testing.T) {
	x := NewIndex(catalog(t, synthetic(300)...))
	for i, q := range []string{"merge pdf", "sync weather number", "", "plann budgte"} {
		first := fmt.Sprint(x.Search(q, 5))
		x.Search(fmt.Sprint("recipe ", i), 50)
		if again := fmt.Sprint(x.Search(q, 5)); again != first {
			t.Errorf("%q: got %s, then %s", q, first, again)
		}
	}
}

// bm25 scores each skill for a query of one sentence as the formulas say, one word after the other.
func bm25(entries []skill.Entry, query string) []float64 {
	counts := make([]map[string]float64, len(entries))
	lengths := make([]float64, len(entries))
	together := make([]map[string]bool, len(entries))
	total := 0.0
	for d, e := range entries {
		counts[d], together[d] = map[string]float64{}, map[string]bool{}
		add := func(weight float64, texts ...string) {
			for _, s := range texts {
				list := searchTerms(s)
				for i, w := range list {
					for _, part := range partsOf(w) {
						counts[d][part] += weight
						lengths[d] += weight
					}
					if i > 0 {
						together[d][list[i-1]+" "+w] = true
					}
				}
			}
		}
		add(nameWeight, e.Name())
		add(1, e.Description())
		add(tagWeight, e.Tags()...)
		add(tagWeight, e.Triggers().Keywords...)
		add(tagWeight, e.Triggers().Verbs...)
		total += lengths[d]
	}
	n, mean := float64(len(entries)), total/float64(len(entries))
	scores := make([]float64, len(entries))
	idf := map[string]float64{}
	list := searchTerms(query)
	for _, w := range list {
		have := 0.0
		for d := range entries {
			if counts[d][w] > 0 {
				have++
			}
		}
		idf[w] = math.Log(1 + (n-have+0.5)/(have+0.5))
		for d := range entries {
			tf := counts[d][w]
			scores[d] += idf[w] * tf * (k1 + 1) / (tf + k1*(1-b75+b75*lengths[d]/mean))
		}
	}
	least := slices.Sorted(slices.Values(scores))[max(0, len(scores)-rephrased)]
	for d, e := range entries {
		if scores[d] < least {
			continue
		}
		for i := 1; i < len(list); i++ {
			if together[d][list[i-1]+" "+list[i]] {
				scores[d] += phrase * (idf[list[i-1]] + idf[list[i]])
			}
		}
		name, shared, sum := searchTerms(e.Name()), 0.0, 0.0
		for _, w := range name {
			if slices.Contains(list, w) {
				shared++
				sum += idf[w]
			}
		}
		scores[d] += nameShare * sum * shared / float64(len(name))
	}
	return scores
}

// partsOf returns a word and, if it is letters and a number such as "merge12", those of its parts that have two characters.
func partsOf(w string) []string {
	out := []string{w}
	letters := strings.TrimRight(w, "0123456789")
	if number := w[len(letters):]; letters != "" && number != "" {
		out = append(out, string(stem([]byte(letters))))
		if len(number) > 1 {
			out = append(out, number)
		}
	}
	return out
}

func searchTerms(s string) []string {
	stop := stopSet()
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !stop[w] {
			out = append(out, string(stem([]byte(w))))
		}
	}
	return out
}

// C71: the index scores what the formulas say, for words that are known.
func TestSearchScores(t *testing.T) {
	x := NewIndex(catalog(t, synthetic(120)...))
	for _, query := range []string{"invoice", "merge pdf", "publish weather reports against recipe", "00007"} {
		want := bm25(x.entries, query)
		hits := x.Search(query, rephrased) // of equal ones further down, not all are looked through for phrases
		if len(hits) == 0 {
			t.Errorf("%q: no hits", query)
		}
		best := slices.Sorted(slices.Values(want))
		slices.Reverse(best)
		for i, h := range hits {
			d := slices.Index(x.entries, h.Entry)
			if math.Abs(h.Score-want[d]) > 1e-3 {
				t.Errorf("%q: %s scores %f, want %f", query, h.Entry.Name(), h.Score, want[d])
			}
			if math.Abs(h.Score-best[i]) > 1e-3 {
				t.Errorf("%q: place %d scores %f, want %f", query, i+1, h.Score, best[i])
			}
		}
	}
}

// The one-edit test against its definition.
func TestOneEdit(t *testing.T) {
	edits := func(s string) []string {
		var out []string
		for i := range len(s) + 1 {
			if i < len(s) {
				out = append(out, s[:i]+s[i+1:], s[:i]+"z"+s[i+1:])
			}
			if i+1 < len(s) {
				out = append(out, s[:i]+string(s[i+1])+string(s[i])+s[i+2:])
			}
			out = append(out, s[:i]+"z"+s[i:])
		}
		return out
	}
	for _, e := range edits("search") {
		if !oneEdit(e, "search") || !oneEdit("search", e) {
			t.Errorf("%q is one edit away from %q", e, "search")
		}
	}
	for _, s := range []string{"sehcra", "seerch1", "scarhe", "zzarch"} {
		if oneEdit(s, "search") {
			t.Errorf("%q is further from %q", s, "search")
		}
	}
}

// FuzzSearch: hits come in order, and an exact name comes first.
func FuzzSearch(f *testing.F) {
	c := catalog(f, synthetic(50)...)
	x := NewIndex(c)
	f.Add("merge a pdf")
	f.Add("pdf-merge-00012")
	f.Add("\xff\xfe 咖 é́")
	f.Fuzz(func(t *testing.T, q string) {
		hits := x.Search(q, 50)
		for i := 1; i < len(hits); i++ {
			if hits[i].Score > hits[i-1].Score {
				t.Fatalf("%q: hit %d scores more than the one before it", q, i)
			}
		}
		if manifest.CheckName(q) == nil {
			if e, err := c.Lookup(q); err == nil && hits[0].Entry != e {
				t.Errorf("%q: first hit is %q", q, hits[0].Entry.Name())
			}
		}
	})
}
