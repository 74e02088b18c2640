package text

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/naming"
)

// maxWords is how many words a sentence has that are looked at together.
const maxWords = 100

// overlap is how many words of a longer sentence are looked at again with those that follow.
const overlap = 30

// Limits of how many parts of patterns are compared, for each byte of a text and of any text. What people write needs less than one for
// a byte.
const (
	stepsEach  = 6
	stepsFirst = 1 << 18
)

// word is a word of a sentence.
type word struct {
	begin, end int // in the text
	id         int32
	lists      class
	long       []longer // lists of which a phrase of several words begins here
	clause     bool     // a clause begins here
	disguised  bool     // it has letters that look like others
}

type longer struct {
	of   class
	next int // the word after the phrase
}

// found is a saying in a sentence.
type found struct {
	name       string
	begin, end int // in the text
	disguised  bool
}

// speaker takes a text apart into sentences, and looks for sayings in each.
type speaker struct {
	g       *grammar
	text    string
	words   []word
	buf     []byte
	cut     bool  // the words begin with the end of those before
	denying bool  // the items of a list are what not to do
	recent  class // what was spoken of
	since   int   // sentences ago
	found   []found
	hosts   []word // addresses in sentences that say something
	steps   int    // of match
}

// sayings returns what is said in a text, in its order.
func sayings(text string) *speaker {
	s := &speaker{g: spoken(), text: text}
	for at := 0; at < len(text); {
		begin := at
		for at < len(text) && isSpace(text[at]) {
			at++
		}
		s.gap(begin, at)
		if n := tag(text[at:]); n > 0 {
			s.clause("(")
			at += n
			continue
		}
		begin = at
		for at < len(text) && !isSpace(text[at]) && (at == begin || tag(text[at:]) == 0) {
			at++
		}
		if begin < at {
			s.chunk(begin, at)
		}
	}
	s.sentence()
	return s
}

// tag returns the length of the tag of HTML with which a text begins, 0 for another text.
func tag(s string) int {
	if len(s) < 3 || s[0] != '<' || !isLetter(s[1]) && s[1] != '/' {
		return 0
	}
	end := strings.IndexAny(s[1:min(len(s), 400)], "<>@")
	if end < 0 || s[end+1] != '>' || strings.Contains(s[:min(end, 12)], "://") {
		return 0
	}
	return end + 2
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// gap ends the sentence at an empty line, and before a line that is an item, a heading or a row.
func (s *speaker) gap(begin, end int) {
	lines := strings.Count(s.text[begin:end], "\n")
	if lines == 0 {
		return
	}
	rest := s.text[end:min(len(s.text), end+4)]
	item := len(rest) > 1 && (strings.IndexByte("-*+", rest[0]) >= 0 && rest[1] == ' ' || rest[0] >= '0' && rest[0] <= '9' && strings.ContainsAny(rest, ".)"))
	if lines > 1 || item || rest != "" && strings.IndexByte("-*+#|", rest[0]) >= 0 {
		s.sentence()
	}
	if lines > 1 && !item {
		s.denying = false
	}
}

const marks = "*_\"'`()[]{}<>,;:.!?#|=-\\"

// chunk reads what stands between spaces.
func (s *speaker) chunk(begin, end int) {
	if n := end - begin; n > 500 {
		end = begin + 500
	}
	raw := s.text[begin:end]
	if i := strings.Index(raw, "://"); i > 0 {
		for i > 0 && isLetter(raw[i-1]) {
			i--
		}
		raw = raw[i:]
		if j := strings.IndexAny(raw, "\"'`<>)],|"); j > 0 {
			raw = raw[:j]
		}
		raw = strings.TrimRight(raw, ".;:!?*_")
		s.add(word{begin: begin + i, end: begin + i + len(raw), lists: urlForm(raw)}, false)
		s.after(s.text[begin+i+len(raw) : end])
		return
	}
	core := strings.TrimLeft(raw, marks+"“”‘’—–…•")
	clause := len(core) < len(raw) && strings.ContainsAny(raw[:len(raw)-len(core)], ",;:(—–|=\"“`")
	if strings.HasSuffix(raw[:len(raw)-len(core)], ".") { // a file
		core = raw[len(raw)-len(core)-1:]
	}
	begin += len(raw) - len(core)
	core = strings.TrimRight(core, marks+"“”‘’—–…•")
	if strings.Trim(core, "/~$&+%^") == "" {
		if strings.Contains(raw, "|") {
			s.sentence()
		}
		s.clause(raw)
		return
	}
	s.core(begin, core, clause)
	s.after(s.text[begin+len(core) : end])
}

// after reads the marks after a word.
func (s *speaker) after(marks string) {
	if strings.ContainsAny(marks, ".!?|") && !s.short() {
		s.sentence()
		return
	}
	s.clause(marks)
}

func (s *speaker) clause(marks string) {
	if strings.ContainsAny(marks, ",;:(—–=-") {
		s.words = append(s.words, word{clause: true, begin: -1})
	}
}

// short reports whether the last word is an abbreviation.
func (s *speaker) short() bool {
	if len(s.words) == 0 {
		return false
	}
	w := s.words[len(s.words)-1]
	switch strings.ToLower(s.text[max(w.begin, 0):max(w.end, 0)]) {
	case "e.g", "i.e", "etc", "vs", "cf":
		return true
	}
	return false
}

// core adds a word, or the parts of one.
func (s *speaker) core(begin int, core string, clause bool) {
	plain := core
	disguised := false
	if !isASCII(core) {
		plain = strings.Map(visible, strings.ReplaceAll(core, "’", "'"))
		if shape := naming.Shape(plain); naming.Mixed(plain) || isASCII(shape) && !isASCII(plain) {
			plain, disguised = shape, true
		}
		disguised = disguised || len(plain) < len(core)-2*strings.Count(core, "’")-8
	}
	s.buf = append(s.buf[:0], plain...)
	for i, c := range s.buf {
		if c >= 'A' && c <= 'Z' {
			s.buf[i] = c + 'a' - 'A'
		}
	}
	w := word{begin: begin, end: begin + len(core), disguised: disguised}
	if id, ok := s.g.words[string(s.buf)]; ok {
		w.id = id
		w.lists = s.g.single[id]
		s.add(w, clause)
		return
	}
	lower := string(s.buf)
	if before, ok := strings.CutSuffix(lower, "n't"); ok || lower == "cannot" {
		switch before {
		case "wo":
			before = "will"
		case "ca", "cannot":
			before = "can"
		}
		s.add(word{begin: begin, end: begin + len(core), id: s.g.words[before], lists: s.g.single[s.g.words[before]]}, clause)
		s.add(word{begin: begin, end: begin + len(core), id: s.g.words["not"], lists: s.g.single[s.g.words["not"]]}, false)
		return
	}
	if w.lists = formOf(lower, core); w.lists == 0 && len(core) == len(plain) && strings.ContainsAny(core, "-_/=:,()\"'") && len(core) < 60 {
		s.split(begin, core, clause)
		return
	}
	s.add(w, clause)
}

// visible drops letters without width.
func visible(r rune) rune {
	if r >= 0x200b && r <= 0x200f || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0xad {
		return -1
	}
	return r
}

// split adds the parts of a word with marks in it.
func (s *speaker) split(begin int, core string, clause bool) {
	for i := 0; i < len(core); {
		j := i
		for j < len(core) && strings.IndexByte("-_/=:,()\"'", core[j]) < 0 {
			j++
		}
		if j > i {
			s.core(begin+i, core[i:j], clause || i > 0 && strings.IndexByte("=:,(", core[i-1]) >= 0)
			clause = false
		}
		i = j + 1
	}
}

func (s *speaker) add(w word, clause bool) {
	if n := len(s.words); n > 0 && s.words[n-1].begin < 0 { // marks before it
		s.words = s.words[:n-1]
		clause = true
	}
	w.clause = clause || len(s.words) == 0
	s.words = append(s.words, w)
	if len(s.words) >= maxWords {
		last := slices.Clone(s.words[len(s.words)-overlap:])
		s.sentence()
		for i := range last {
			last[i].long = nil
		}
		s.words, s.cut = append(s.words, last...), true
	}
}

// sentence looks for sayings in the words that were collected.
func (s *speaker) sentence() {
	if n := len(s.words); n > 0 && s.words[n-1].begin < 0 {
		s.words = s.words[:n-1]
	}
	defer func() { s.words, s.cut = s.words[:0], false }()
	if len(s.words) < 2 {
		return
	}
	for i := len(s.words) - 1; i >= 0; i-- {
		s.phrases(i)
	}
	s.recall()
	if n := len(s.words); n < 6 && s.is(n-1, "not") && !s.denied(n-1) {
		s.denying = true
	}
	before := len(s.found)
	for i := range s.words {
		w := &s.words[i]
		for _, p := range s.g.saying[w.id] {
			s.try(p, i, before)
		}
		all := w.lists
		for _, l := range w.long {
			all |= l.of
		}
		for n := 0; all != 0; n, all = n+1, all>>1 {
			if all&1 != 0 {
				for _, p := range s.g.listed[n] {
					s.try(p, i, before)
				}
			}
		}
	}
	if len(s.found) > before {
		for _, w := range s.words {
			if w.lists&formURL != 0 {
				s.hosts = append(s.hosts, w)
			}
		}
	}
}

// recall lets words such as "it" stand for what the last sentences, or the words before it, were about.
func (s *speaker) recall() {
	about := s.g.lists["secret"] | s.g.lists["private"]
	var now class
	for i := range s.words {
		w := &s.words[i]
		if s.is(i, "pronoun") || s.is(i, "spoken") && s.says(i-1, "the", "that", "those", "these", "this", "its", "their", "whole", "entire") {
			w.lists |= s.recent | now
		}
		now |= w.lists & about
		for _, l := range w.long {
			now |= l.of & about
		}
	}
	if now != 0 {
		s.recent, s.since = now, 0
	} else if s.since++; s.since > 2 {
		s.recent = 0
	}
}

// phrases finds the lists of which a phrase of several words begins at a word.
func (s *speaker) phrases(i int) {
	w := &s.words[i]
	try := func(list []phrase) {
		for _, p := range list {
			if end := s.match(p.parts, i); end > 0 {
				w.long = append(w.long, longer{p.of, end})
			}
		}
	}
	try(s.g.phrase[w.id])
	for n := range formNames {
		if form := class(1) << n; w.lists&form != 0 {
			try(s.g.forms[form])
		}
	}
}

// try adds a saying that begins at a word, unless the sentence has it already.
func (s *speaker) try(p saying, i, before int) {
	same := func(f found) bool { return f.name == p.name }
	if slices.ContainsFunc(s.found[before:], same) || s.cut && slices.ContainsFunc(s.found[max(0, before-20):before], func(f found) bool { return same(f) && f.begin == s.words[i].begin }) {
		return
	}
	end := s.match(p.parts, i)
	if end <= i {
		return
	}
	f := found{name: p.name, begin: s.words[i].begin, end: s.words[end-1].end}
	for _, w := range s.words[i:end] {
		f.disguised = f.disguised || w.disguised
	}
	s.found = append(s.found, f)
}

// match returns the word after the parts of a phrase or a pattern that begins at a word, -1 if it does not.
func (s *speaker) match(parts []part, i int) int {
	if len(parts) == 0 {
		return i
	}
	if s.steps++; s.tangled() {
		return -1
	}
	p, rest := &parts[0], parts[1:]
	if p.gap > 0 {
		for j := i; j <= i+p.gap && j <= len(s.words); j++ {
			if end := s.match(rest, j); end >= 0 {
				return end
			}
		}
		return -1
	}
	if p.not {
		if i < len(s.words) && s.at(p, i) != nil {
			return -1
		}
		return s.match(rest, i)
	}
	if i < len(s.words) {
		for _, next := range s.at(p, i) {
			if p.order && !s.order(i, 3) {
				break
			}
			if end := s.match(rest, next); end >= 0 {
				return end
			}
		}
	}
	if p.optional {
		return s.match(rest, i)
	}
	return -1
}

// tangled reports whether the rest of a text is not looked at, because so many patterns nearly fit.
func (s *speaker) tangled() bool { return s.steps > stepsEach*len(s.text)+stepsFirst }

// at returns the words after one part that begins at a word, none if it does not.
func (s *speaker) at(p *part, i int) []int {
	w := &s.words[i]
	var out []int
	for _, l := range w.long {
		if l.of&p.lists != 0 {
			out = append(out, l.next)
		}
	}
	if w.lists&p.lists != 0 || w.id != 0 && slices.Contains(p.words, w.id) {
		out = append(out, i+1)
	}
	return out
}

// is reports whether a word is of a list.
func (s *speaker) is(i int, list string) bool { return i >= 0 && s.words[i].lists&s.g.lists[list] != 0 }

func (s *speaker) says(i int, words ...string) bool {
	return i >= 0 && slices.ContainsFunc(words, func(w string) bool { return s.words[i].id != 0 && s.g.words[w] == s.words[i].id })
}

// denied reports whether a verb is one of several things that are not to be done: "never do this, that, or it".
func (s *speaker) denied(i int) bool {
	for j := max(0, i-10); j < i; j++ {
		if s.is(j, "not") {
			for k := j + 1; k < min(i+6, len(s.words)); k++ {
				if s.says(k, "or", "nor") {
					return true
				}
			}
		}
	}
	return false
}

// order reports whether a verb is an order to the model, by the words before it.
func (s *speaker) order(i, deep int) bool {
	if s.denying {
		return false
	}
	j := i - 1
	for j >= 0 && !s.words[j+1].clause && (s.is(j, "adverb") || s.says(j, "do", "then")) {
		j--
	}
	switch {
	case s.is(j, "not") && !s.words[j+1].clause:
		return false
	case j < 0 && s.cut:
		return false
	case j < 0 || s.words[j+1].clause:
		return !s.is(j, "not") && !s.denied(i) // "never, ever"
	case s.says(j, "and", "or", "but", "then"):
		if s.denied(i) {
			return false
		}
		for k := j - 1; k >= 0 && deep > 0; k-- {
			if s.is(k, "verb") && s.order(k, deep-1) {
				return true
			}
		}
		return j == 0
	case s.says(j, "to"):
		for k := j - 1; k >= max(0, j-4) && deep > 0; k-- {
			if s.says(k, "use", "run", "call", "execute") && s.order(k, deep-1) {
				return true
			}
		}
		negated := s.is(j-2, "not") || s.is(j-3, "not")
		return s.is(j-1, "modal") && (negated == s.says(j-1, "forget", "fail", "hesitate"))
	case s.is(j, "will"):
		return s.says(j, "will") && s.is(j-1, "person")
	case s.is(j, "modal"):
		return !s.is(j-1, "human") && !s.says(j-1, "they", "clients")
	}
	return false
}
