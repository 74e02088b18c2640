package disclose

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/skill"
)

// Hit is one skill that a search found.
type Hit struct {
	Entry skill.Entry
	Score float64 // higher is better; comparable within one search only
}

// Search returns the max best skills for the words of query, best first, equal ones by name; max 0
// means 10. It ranks by BM25 over names, tags, trigger words and descriptions. A word that no skill has counts as
// the beginning of one, or else as a misspelt one. A query that is a skill's name puts it first.
func (x *Index) Search(query string, max int) []Hit {
	if max <= 0 {
		max = 10
	}
	w := x.words()
	scores := w.scores.Get().(*[]float32)
	defer func() {
		clear(*scores)
		w.scores.Put(scores)
	}()
	if !w.score(capped(query), *scores) {
		return nil
	}
	best := top(*scores, max)
	hits := make([]Hit, len(best))
	for i, d := range best {
		hits[i] = Hit{x.entries[d], float64((*scores)[d])}
	}
	return hits
}

// The constants of BM25, the weights of a document's parts, and the weight of an inexact word.
const (
	k1, b75      = 1.2, 0.75
	nameWeight   = 3
	tagWeight    = 2
	exactName    = 100
	inexact      = 0.5
	maxInexact   = 32 // terms that replace one unknown word
	maxUnknown   = 4  // unknown words that are replaced
	shortestTypo = 4  // letters
)

// wordIndex is an inverted index with the score of each pair of term and skill worked out.
type wordIndex struct {
	terms  map[string]uint32
	sorted []string // terms in order, for beginnings
	start  []uint32 // posts[start[t]:start[t+1]] are of term t
	posts  []post
	n      int
	names  map[uint64]uint32 // hash of a folded name to skill
	seed   maphash.Seed
	scores sync.Pool // of *[]float32, all zero

	scratch sync.Pool // of *words
}

type post struct {
	doc   uint32
	score float32
}

// tally is one term of one skill with its weighted count.
type tally struct {
	term, doc, count uint32
}

func newWordIndex(entries []skill.Entry) *wordIndex {
	x := &wordIndex{terms: map[string]uint32{}, names: make(map[uint64]uint32, len(entries)), seed: maphash.MakeSeed(), n: len(entries)}
	t := tallies{index: x, list: make([]tally, 0, 48*len(entries))}
	lengths := make([]float64, len(entries))
	total := 0.0
	for d, e := range entries {
		t.doc, t.begin, t.length = uint32(d), len(t.list), 0
		t.add(e.Name(), nameWeight)
		x.names[maphash.Bytes(x.seed, t.words.text)] = uint32(d)
		triggers := e.Triggers()
		for _, list := range [][]string{e.Tags(), triggers.Keywords, triggers.Verbs} {
			for _, tag := range list {
				t.add(tag, tagWeight)
			}
		}
		t.add(e.Description(), 1)
		t.add(e.WhenToUse(), 1)
		if s := e.Brief(); !strings.HasPrefix(e.Description(), strings.TrimSuffix(s, "...")) {
			t.add(s, 1)
		}
		lengths[d] = float64(t.length)
		total += lengths[d]
	}
	x.fill(t.list, lengths, total/math.Max(1, float64(len(entries))))
	x.scores.New = func() any { s := make([]float32, x.n); return &s }
	x.scratch.New = func() any { return new(words) }
	return x
}

// tallies counts the words of one skill after the other.
type tallies struct {
	index  *wordIndex
	list   []tally
	last   []int // of each term, its newest tally's position plus one
	doc    uint32
	begin  int // of doc's tallies in list
	length int // words of doc, each as often as it weighs
	words  words
}

// add counts each word of s weight times.
func (t *tallies) add(s string, weight uint32) {
	t.words.fold(s)
	for i := range t.words.len() {
		word := t.words.span(i, i+1)
		id, ok := t.index.terms[string(word)]
		if !ok {
			id = uint32(len(t.last))
			t.index.terms[string(word)] = id
			t.last = append(t.last, 0)
		}
		t.length += int(weight)
		if at := t.last[id]; at > t.begin {
			t.list[at-1].count += weight
			continue
		}
		t.list = append(t.list, tally{id, t.doc, weight})
		t.last[id] = len(t.list)
	}
}

// fill orders the tallies by term and turns their counts into scores.
func (x *wordIndex) fill(tallies []tally, lengths []float64, mean float64) {
	x.start = make([]uint32, len(x.terms)+1)
	for _, t := range tallies {
		x.start[t.term+1]++
	}
	for i := range len(x.terms) {
		x.start[i+1] += x.start[i]
	}
	next := slices.Clone(x.start)
	x.posts = make([]post, len(tallies))
	for _, t := range tallies {
		have := float64(x.start[t.term+1] - x.start[t.term])
		idf := math.Log(1 + (float64(x.n)-have+0.5)/(have+0.5))
		tf := float64(t.count)
		s := idf * tf * (k1 + 1) / (tf + k1*(1-b75+b75*lengths[t.doc]/mean))
		x.posts[next[t.term]] = post{t.doc, float32(s)}
		next[t.term]++
	}
	x.sorted = make([]string, 0, len(x.terms))
	for t := range x.terms {
		x.sorted = append(x.sorted, t)
	}
	slices.Sort(x.sorted)
}

// score adds up the scores of the skills that have words of query, and reports whether any has.
// Words that most skills have are left out if there are others, because they distinguish nothing.
func (x *wordIndex) score(query string, scores []float32) bool {
	w := x.scratch.Get().(*words)
	defer x.scratch.Put(w)
	w.fold(query)
	var idBuf, commonBuf [64]uint32
	ids, common := idBuf[:0], commonBuf[:0]
	unknown, any := 0, false
	for i := range w.len() {
		word := w.span(i, i+1)
		id, ok := x.terms[string(word)]
		switch {
		case !ok && unknown < maxUnknown:
			unknown++
			for _, near := range x.near(string(word)) {
				any = true
				x.addPosts(x.terms[near], inexact, scores)
			}
		case !ok || slices.Contains(ids, id):
		case int(x.start[id+1]-x.start[id]) > x.n/2:
			common = append(common, id)
		default:
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 && !any {
		ids = common
	}
	for _, id := range ids {
		x.addPosts(id, 1, scores)
	}
	if d, ok := x.names[maphash.Bytes(x.seed, w.text)]; ok {
		scores[d] += exactName
	}
	return any || len(ids) > 0
}

func (x *wordIndex) addPosts(id uint32, weight float32, scores []float32) {
	for _, p := range x.posts[x.start[id]:x.start[id+1]] {
		scores[p.doc] += weight * p.score
	}
}

// near returns the terms that begin with word, or else those with its first letter that are one
// typing error away from it.
func (x *wordIndex) near(word string) []string {
	if len(word) < 2 {
		return nil
	}
	i, _ := slices.BinarySearch(x.sorted, word)
	j := i
	for j < len(x.sorted) && j-i < maxInexact && strings.HasPrefix(x.sorted[j], word) {
		j++
	}
	if j > i || len(word) < shortestTypo {
		return x.sorted[i:j]
	}
	var out []string
	first, _ := slices.BinarySearch(x.sorted, word[:1])
	for _, t := range x.sorted[first:] {
		if t[0] != word[0] || len(out) == maxInexact {
			break
		}
		if d := len(t) - len(word); d >= -1 && d <= 1 && oneEdit(t, word) {
			out = append(out, t)
		}
	}
	return out
}

// oneEdit reports whether a and b, whose lengths differ by at most one byte, differ by one byte
// put in, left out or replaced, or by two neighbours swapped.
func oneEdit(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) > len(b) {
		return a[i+1:] == b[i:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// top returns the positions of the n highest scores above zero, highest first, equal ones in order.
func top(scores []float32, n int) []uint32 {
	best := make([]uint32, 0, min(n, len(scores)))
	least := float32(0)
	for d, s := range scores {
		if s <= least {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(o uint32, s float32) int { return cmp.Compare(s, scores[o]) })
		for at < len(best) && scores[best[at]] == s {
			at++
		}
		if len(best) < cap(best) {
			best = append(best, 0)
		}
		copy(best[at+1:], best[at:])
		best[at] = uint32(d)
		if len(best) == cap(best) {
			least = scores[best[len(best)-1]]
		}
	}
	return best
}
