package disclose

import (
	"fmt"
	"strings"
	"testing"

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
