package disclose

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// request is a query as the index reads it.
type request struct {
	terms   []weighted // known ones, each once
	pairs   []pair
	unknown []string
	words   int   // that count
	every   bool  // every word counts
	foreign bool  // it has words of wordGlossary
	skill   int32 // the position of the skill that the query names, or -1
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

// read returns what the index knows of a query.
func (x *wordIndex) read(query string) *request {
	q := &request{skill: -1}
	w := x.scratch.Get().(*words)
	defer x.scratch.Put(w)
	w.fold(query)
	if d, ok := x.names[x.hash(w)]; ok {
		q.skill = int32(d)
	}
	q.addAll(x, query)
	return q
}

// readKeywords is read for a query that may be the name of something: if it has nothing but words that do not count, they
// do.
func (x *wordIndex) readKeywords(query string) *request {
	q := x.read(query)
	if q.words == 0 {
		q.every = true
		q.addAll(x, query)
	}
	return q
}

// addAll adds the words of a query.
func (q *request) addAll(x *wordIndex, query string) {
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
func (q *request) add(x *wordIndex, text string, first float32) (next float32) {
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
	var sc scanner
	for sc.read(text); sc.next(); {
		if sc.ended != 0 {
			end(sc.ended)
		}
		if sc.run != "" {
			q.gloss(x, sc.run)
		}
		if !sc.joined {
			before = gap
		}
		if !q.every && (x.stop[string(sc.word)] || grammatical(sc.word)) || q.foreign && x.foreign().small[unaccented(sc.word)] {
			continue
		}
		q.words++
		word := stem(sc.word)
		id, ok := x.terms[string(word)]
		if !ok {
			before = gap
			if english := x.foreign().in(sc.word); english != "" {
				q.translate(x, english)
			} else {
				q.unknown = append(q.unknown, string(word))
			}
			continue
		}
		q.terms = append(q.terms, weighted{id, 1})
		if sc.part {
			continue
		}
		if characters(word) { // three that stand together are two words that do
			before = gap
			continue
		}
		if before != gap && len(q.pairs) < maxPairs {
			q.pairs = append(q.pairs, pair{before, id, 1})
		}
		before = id
	}
	end(sc.ended)
	return first
}

// gloss adds the English of the words in a text of characters that are read in pairs.
func (q *request) gloss(x *wordIndex, text string) {
	for _, english := range x.glosses().in(text) {
		q.translate(x, english)
	}
}

// isForeign reports whether a query has a word that is in wordGlossary, in no skill, and unlike its English.
func (x *wordIndex) isForeign(query string) bool {
	var sc scanner
	for sc.read(query); sc.next(); {
		word := string(sc.word)
		if _, known := x.terms[string(stem(sc.word))]; known {
			continue
		}
		english := x.foreign().in([]byte(word))
		if english != "" && !strings.Contains(" "+english, " "+word[:min(len(word), 4)]) {
			return true
		}
	}
	return false
}

// translate adds the English words of a word of another language.
func (q *request) translate(x *wordIndex, english string) {
	var sc scanner
	for sc.read(english); sc.next(); {
		if id, ok := x.terms[string(stem(sc.word))]; ok {
			q.terms = append(q.terms, weighted{id, translated})
		}
	}
}

// weigh gives the terms and pairs from two positions on their weight.
func (q *request) weigh(terms, pairs int, weight float32) {
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
		if last != '\'' || rest == "" || !letter(rest[0]) { // not an apostrophe
			inside = len(s) - i - n - len(rest) - utf8.RuneLen(last)
			return inside, inside + n
		}
	}
}

// closing has the marks that end a quotation.
var closing = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '「': '」'}
