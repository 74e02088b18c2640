package disclose

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/agent-base/agent-base/disclose/internal/rank"
	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Index finds skills of one catalogue for a query. It is immutable and safe for concurrent use.
type Index struct {
	catalog  *skill.Catalog
	entries  []skill.Entry // the skills that a model may see, by canonical name
	triggers *triggers
	words    func() *rank.Index // made by the first search
}

// NewIndex returns an index of the skills of c that a model may see.
func NewIndex(c *skill.Catalog) *Index {
	x := &Index{catalog: c, entries: make([]skill.Entry, 0, c.Len())}
	for e := range c.Visible() {
		x.entries = append(x.entries, e)
	}
	x.triggers = newTriggers(x.entries)
	x.words = sync.OnceValue(func() *rank.Index { return newRanking(x.entries) })
	return x
}

// Problems returns the trigger patterns that are not used, with the reasons. The other triggers of their skills work.
func (x *Index) Problems() []manifest.Problem { return x.triggers.problems }

// Match is one skill that a query triggers.
type Match struct {
	Entry skill.Entry
	Score int // higher is better; comparable within one query only

	kind kind
	at   int32 // position of the keyword, verb or pattern in the skill's list
}

// Why returns which part of the skill the query matched: "name", `keyword "merge pdf"`, `verb "merge"` or
// `pattern "pdfs?"`.
func (m Match) Why() string {
	t := m.Entry.Triggers()
	switch m.kind {
	case byName:
		return "name"
	case byKeyword:
		return "keyword " + strconv.Quote(t.Keywords[m.at])
	case byVerb:
		return "verb " + strconv.Quote(t.Verbs[m.at])
	}
	return "pattern " + strconv.Quote(t.Patterns[m.at])
}

// MatchOptions configures a match. The zero value is useful.
type MatchOptions struct {
	Recent []string // names of recently used skills, the latest first
	Max    int      // limit on matches; 0 means 3
}

// defaultMax is the default limit on matches.
const defaultMax = 3

// The scores of a match. Each kind outweighs all below it: the name in the query, then the longest phrase, then a pattern,
// and among equals recent use.
const (
	nameScore    = 1 << 20
	phraseScore  = 1 << 10 // for each word of the longest phrase, at most 255
	patternScore = 1 << 9
	recentScore  = 255 // minus one for each skill used later
)

// Match returns the skills that query triggers, best first: those that it names, then by the length of the keyword or
// verb in it, then those with a pattern that matches. Equals are ordered by recent use, then priority, then name. The
// name of a skill is always a keyword; one such as "help" or "run", which any request may have, only alone or before "skill". Words
// match whole and in any case. Only the first 4 KiB of query are read.
func (x *Index) Match(query string, o *MatchOptions) []Match {
	if o == nil {
		o = &MatchOptions{}
	}
	scratch := x.triggers.scratch.Get().(*scratch)
	defer x.triggers.scratch.Put(scratch)
	scratch.hits = x.triggers.find(words.Capped(query), scratch)
	hits := merged(scratch.hits)
	if len(hits) == 0 {
		return nil
	}
	for i, name := range o.Recent {
		x.recent(hits, name, max(1, recentScore-i))
	}
	slices.SortFunc(hits, func(a, b found) int {
		if a.score != b.score {
			return int(b.score - a.score)
		}
		return cmp.Or(cmp.Compare(x.triggers.priority[b.doc], x.triggers.priority[a.doc]), int(a.doc-b.doc))
	})
	limit := o.Max
	if limit <= 0 {
		limit = defaultMax
	}
	out := make([]Match, min(limit, len(hits)))
	for i := range out {
		h := hits[i]
		out[i] = Match{Entry: x.entries[h.doc], Score: int(h.score), kind: h.kind, at: h.at}
	}
	return out
}

func (x *Index) recent(hits []found, name string, score int) {
	name = manifest.Canonical(name)
	for i := range hits {
		if hits[i].score&recentScore == 0 && x.entries[hits[i].doc].Canonical() == name {
			hits[i].score += int32(score)
		}
	}
}

// found is one skill that was matched, with its best reason.
type found struct {
	doc   int32
	score int32
	at    int32 // position of the keyword, verb or pattern in the skill's list
	kind  kind
}

// scratch is the memory of one query.
type scratch struct {
	words words.Folded
	hits  []found
}

// merged merges the hits of each skill into one, whose score is that of the best phrase plus that of the name.
func merged(hits []found) []found {
	slices.SortFunc(hits, func(a, b found) int {
		if a.doc != b.doc {
			return int(a.doc - b.doc)
		}
		return int(b.score - a.score)
	})
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

// find returns all hits of query; a skill may have several.
func (x *triggers) find(query string, s *scratch) []found {
	w, hits := &s.words, s.hits[:0]
	w.Fold(query)
	low := "" // made on first use
	for i := range w.Len() {
		for j := i + 1; j <= min(i+gram, w.Len()); j++ {
			key := w.Span(i, j)
			hash := x.hash(key)
			for at := x.first(hash); at > 0; at = x.targets[at-1].next {
				t := &x.targets[at-1]
				if !x.is(t, hash, key) || t.common && w.Len() > 1 && !bytes.HasPrefix(w.Text[w.Ends[j-1]:], []byte(" skill ")) {
					continue
				}
				if t.signed > 0 && low == "" {
					low = squeeze(query)
				}
				if x.confirmed(t, w.Text[w.Begins[i]:], low) {
					hits = append(hits, found{doc: t.doc, at: int32(t.at), kind: t.kind, score: t.score()})
				}
			}
		}
	}
	for _, p := range x.patterns.match(query) {
		hits = append(hits, found{doc: p.doc, at: p.at, kind: byPattern, score: patternScore})
	}
	return hits
}

func (t *target) score() int32 {
	if t.kind == byName {
		return nameScore
	}
	return phraseScore * int32(t.words)
}

// confirmed reports whether the whole phrase of t follows its first words: at the beginning of words or, if the phrase has
// signs, anywhere in the squeezed query.
func (x *triggers) confirmed(t *target, text []byte, low string) bool {
	if t.signed > 0 {
		return hasPhrase(low, x.signed[t.signed-1])
	}
	return t.size == t.key || bytes.HasPrefix(text, x.text[t.from:t.from+uint32(t.size)+1]) // including the space after it
}
