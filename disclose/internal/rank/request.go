package rank

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

// Request is a query as an index reads it.
type Request struct {
	terms   []weighted // known ones, each once
	pairs   []pair
	unknown []string
	words   int   // that count
	every   bool  // every word counts
	foreign bool  // it has words of words.Inflected
	doc     int32 // the position of the document that the query names, or -1
}

type weighted struct {
	term   uint32
	weight float32
}

// pair is two neighbouring words of the query.
type pair struct {
	first, second uint32
	weight        float32
}

// Read returns what the index knows of a query.
func (x *Index) Read(query string) *Request {
	q := &Request{doc: -1}
	w := x.scratch.Get().(*words.Folded)
	defer x.scratch.Put(w)
	w.Fold(query)
	if d, ok := x.names[x.hash(w)]; ok {
		q.doc = int32(d)
	}
	q.addAll(x, query)
	return q
}

// ReadKeywords is Read for a query that may be the name of something: if it has nothing but words that do not count, they
// do.
func (x *Index) ReadKeywords(query string) *Request {
	q := x.Read(query)
	if q.words == 0 {
		q.every = true
		q.addAll(x, query)
	}
	return q
}

// addAll adds the words of a query.
func (q *Request) addAll(x *Index, query string) {
	weight := float32(1)
	q.foreign = x.isForeign(query)
	for text, inQuotes := range passages(query, longQuote, math.MaxInt) {
		if inQuotes {
			q.add(x, text, background)
		} else {
			weight = q.add(x, text, weight)
		}
	}
	q.terms = heaviest(q.terms)
}

// add adds the words of a text whose first sentence has the weight first, and returns that of a sentence after it.
func (q *Request) add(x *Index, text string, first float32) (next float32) {
	before, terms, pairs := uint32(gap), len(q.terms), len(q.pairs)
	end := func(sign rune) {
		if len(q.terms) == terms { // "Hi!" is not the first sentence of a request
			return
		}
		if sign != '?' {
			q.weigh(terms, pairs, first)
		}
		first, terms, pairs = background, len(q.terms), len(q.pairs)
	}
	var sc words.Scanner
	for sc.Read(text); sc.Next(); {
		if sc.Ended != 0 {
			end(sc.Ended)
		}
		if sc.Run != "" {
			q.gloss(x, sc.Run)
		}
		if !sc.Joined {
			before = gap
		}
		if !q.every && (x.stop[string(sc.Word)] || words.Grammatical(sc.Word)) || q.foreign && x.inflected().Small(sc.Word) {
			continue
		}
		q.words++
		word := words.Stem(sc.Word)
		id, ok := x.terms[string(word)]
		if !ok {
			before = gap
			if english := x.inflected().In(sc.Word); english != "" {
				q.translate(x, english)
			} else {
				q.unknown = append(q.unknown, string(word))
			}
			continue
		}
		q.terms = append(q.terms, weighted{id, 1})
		if sc.Part {
			continue
		}
		if words.Characters(word) { // three that stand together are two words that do
			before = gap
			continue
		}
		if before != gap && len(q.pairs) < maxPairs {
			q.pairs = append(q.pairs, pair{before, id, 1})
		}
		before = id
	}
	end(sc.Ended)
	return first
}

// gloss adds the English of the words in a text of characters that are read in pairs.
func (q *Request) gloss(x *Index, text string) {
	for _, english := range x.glossary().In(text) {
		q.translate(x, english)
	}
}

// isForeign reports whether a query has a word that words.Inflected has and no document, and unlike its English.
func (x *Index) isForeign(query string) bool {
	var sc words.Scanner
	for sc.Read(query); sc.Next(); {
		word := string(sc.Word)
		if _, known := x.terms[string(words.Stem(sc.Word))]; known {
			continue
		}
		english := x.inflected().In([]byte(word))
		if english != "" && !strings.Contains(" "+english, " "+word[:min(len(word), 4)]) {
			return true
		}
	}
	return false
}

// translate adds the English words of a word of another language.
func (q *Request) translate(x *Index, english string) {
	var sc words.Scanner
	for sc.Read(english); sc.Next(); {
		if id, ok := x.terms[string(words.Stem(sc.Word))]; ok {
			q.terms = append(q.terms, weighted{id, translated})
		}
	}
}

// weigh gives the terms and pairs from two positions on their weight.
func (q *Request) weigh(terms, pairs int, weight float32) {
	for i := range q.terms[terms:] {
		q.terms[terms+i].weight *= weight
	}
	for i := range q.pairs[pairs:] {
		q.pairs[pairs+i].weight *= weight
	}
}

// heaviest returns each term once, with its highest weight.
func heaviest(terms []weighted) []weighted {
	slices.SortFunc(terms, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(b.weight, a.weight))
	})
	return slices.CompactFunc(terms, func(a, b weighted) bool { return a.term == b.term })
}

// longQuote is the least length in bytes of a text in quotation marks that is material, such as a text to correct, and not
// a part of the request.
const longQuote = 40

// passages yields the parts of a text, and for each whether it is one in quotation marks of at least least bytes and fewer
// than most.
func passages(s string, least, most int) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		from := 0
		for i := 0; i < len(s); i++ {
			if c := s[i]; c < utf8.RuneSelf && c != '"' && c != '\'' && c != '`' {
				continue
			}
			n, length := quotation(s, i)
			if n < least || n >= most {
				continue
			}
			if !yield(s[from:i], false) || !yield(s[i+length-n:i+length], true) {
				return
			}
			from, i = i+length, i+length
		}
		yield(s[from:], false)
	}
}

// quotation returns the length of the quoted text that begins at i, without and with its opening mark, or 0.
func quotation(s string, i int) (inside, all int) {
	mark, n := utf8.DecodeRuneInString(s[i:])
	last, ok := closing[mark]
	if !ok || mark == '\'' && i > 0 && s[i-1] != ' ' && s[i-1] != '\n' {
		return 0, 0
	}
	for rest := s[i+n:]; ; {
		at := strings.IndexRune(rest, last)
		if at < 0 {
			return 0, 0
		}
		rest = rest[at+utf8.RuneLen(last):]
		if last != '\'' || rest == "" || !words.Letter(rest[0]) { // not an apostrophe
			inside = len(s) - i - n - len(rest) - utf8.RuneLen(last)
			return inside, inside + n
		}
	}
}

// closing has the marks that end a quotation.
var closing = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '「': '」'}
