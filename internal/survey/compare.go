package survey

import (
	"slices"
	"strings"
)

// compares reports whether the script compares its own arguments with a flag. With bare, a flag that is followed by a
// value of its own does not count.
func (p *program) compares(flag string, bare bool) bool {
	if len(p.own) == 0 {
		return false
	}
	found := false
	for i, t := range p.tokens {
		if !t.is(textToken, flag) || !(p.equated(i) || p.inCase(i) || p.sought(i) || p.member(i)) {
			continue
		}
		if bare && p.takesValue(i) {
			return false
		}
		found = true
	}
	return found
}

// equated reports whether a text is an operand of == or of a word that compares.
func (p *program) equated(i int) bool {
	return p.has(i-2, "=", "=") || p.has(i+1, "=", "=") || p.row.Syntax.Equal != "" && (p.word(i-1, p.row.Syntax.Equal) || p.word(i+1, p.row.Syntax.Equal))
}

// inCase reports whether a text is in the pattern of a case: case "-j", "--json".
func (p *program) inCase(i int) bool {
	for last := i - maxBack; i > last; {
		i--
		switch t := p.at(i); {
		case t.kind == textToken, t.s == ",", t.s == "|":
		case t.is(wordToken, "case"), t.is(wordToken, "when"):
			return true
		default:
			return false
		}
	}
	return false
}

// seeking are the methods that look for an argument in a list.
var seeking = []string{"includes", "include?", "indexOf", "has", "delete", "count", "index"}

// sought reports whether a text is sought in the script's own arguments: argv.includes("--json"), "--json" in sys.argv.
func (p *program) sought(i int) bool {
	if p.lang == Python && (p.word(i+1, "in") || p.has(i+1, "not", "in")) {
		n := i + 2
		if p.word(i+1, "not") {
			n++
		}
		for p.mark(n+1, ".") && p.at(n+2).kind == wordToken {
			n += 2
		}
		return p.isOwn(n)
	}
	if p.has(i-2, "in_array", "(") && p.mark(i+1, ",") {
		return p.isOwn(i + 2)
	}
	n := i - 2
	if p.mark(n, "?") { // include?
		n--
	}
	if !p.mark(i-1, "(") || !slices.Contains(seeking, strings.TrimSuffix(p.at(n).s, "?")) && p.at(n).s != "include" || !p.mark(n-1, ".") {
		return false
	}
	return p.isOwn(p.receiver(n - 2))
}

// receiver returns the name in a chain of calls that ends at i: argv in process.argv.slice(2).
func (p *program) receiver(i int) int {
	for p.mark(i, ")") {
		open := p.opening(i)
		if open < 0 {
			return -1
		}
		if i = open - 1; p.mark(i-1, ".") {
			i -= 2
		}
	}
	return i
}

func (p *program) isOwn(i int) bool {
	t := p.at(i)
	return t.kind == wordToken && slices.Contains(p.own, t.s)
}

// member reports whether a text is in a list that is searched for an argument: x in ("-h", "--help"),
// ["-h", "--help"].includes(x).
func (p *program) member(i int) bool {
	open := p.opening(i)
	if open < 0 {
		return false
	}
	for n := open + 1; n < i; n++ { // a list of texts and nothing else
		if t := p.tokens[n]; t.kind != textToken && t.s != "," {
			return false
		}
	}
	if p.lang == Python {
		return p.word(open-1, "in")
	}
	end := p.closing(open)
	return p.mark(open, "[") && p.mark(end+1, ".") && (p.word(end+2, "includes") || p.word(end+2, "include"))
}

// nearby is how many tokens after a comparison are searched for the use of a value.
const nearby = 16

// takesValue reports whether what follows a comparison takes the next argument.
func (p *program) takesValue(i int) bool {
	if p.has(i+1, ")", "+", "1") { // argv.index("--json") + 1
		return true
	}
	for n := i + 1; n <= i+nearby; n++ {
		switch t := p.at(n); {
		case t.kind == textToken && strings.HasPrefix(t.s, "-"), t.is(wordToken, "elif"), t.is(wordToken, "else"), t.is(wordToken, "case"), t.is(wordToken, "when"):
			return false
		case p.has(n, "[", "+", "+"), p.has(n, "+", "1", "]"), p.has(n, ".", "shift", "("), p.has(n, ".", "pop", "(", "0"), p.has(n, "next", "("), p.has(n, "shift", "@"), p.has(n, "=", "shift"):
			return true
		}
	}
	return false
}
