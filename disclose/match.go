package disclose

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/agent-base/agent-base/skill"
)

// Match is one skill that a query calls for.
type Match struct {
	Entry skill.Entry
	Why   string // such as `name`, `keyword "merge pdf"` or `pattern "pdfs?"`
	Score int    // higher is better; comparable within one query only
}

// MatchOptions says how to match. The zero value is useful.
type MatchOptions struct {
	Recent []string // names of skills used lately, the latest first
	Max    int      // most matches; 0 means 3 (R78)
}

// defaultMax is the number of skills that a query brings in (R78).
const defaultMax = 3

// What a match scores. A kind outweighs all that is below it: the name in the query, then the
// longest phrase, then a pattern, and of equals the one used last (R78).
const (
	nameScore    = 1 << 20
	phraseScore  = 1 << 10 // for each word of the longest phrase, at most 255
	patternScore = 1 << 9
	recentScore  = 255 // less by one for each skill used after it
)

// Match returns the skills that query calls for, best first: those that it names, then by the
// length of the keyword or verb in it, then those of which a pattern matches; of equals the one
// used last, then the higher priority, then by name. A skill's own name is always a keyword.
// Words match whole and in any case. Only the first 4 KiB of query are looked at.
func (x *Index) Match(query string, o *MatchOptions) []Match {
	if o == nil {
		o = &MatchOptions{}
	}
	var buf [24]found
	hits := merged(x.triggers.find(capped(query), buf[:0]))
	if len(hits) == 0 {
		return nil
	}
	for i, name := range o.Recent {
		x.recent(hits, name, max(1, recentScore-i))
	}
	slices.SortFunc(hits, func(a, b found) int {
		return cmp.Or(b.score-a.score, cmp.Compare(x.entries[b.doc].Priority(), x.entries[a.doc].Priority()), int(a.doc-b.doc))
	})
	limit := o.Max
	if limit <= 0 {
		limit = defaultMax
	}
	out := make([]Match, min(limit, len(hits)))
	for i := range out {
		e := x.entries[hits[i].doc]
		out[i] = Match{Entry: e, Why: hits[i].why(e.Triggers()), Score: hits[i].score}
	}
	return out
}

func (x *Index) recent(hits []found, name string, score int) {
	name = skill.Canonical(name)
	for i := range hits {
		if x.entries[hits[i].doc].Canonical() == name && hits[i].score&recentScore == 0 {
			hits[i].score += score
		}
	}
}

// found is one skill that was hit, with its best reason.
type found struct {
	doc     int32
	at      uint16 // of the keyword or verb
	kind    kind
	score   int
	pattern *pattern
}

func (f found) why(t skill.Triggers) string {
	switch f.kind {
	case byName:
		return "name"
	case byKeyword:
		return "keyword " + strconv.Quote(t.Keywords[f.at])
	case byVerb:
		return "verb " + strconv.Quote(t.Verbs[f.at])
	}
	return "pattern " + strconv.Quote(f.pattern.source)
}

// merged leaves one of the hits of each skill. It scores the best phrase, and the name besides.
func merged(hits []found) []found {
	slices.SortFunc(hits, func(a, b found) int { return cmp.Or(int(a.doc-b.doc), b.score-a.score) })
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n == 0 || out[n-1].doc != h.doc {
			out = append(out, h)
		} else if best := &out[n-1]; best.score == nameScore && h.score < nameScore {
			best.score += h.score
		}
	}
	return out
}

// find returns what query hits, a skill as often as it is hit.
func (x *triggers) find(query string, hits []found) []found {
	var w words
	w.fold(query)
	low := ""
	for i := range w.len() {
		for j := i + 1; j <= min(i+gram, w.len()); j++ {
			for at := x.phrases[string(w.span(i, j))]; at > 0; at = x.targets[at-1].next {
				t := &x.targets[at-1]
				if t.rest > 0 {
					if low == "" {
						low = squeeze(query)
					}
					if !confirmed(x.rests[t.rest-1], &w, low) {
						continue
					}
				}
				hits = append(hits, found{doc: t.doc, at: t.at, kind: t.kind, score: t.score()})
			}
		}
	}
	x.patterns.match(query, func(p *pattern) {
		hits = append(hits, found{doc: p.doc, score: patternScore, pattern: p})
	})
	return hits
}

func (t *target) score() int {
	if t.kind == byName {
		return nameScore
	}
	return phraseScore * int(t.words)
}

// confirmed reports whether the whole of a long or signed phrase is in the query.
func confirmed(rest string, w *words, low string) bool {
	if rest[0] == ' ' {
		return bytes.Contains(w.text, []byte(rest))
	}
	return hasPhrase(low, rest)
}
