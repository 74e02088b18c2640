package disclose

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Bounds of trigger patterns. RE2 is linear in the query, and a query is at most words.MaxQuery bytes,
// so maxWork bounds the cost of one query.
const (
	maxPattern  = 200     // characters of one pattern
	maxPatterns = 16      // of one skill
	maxProgram  = 4000    // instructions of one pattern
	maxPrograms = 1 << 20 // instructions of the patterns of all skills, because compiled patterns are kept
	maxLoose    = 256     // patterns of all skills without a literal to search for
	maxWide     = 128     // Unicode classes and ranges of all skills: each may take a millisecond to read
	maxWork     = 8 << 20 // bytes of the query, and compileWork, times instructions, for one query
	compileWork = 64      // bytes that cost as much to match as an instruction costs to compile
)

// patterns are the regular expressions of all skills. One runs only when a text that every match
// of it must contain is in the query, found by its first three bytes.
type patterns struct {
	all   []*pattern
	size  int                    // instructions of all
	wide  int                    // what maxWide counts
	grams map[[gram]byte][]int32 // first bytes of a literal to patterns
	loose []int32                // those without a literal, by priority
}

// pattern is one regular expression of one skill, compiled when it is first needed.
type pattern struct {
	doc, at  int32 // the skill, and the position among its patterns
	priority int
	size     int      // instructions, at most
	literals []string // one of them is in every text that matches; folded
	compiled func() *regexp.Regexp
}

// add adds the i-th pattern of a skill. The error says why it is not used. Nothing is compiled yet, because most patterns
// never meet a query with their literal.
func (x *patterns) add(source string, i int, doc int32, priority int) error {
	if i >= maxPatterns {
		return fmt.Errorf("a skill has at most %d patterns", maxPatterns)
	}
	if n := utf8.RuneCountInString(source); n > maxPattern {
		return fmt.Errorf("it has %d characters, at most %d are read", n, maxPattern)
	}
	n := wide(source)
	if n > 0 && x.wide+n > maxWide {
		return fmt.Errorf("it has %d Unicode classes or ranges, more than the %d that all skills have together", n, maxWide)
	}
	x.wide += n
	tree, err := syntax.Parse(source, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return fmt.Errorf("it is not a regular expression of RE2: %w", err)
	}
	literals := required(tree)
	size := programSize(tree)
	if size > maxProgram {
		return fmt.Errorf("it compiles to %d steps, at most %d are allowed", size, maxProgram)
	}
	if x.size+size > maxPrograms {
		return fmt.Errorf("the patterns that are already on take %d steps, at most %d are allowed for all skills", x.size, maxPrograms)
	}
	p := &pattern{doc: doc, at: int32(i), priority: priority, size: size, literals: literals}
	p.compiled = sync.OnceValue(func() *regexp.Regexp {
		re, _ := regexp.Compile("(?i)" + source) // it was parsed above
		return re
	})
	at := int32(len(x.all))
	if literals == nil {
		if len(x.loose) >= maxLoose {
			return fmt.Errorf("it has no fixed text of %d bytes, and %d such patterns are already on", gram, maxLoose)
		}
		if matchesEmpty(tree) {
			return errors.New("it matches the empty text, and so every query")
		}
		x.loose = append(x.loose, at)
	}
	x.size += size
	x.all = append(x.all, p)
	for _, lit := range literals {
		key := [gram]byte([]byte(lit))
		x.grams[key] = append(x.grams[key], at)
	}
	return nil
}

// order sorts the patterns without a literal by priority, so maxWork drops the least important.
func (x *patterns) order() {
	slices.SortStableFunc(x.loose, func(a, b int32) int { return cmp.Compare(x.all[b].priority, x.all[a].priority) })
}

// match returns the patterns that match query.
func (x *patterns) match(query string) []*pattern {
	if len(x.all) == 0 {
		return nil
	}
	var out []*pattern
	work := 0
	for _, at := range append(x.candidates(query), x.loose...) {
		p := x.all[at]
		work += p.size * (len(query) + compileWork)
		if work <= maxWork && p.matches(query) {
			out = append(out, p)
		}
	}
	return out
}

func (p *pattern) matches(s string) bool {
	re := p.compiled()
	return re != nil && re.MatchString(s)
}

// candidates returns, in order, the patterns one of whose literals is in query.
func (x *patterns) candidates(query string) []int32 {
	if len(x.grams) == 0 {
		return nil
	}
	low := foldCase(query)
	var found []int32
	for i := 0; i+gram <= len(low); i++ {
		for _, at := range x.grams[[gram]byte([]byte(low[i:i+gram]))] {
			for _, lit := range x.all[at].literals {
				if strings.HasPrefix(low[i:], lit) {
					found = append(found, at)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.all[b].priority, x.all[a].priority), cmp.Compare(a, b))
	})
	return slices.Compact(found)
}

// foldCase returns s with each character in the form that (?i) compares: the same for all that differ only by case.
func foldCase(s string) string {
	if words.ASCII(s) {
		return strings.ToLower(s)
	}
	return strings.Map(lowestKept, s)
}

func lowestKept(r rune) rune {
	if r < utf8.RuneSelf && !words.InWord(byte(r)) {
		return r
	}
	return words.Lowest(r)
}

// required returns folded texts of at least gram bytes such that every match of re contains one of them, or nil if there
// are none.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if s := foldCase(string(re.Rune)); len(s) >= gram {
			return []string{s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if lits := required(sub); lits != nil && (best == nil || shortest(lits) > shortest(best)) {
				best = lits
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			lits := required(sub)
			if lits == nil {
				return nil
			}
			all = append(all, lits...)
		}
		return all
	}
	return nil
}

func shortest(lits []string) int {
	n := len(lits[0])
	for _, s := range lits {
		n = min(n, len(s))
	}
	return n
}

func patternProblem(e skill.Entry, source string, err error) manifest.Problem {
	return manifest.Problem{
		Code: "triggers-pattern-off", Severity: manifest.SeverityWarning, File: e.Path() + "/SKILL.md", Field: "triggers.patterns",
		Message: fmt.Sprintf("the pattern %q of skill %q is off: %v", source, e.Name(), err),
		Cure:    "correct or shorten the pattern, or use keywords",
	}
}
