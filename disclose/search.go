package disclose

import (
	"cmp"
	"math"
	"strings"

	"github.com/agent-base/agent-base/disclose/internal/rank"
	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill"
)

// Hit is one skill that a search found.
type Hit struct {
	Entry skill.Entry
	Score float64 // higher is better; comparable within one search only
}

// Search returns the max best skills for the words of query, best first, equal ones by name; max 0 means 10. The query may
// be a few words or a whole request; only its first 4 KiB are read.
//
// It ranks by BM25 over names, tags, trigger words and descriptions, without the words that any request has, and with the
// endings of English words cut. What a description says that the skill is not for does not count. Of a request with
// several sentences, the first and the questions count most. A skill in which words of the query stand together, as in
// the query, comes before one in which they do not; so does one whose name has words of the query, or whose description
// quotes a phrase of which the query has all the words. Common words of Chinese and Japanese also count as their English, at
// half the weight. A word that no skill has counts as the beginning of one, or else as a
// misspelt one. A query that is a skill's name puts it first.
func (x *Index) Search(query string, max int) []Hit {
	if max <= 0 {
		max = 10
	}
	w := x.words()
	best := w.Find(w.ReadKeywords(words.Capped(query)), max)
	if len(best) == 0 {
		return nil
	}
	hits := make([]Hit, len(best))
	for i, p := range best {
		hits[i] = Hit{x.entries[p.Doc], float64(p.Score)}
	}
	return hits
}

// About returns at most max of the skills that a whole request is about, the best first; max 0 means 10. Where Search
// returns whatever shares a word with the query, About returns none for a request that is about something else: a skill
// has to share more with it than common words, and to score at least half as much as the best one.
func (x *Index) About(request string, max int) []skill.Entry {
	return x.about(request, cmp.Or(max, mostOffered), func(skill.Entry) bool { return true })
}

// about is About among the skills for which fits returns true.
func (x *Index) about(request string, max int, fits func(skill.Entry) bool) []skill.Entry {
	w := x.words()
	var out []skill.Entry
	least := w.Enough()
	for _, h := range w.Find(w.Read(words.Capped(request)), considered) {
		if h.Score < float32(least) || len(out) == max {
			break
		}
		if e := x.entries[h.Doc]; fits(e) {
			if len(out) == 0 {
				least = math.Max(least, float64(h.Score)/2)
			}
			out = append(out, e)
		}
	}
	return out
}

// considered is how many skills about looks at.
const considered = 50

// newRanking returns the index of the texts of skills.
func newRanking(entries []skill.Entry) *rank.Index {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return rank.New(names, func(i int) rank.Doc {
		e := entries[i]
		t := e.Triggers()
		d := rank.Doc{Texts: []string{e.Description(), e.WhenToUse()}}
		for _, list := range [][]string{e.Tags(), t.Keywords, t.Verbs} {
			d.Tags = append(d.Tags, firstOf(list)...)
		}
		if s := e.Brief(); !strings.HasPrefix(e.Description(), strings.TrimSuffix(s, "...")) {
			d.Texts = append(d.Texts, s)
		}
		return d
	})
}
