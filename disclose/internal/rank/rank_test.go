package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

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

// bm25 scores each document for a query of one sentence as the formulas say, one word after the other.
func bm25(names []string, docs []Doc, query string) []float64 {
	counts := make([]map[string]float64, len(docs))
	lengths := make([]float64, len(docs))
	together := make([]map[string]bool, len(docs))
	total := 0.0
	for d, doc := range docs {
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
		add(nameWeight, names[d])
		add(1, doc.Texts...)
		add(tagWeight, doc.Tags...)
		total += lengths[d]
	}
	n, mean := float64(len(docs)), total/float64(len(docs))
	scores := make([]float64, len(docs))
	idf := map[string]float64{}
	list := searchTerms(query)
	for _, w := range list {
		have := 0.0
		for d := range docs {
			if counts[d][w] > 0 {
				have++
			}
		}
		idf[w] = math.Log(1 + (n-have+0.5)/(have+0.5))
		for d := range docs {
			tf := counts[d][w]
			scores[d] += idf[w] * tf * (k1 + 1) / (tf + k1*(1-b75+b75*lengths[d]/mean))
		}
	}
	least := slices.Sorted(slices.Values(scores))[max(0, len(scores)-rephrased)]
	for d, name := range names {
		if scores[d] < least {
			continue
		}
		for i := 1; i < len(list); i++ {
			if together[d][list[i-1]+" "+list[i]] {
				scores[d] += phrase * (idf[list[i-1]] + idf[list[i]])
			}
		}
		parts, shared, sum := searchTerms(name), 0.0, 0.0
		for _, w := range parts {
			if slices.Contains(list, w) {
				shared++
				sum += idf[w]
			}
		}
		scores[d] += nameShare * sum * shared / float64(len(parts))
	}
	return scores
}

// partsOf returns a word and, if it is letters and a number such as "merge12", those of its parts that have two characters.
func partsOf(w string) []string {
	out := []string{w}
	letters := strings.TrimRight(w, "0123456789")
	if number := w[len(letters):]; letters != "" && number != "" {
		out = append(out, string(words.Stem([]byte(letters))))
		if len(number) > 1 {
			out = append(out, number)
		}
	}
	return out
}

func searchTerms(s string) []string {
	stop := words.StopSet()
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !stop[w] {
			out = append(out, string(words.Stem([]byte(w))))
		}
	}
	return out
}

// synthetic makes documents of few words in many combinations.
func synthetic(n int) (names []string, docs []Doc) {
	topics := strings.Fields("pdf sheet invoice calendar mail ticket deploy backup query schema chart budget photo audio map recipe travel market weather report")
	verbs := strings.Fields("extract merge convert review plan search sync validate draft publish")
	for i := range n {
		topic, verb, other := topics[i%len(topics)], verbs[i/3%len(verbs)], topics[i*7%len(topics)]
		names = append(names, fmt.Sprintf("%s-%s-%05d", topic, verb, i))
		docs = append(docs, Doc{
			Tags: []string{verb + " " + topic, fmt.Sprintf("%s number %d", topic, i), fmt.Sprint(verb, i)},
			Texts: []string{fmt.Sprintf("%s %s files and %s records for a team.%s When someone asks to %s a %s.", verb, topic, other,
				strings.Repeat(fmt.Sprintf(" It reads each %s, checks what is in it against the %s and writes a short summary.", other, topic), i%5), verb, topic)},
		})
	}
	return names, docs
}

// C71: the index scores what the formulas say, for words that are known.
func TestScores(t *testing.T) {
	names, docs := synthetic(120)
	x := New(names, func(i int) Doc { return docs[i] })
	for _, query := range []string{"invoice", "merge pdf", "publish weather reports against recipe", "00007"} {
		want := bm25(names, docs, query)
		hits := x.Find(x.ReadKeywords(query), rephrased) // of equal ones further down, not all are looked through for phrases
		if len(hits) == 0 {
			t.Errorf("%q: no hits", query)
		}
		best := slices.Sorted(slices.Values(want))
		slices.Reverse(best)
		for i, h := range hits {
			if math.Abs(float64(h.Score)-want[h.Doc]) > 1e-3 {
				t.Errorf("%q: %s scores %f, want %f", query, names[h.Doc], h.Score, want[h.Doc])
			}
			if math.Abs(float64(h.Score)-best[i]) > 1e-3 {
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
