package disclose

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// kind is the part of a skill that a query matched.
type kind uint8

const (
	byPattern kind = iota
	byVerb
	byKeyword
	byName
)

// triggers finds the phrases of all skills in a query by looking up its runs of one to three words.
type triggers struct {
	seed     maphash.Seed
	filter   []uint64 // a bit for the high bits of each key's hash: most runs of a query are not keys
	heads    []int32  // for the low bits of a key's hash the first of its targets, plus one
	targets  []target
	priority []int32  // of each skill
	text     []byte   // the folded phrases of all targets, a space after each
	signed   []string // the phrases with signs, squeezed
	patterns *patterns
	problems []manifest.Problem
	scratch  sync.Pool // of *scratch
}

// target is a skill that a phrase leads to. Those whose hashes have the same low bits are linked.
type target struct {
	hash   uint32 // of its key: at most the first three words of the phrase
	next   int32  // position in targets plus one; 0 ends the list
	signed int32  // position in signed, plus one, of a phrase that must also be in the query; 0 means none
	from   uint32 // its words begin there in text
	size   uint16 // bytes of its words in text, without the space after them
	key    uint16 // bytes of its key
	doc    int32
	at     uint16 // position among the skill's keywords or verbs
	kind   kind
	words  uint8 // at most 255
	common bool  // it is a name such as "help" or "run", which names the skill only alone or before "skill"
}

// gram is the most words that are looked up at once.
const gram = 3

// maxPhrases is the most keywords, and the most verbs, of one skill.
const maxPhrases = 1000

func newTriggers(entries []skill.Entry) *triggers {
	x := &triggers{seed: maphash.MakeSeed(), scratch: sync.Pool{New: func() any { return new(scratch) }}}
	n := len(entries)
	for _, e := range entries {
		n += len(e.Triggers().Keywords) + len(e.Triggers().Verbs)
	}
	x.targets, x.text = make([]target, 0, n), make([]byte, 0, 16*n)
	x.priority = make([]int32, len(entries))
	x.patterns = &patterns{grams: map[[gram]byte][]int32{}}
	var w words.Folded
	common := words.StopSet()
	for verb := range strings.FieldsSeq(words.PlainVerbs) {
		common[verb] = true
	}
	for d, e := range entries {
		doc, t := int32(d), e.Triggers()
		x.priority[d] = int32(e.Priority())
		x.add(&w, e.Canonical(), target{doc: doc, kind: byName, common: common[e.Canonical()]})
		for i, s := range firstOf(t.Keywords) {
			x.add(&w, s, target{doc: doc, kind: byKeyword, at: uint16(i)})
		}
		for i, s := range firstOf(t.Verbs) {
			x.add(&w, s, target{doc: doc, kind: byVerb, at: uint16(i)})
		}
		for i, s := range t.Patterns {
			if err := x.patterns.add(s, i, doc, e.Priority()); err != nil {
				x.problems = append(x.problems, patternProblem(e, s, err))
			}
		}
	}
	x.link()
	x.patterns.order()
	return x
}

// link makes the table of all targets, in one go: so many places far apart are reached sooner without other work
// between them.
func (x *triggers) link() {
	size := 2 << bits.Len(uint(len(x.targets))) // a power of two, at least twice as many as there are
	x.heads, x.filter = make([]int32, size), make([]uint64, max(1, 8*size/64))
	for i := range x.targets {
		t := &x.targets[i]
		word, bit := x.place(t.hash)
		x.filter[word] |= bit
		head := x.head(t.hash)
		t.next, *head = *head, int32(i+1)
	}
}

func firstOf(list []string) []string { return list[:min(len(list), maxPhrases)] }

// add notes one phrase, for link. One without a letter or digit can match nothing and is left out.
func (x *triggers) add(w *words.Folded, phrase string, t target) {
	phrase = words.Capped(phrase)
	w.Fold(phrase)
	n := w.Len()
	if n == 0 {
		return
	}
	if t.kind != byName && phrase != string(w.Text[1:len(w.Text)-1]) && signed(phrase) {
		x.signed = append(x.signed, squeeze(phrase))
		t.signed = int32(len(x.signed))
	}
	key := w.Span(0, min(n, gram))
	t.words, t.key = uint8(min(n, 255)), uint16(len(key))
	t.from, t.size = uint32(len(x.text)), uint16(len(w.Text)-2)
	x.text = append(x.text, w.Text[1:]...)
	t.hash = x.hash(key)
	x.targets = append(x.targets, t)
}

func (x *triggers) hash(key []byte) uint32 { return uint32(maphash.Bytes(x.seed, key)) }

func (x *triggers) head(hash uint32) *int32 { return &x.heads[int(hash)&(len(x.heads)-1)] }

// place returns where the filter has the bit for a hash.
func (x *triggers) place(hash uint32) (word int, bit uint64) {
	return int(hash>>13) & (len(x.filter) - 1), 1 << (hash >> 7 & 63)
}

// first returns the first of the targets that the key with this hash may lead to, plus one; 0 for none.
func (x *triggers) first(hash uint32) int32 {
	if word, bit := x.place(hash); x.filter[word]&bit == 0 {
		return 0
	}
	return *x.head(hash)
}

// is reports whether key, whose hash is given, is the one of t.
func (x *triggers) is(t *target, hash uint32, key []byte) bool {
	return t.hash == hash && string(x.text[t.from:t.from+uint32(t.key)]) == string(key)
}

// signed reports whether a phrase has a sign that is part of its meaning, such as the one of "c++",
// "c#" or ".net".
func signed(phrase string) bool {
	for i := range len(phrase) {
		switch phrase[i] {
		case '+', '#', '.', '@', '$', '%', '*', '=', '&', '/', '\\':
			return true
		}
	}
	return false
}

// squeeze returns s in lower case with single spaces and its signs.
func squeeze(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// hasPhrase reports whether phrase is in text with no letter, digit or sign of its own kind on
// either side. Both are squeezed.
func hasPhrase(text, phrase string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			return false
		}
		i += at
		j := i + len(phrase)
		if edge(text[:i], phrase[:1], true) && edge(text[j:], phrase[len(phrase)-1:], false) {
			return true
		}
		at = i + 1
	}
}

// edge reports whether a phrase that ends with the byte own may stand next to side.
func edge(side, own string, before bool) bool {
	if side == "" {
		return true
	}
	c := side[0]
	if before {
		c = side[len(side)-1]
	}
	if wordByte(c) {
		return !before && !wordByte(own[0]) // "C++17" has "c++", "example.net" has no ".net"
	}
	return c != own[0]
}

func wordByte(c byte) bool { return c >= 0x80 || words.InWord(c) || c == '_' }
