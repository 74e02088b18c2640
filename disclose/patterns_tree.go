package disclose

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// programSize returns how many instructions re compiles to at most, without compiling it: a pattern of 20 characters can
// stand for thousands.
func programSize(re *syntax.Regexp) int { return 2 + steps(re) }

func steps(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(1, len(re.Rune))
	case syntax.OpCapture, syntax.OpStar:
		return n + 2
	case syntax.OpPlus, syntax.OpQuest:
		return n + 1
	case syntax.OpAlternate:
		return n + len(re.Sub) - 1
	case syntax.OpRepeat:
		if re.Max < 0 { // x{3,} is xxx+
			return max(1, re.Min)*n + 2
		}
		return max(1, re.Max*n+re.Max-re.Min) // x{1,3} is x(x(x)?)?
	}
	return max(1, n)
}

// matchesEmpty reports whether re matches the empty text.
func matchesEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpRepeat:
		return re.Min == 0 || matchesEmpty(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !matchesEmpty(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if matchesEmpty(sub) {
				return true
			}
		}
	}
	return false
}

// wide counts, without reading source as a pattern, what it may have of classes and ranges beyond ASCII. Each is held
// against the cases of up to a hundred thousand characters when it is read.
func wide(source string) int {
	n := strings.Count(source, `\p`) + strings.Count(source, `\P`) + strings.Count(source, `\x{`)
	before := ' '
	for _, r := range source {
		if before == '-' && r >= utf8.RuneSelf {
			n++
		}
		before = r
	}
	return n
}
