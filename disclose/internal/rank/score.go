package rank

import (
	"cmp"
	"math"
	"slices"
)

// The constants of BM25, the weights of a document's parts and of a query's, and the weight of an inexact word.
const (
	k1, b75         = 1.6, 0.75
	nameWeight      = 3
	tagWeight       = 2
	exactName       = 100
	background      = 0.5 // of a sentence that is neither the first nor a question
	phrase          = 0.4 // of two words that stand together, as a share of what they count
	nameShare       = 0.6 // of the words of a name that the query has all of, likewise
	rephrased       = 20  // best documents that are looked through for phrases
	inexact         = 0.5
	translated      = 0.5  // of the English of a word of another language
	rareEnough      = 0.75 // of the weight of a word that one document has: what a document needs for a request to be about it
	maxInexact      = 32   // terms that replace one unknown word
	longestKeywords = 4    // words of a query in which unknown ones are replaced: a longer one is a sentence
	maxPairs        = 64   // pairs of words that are looked for
	shortestTypo    = 4    // letters
	fewHits         = 50   // that are found without sorting all
)

// Enough returns what a document must score at least for a request to be about it.
func (x *Index) Enough() float64 { return math.Log(1+float64(x.n)) * rareEnough }

// Find returns the max best documents for q, best first, equal ones in order.
func (x *Index) Find(q *Request, max int) []Hit {
	scores := x.scores.Get().(*[]float32)
	defer func() {
		clear(*scores)
		x.scores.Put(scores)
	}()
	if !x.score(q, *scores) {
		return nil
	}
	best := top(*scores, max)
	found := make([]Hit, len(best))
	for i, d := range best {
		found[i] = Hit{d, (*scores)[d]}
	}
	return found
}

// score adds up the scores of the documents that have words of q, and reports whether any has.
func (x *Index) score(q *Request, scores []float32) bool {
	any := q.doc >= 0 || len(q.terms) > 0
	for _, word := range q.unknown {
		if q.words > longestKeywords {
			break
		}
		for _, near := range x.near(word) {
			any = true
			x.addPosts(weighted{x.terms[near], inexact}, scores)
		}
	}
	for _, t := range q.terms {
		x.addPosts(t, scores)
	}
	if q.doc >= 0 {
		scores[q.doc] += exactName
	}
	if any && len(q.terms) > 0 {
		for _, d := range top(scores, rephrased) {
			scores[d] += x.together(q, x.order[x.begin[d]:x.begin[d+1]])
		}
	}
	return any
}

func (x *Index) addPosts(t weighted, scores []float32) {
	for _, p := range x.posts[x.start[t.term]:x.start[t.term+1]] {
		scores[p.Doc] += t.weight * p.Score
	}
}

// together returns what a document with this text scores for words of q that stand together in it.
func (x *Index) together(q *Request, text []uint32) float32 {
	name := phraseAt(text, 0)
	sum, n := x.shared(q, name)
	return x.pairs(q, text) + x.trigger(q, text) + sum*nameShare*float32(n)/float32(max(1, len(name)))
}

// pairs returns what a text scores for the pairs of q that it has.
func (x *Index) pairs(q *Request, text []uint32) float32 {
	var found [maxPairs]bool
	sum := float32(0)
	for i := 1; i < len(text); i++ {
		for j, p := range q.pairs {
			if p.second == text[i] && p.first == text[i-1] && !found[j] {
				found[j] = true
				sum += phrase * p.weight * (x.idf[p.first] + x.idf[p.second])
			}
		}
	}
	return sum
}

// trigger returns what a text scores for the heaviest of its phrases in quotation marks of which q has all the words. One
// word alone is no phrase.
func (x *Index) trigger(q *Request, text []uint32) float32 {
	best := float32(0)
	for i, t := range text {
		if t != quoted {
			continue
		}
		p := phraseAt(text, i)
		if sum, n := x.shared(q, p); n > 1 && n == len(p) {
			best = max(best, sum)
		}
	}
	return best
}

// phraseAt returns the terms after position i of a text, up to the next mark.
func phraseAt(text []uint32, i int) []uint32 {
	n := i + 1
	for n < len(text) && text[n] < quoted {
		n++
	}
	return text[i+1 : n]
}

// shared returns what the terms of phrase count that q has, and their number.
func (x *Index) shared(q *Request, phrase []uint32) (sum float32, n int) {
	for _, t := range phrase {
		if i, ok := slices.BinarySearchFunc(q.terms, t, func(w weighted, t uint32) int { return cmp.Compare(w.term, t) }); ok {
			sum += q.terms[i].weight * x.idf[t]
			n++
		}
	}
	return sum, n
}

// top returns the positions of the n highest scores above zero, highest first, equal ones in order.
func top(scores []float32, n int) []uint32 {
	if n > fewHits {
		return sorted(scores, n)
	}
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

// sorted is top for a large n.
func sorted(scores []float32, n int) []uint32 {
	var all []uint32
	for d, s := range scores {
		if s > 0 {
			all = append(all, uint32(d))
		}
	}
	slices.SortStableFunc(all, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
	return all[:min(n, len(all))]
}
