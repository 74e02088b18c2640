package rank

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

// Index is an inverted index with the score of each pair of term and document worked out, and the terms of each document in
// their order, for phrases. It is immutable and safe for concurrent use.
type Index struct {
	stop   map[string]bool   // words that do not count
	terms  map[string]uint32 // stems
	sorted func() []string   // terms in order, for beginnings

	glossary  func() *words.Glossary  // for requests in another language
	inflected func() *words.Inflected // likewise

	start  []uint32 // posts[start[t]:start[t+1]] are of term t
	posts  []Hit
	idf    []float32         // of each term
	n      int               // documents
	order  []uint32          // terms of all documents in the order of their texts, the name first, with gap and quoted between them
	begin  []uint32          // order[begin[d]:begin[d+1]] is of document d
	names  map[uint64]uint32 // hash of a folded name to document
	seed   maphash.Seed
	scores sync.Pool // of *[]float32, all zero

	scratch sync.Pool // of *words.Folded
}

// Doc is what is known of a document besides its name. Words of the name count more than those of the tags, and these more than words
// of the texts.
type Doc struct{ Tags, Texts []string }

// Hit is a document that a request found.
type Hit struct {
	Doc   uint32 // its position
	Score float32
}

// tally is one term of one document with its weighted count.
type tally struct {
	term, doc, count uint32
}

// gap stands where no phrase goes on, and quoted where one in quotation marks begins; ignored is the number of a stop word.
const (
	gap     = math.MaxUint32
	ignored = math.MaxUint32 - 1
	quoted  = math.MaxUint32 - 2
)

// New returns an index of the documents with these names; doc returns the rest of one of them.
func New(names []string, doc func(i int) Doc) *Index {
	n := len(names)
	x := &Index{stop: words.StopSet(), terms: map[string]uint32{}, names: make(map[uint64]uint32, n), seed: maphash.MakeSeed(), n: n, begin: make([]uint32, 1, n+1)}
	var w words.Folded
	for d, name := range names {
		w.Fold(name)
		x.names[x.hash(&w)] = uint32(d)
	}
	x.order = make([]uint32, 0, 64*n)
	b := builder{index: x, known: map[string]uint32{}, list: make([]tally, 0, 48*n), lengths: make([]float64, 0, n)}
	for d, name := range names {
		b.count(uint32(d), name, doc(d))
	}
	x.fill(b.list, b.lengths)
	x.sorted, x.glossary, x.inflected = sync.OnceValue(x.sort), sync.OnceValue(words.NewGlossary), sync.OnceValue(words.NewInflected)
	x.scores.New = func() any { s := make([]float32, x.n); return &s }
	x.scratch.New = func() any { return new(words.Folded) }
	return x
}

func (x *Index) hash(w *words.Folded) uint64 { return maphash.Bytes(x.seed, w.Text) }

// builder counts the terms of one document after the other.
type builder struct {
	index   *Index
	known   map[string]uint32 // words to their terms: each is cut to its stem once
	list    []tally
	last    []int // of each term, its newest tally's position plus one
	lengths []float64

	doc     uint32
	begin   int // of doc's tallies in list
	length  int // words of doc, each as often as it weighs
	name    words.Folded
	scanner words.Scanner
}

// count counts the terms of one document.
func (b *builder) count(d uint32, name string, doc Doc) {
	b.doc, b.begin, b.length = d, len(b.list), 0
	b.add(name, nameWeight, gap)
	for _, tag := range doc.Tags {
		b.add(tag, tagWeight, gap)
	}
	for _, s := range doc.Texts {
		for part := range positive(words.Capped(s), b.other) {
			b.addText(part)
		}
	}
	b.lengths = append(b.lengths, float64(b.length))
	b.index.begin = append(b.index.begin, uint32(len(b.index.order)))
}

// other reports whether name is the name of another document than the present one.
func (b *builder) other(name string) bool {
	b.name.Fold(name)
	d, ok := b.index.names[b.index.hash(&b.name)]
	return ok && d != b.doc
}

// addText counts each word of a part of a description.
func (b *builder) addText(s string) {
	for text, inQuotes := range passages(s, 1, longQuote) {
		mark := uint32(gap)
		if inQuotes {
			mark = quoted
		}
		b.add(text, 1, mark)
	}
}

// add counts each word of s weight times. It puts mark before them.
func (b *builder) add(s string, weight, mark uint32) {
	x := b.index
	x.order = append(x.order, mark)
	sc := &b.scanner
	for sc.Read(s); sc.Next(); {
		if !sc.Joined {
			x.order = append(x.order, gap)
		}
		id := b.term(sc.Word)
		if id == ignored && weight == nameWeight { // a document may be called "hello"
			id = b.cut(string(sc.Word))
		}
		if id == ignored {
			continue
		}
		if !sc.Part {
			x.order = append(x.order, id)
		}
		b.length += int(weight)
		if at := b.last[id]; at > b.begin {
			b.list[at-1].count += weight
			continue
		}
		b.list = append(b.list, tally{id, b.doc, weight})
		b.last[id] = len(b.list)
	}
}

// term returns the number of a word's term, or ignored for a word that does not count.
func (b *builder) term(word []byte) uint32 {
	if id, ok := b.known[string(word)]; ok {
		return id
	}
	key, id := string(word), uint32(ignored)
	if !b.index.stop[key] {
		id = b.cut(key)
	}
	b.known[key] = id
	return id
}

// cut returns the number of a word's stem.
func (b *builder) cut(word string) uint32 {
	stem := string(words.Stem([]byte(word)))
	id, ok := b.index.terms[stem]
	if !ok {
		id = uint32(len(b.last))
		b.index.terms[stem] = id
		b.last = append(b.last, 0)
	}
	return id
}

// fill orders the tallies by term and turns their counts into scores.
func (x *Index) fill(tallies []tally, lengths []float64) {
	total := 0.0
	for _, l := range lengths {
		total += l
	}
	mean := total / math.Max(1, float64(x.n))
	x.start = make([]uint32, len(x.terms)+1)
	for _, t := range tallies {
		x.start[t.term+1]++
	}
	x.idf = make([]float32, len(x.terms))
	for i := range len(x.terms) {
		have := float64(x.start[i+1])
		x.idf[i] = float32(math.Log(1 + (float64(x.n)-have+0.5)/(have+0.5)))
		x.start[i+1] += x.start[i]
	}
	next := slices.Clone(x.start)
	x.posts = make([]Hit, len(tallies))
	for _, t := range tallies {
		tf := float64(t.count)
		s := float64(x.idf[t.term]) * tf * (k1 + 1) / (tf + k1*(1-b75+b75*lengths[t.doc]/mean))
		x.posts[next[t.term]] = Hit{t.doc, float32(s)}
		next[t.term]++
	}
	x.order = slices.Clip(x.order)
}

func (x *Index) sort() []string {
	sorted := make([]string, 0, len(x.terms))
	for t := range x.terms {
		sorted = append(sorted, t)
	}
	slices.Sort(sorted)
	return sorted
}

// near returns the terms that begin with word, or else those with its first letter that are one
// typing error away from it.
func (x *Index) near(word string) []string {
	if len(word) < 2 {
		return nil
	}
	sorted := x.sorted()
	i, _ := slices.BinarySearch(sorted, word)
	j := i
	for j < len(sorted) && j-i < maxInexact && strings.HasPrefix(sorted[j], word) {
		j++
	}
	if j > i || len(word) < shortestTypo {
		return sorted[i:j]
	}
	var out []string
	first, _ := slices.BinarySearch(sorted, word[:1])
	for _, t := range sorted[first:] {
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
