package disclose

import (
	"strings"

	"github.com/agent-base/agent-base/skill"
)

// kind is what of a skill a query hit.
type kind uint8

const (
	byPattern kind = iota
	byVerb
	byKeyword
	byName
)

// triggers finds the phrases of all skills in a query by looking up its runs of one to three words.
type triggers struct {
	phrases  map[string]int32 // up to three folded words to the head of a list in targets, plus one
	targets  []target
	rests    []string
	patterns *patterns
	problems []skill.Problem
}

// target is a skill that a phrase leads to. Targets of one phrase are linked.
type target struct {
	next  int32 // position in targets plus one; 0 ends the list
	rest  int32 // position in rests plus one of what must be in the query besides; 0 is nothing
	doc   int32
	at    uint16 // position among the skill's keywords or verbs
	kind  kind
	words uint8 // of the whole phrase, at most 255
}

// gram is the most words that are looked up at once.
const gram = 3

// maxPhrases is the most keywords, and the most verbs, of one skill.
const maxPhrases = 1000

func newTriggers(entries []skill.Entry) *triggers {
	x := &triggers{phrases: make(map[string]int32, 4*len(entries)), targets: make([]target, 0, 4*len(entries))}
	x.patterns = &patterns{grams: map[[gram]byte][]int32{}}
	var w words
	for d, e := range entries {
		doc, t := int32(d), e.Triggers()
		x.add(&w, e.Canonical(), target{doc: doc, kind: byName})
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
	x.patterns.order()
	return x
}

func firstOf(list []string) []string { return list[:min(len(list), maxPhrases)] }

// add enters one phrase. One without a letter or digit can match nothing and is left out.
func (x *triggers) add(w *words, phrase string, t target) {
	phrase = capped(phrase)
	w.fold(phrase)
	n := w.len()
	if n == 0 {
		return
	}
	t.words = uint8(min(n, 255))
	switch {
	case t.kind != byName && signed(phrase):
		x.rests = append(x.rests, squeeze(phrase))
		t.rest = int32(len(x.rests))
	case n > gram:
		x.rests = append(x.rests, string(w.text))
		t.rest = int32(len(x.rests))
	}
	key := w.span(0, min(n, gram))
	t.next = x.phrases[string(key)]
	x.targets = append(x.targets, t)
	x.phrases[string(key)] = int32(len(x.targets))
}

// signed reports whether a phrase has a sign that is part of its meaning, such as the one of "c++",
// "c#" or ".net".
func signed(phrase string) bool { return strings.ContainsAny(phrase, "+#.@$%*=&/\\") }

// squeeze returns s in lower case with single blanks, its signs kept.
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
		return !wordByte(own[0])
	}
	return c != own[0]
}

func wordByte(c byte) bool { return c >= 0x80 || folded[c] != ' ' || c == '_' }
