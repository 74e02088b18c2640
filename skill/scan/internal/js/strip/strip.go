// Package strip turns TypeScript and JSX into JavaScript, line for line.
//
// It keeps every token that runs. Types are left out; enums, namespaces, parameter properties, decorators and elements of JSX become
// JavaScript that does the same. A program that it cannot read is an error, and so is one that would take more time than its length
// allows.
package strip

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Options say what may be in a program.
type Options struct {
	Types bool // TypeScript
	JSX   bool // <T>x is an element, not an assertion
}

// Error says why a program cannot be read.
type Error struct {
	Line  int  // from 1
	Fault bool // the line is not of the language; if not, the program is beyond a limit
	Why   string
}

// Error says where and why.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Limits of a program.
const (
	maxDepth = 1000 // expressions, statements and types inside of each other
	maxWork  = 16   // times that each byte is read, on average: some forms are told apart only by trying
	minWork  = 10_000
)

// Program returns a program of TypeScript or JSX as JavaScript with the same lines. The error is an *Error.
func Program(ctx context.Context, text []byte, o Options) ([]byte, error) {
	p := &parser{ctx: ctx, src: string(text), o: o, work: maxWork*len(text) + minWork, refused: map[int]bool{}}
	p.async = true
	if strings.HasPrefix(p.src, "#!") {
		p.pos = len(p.src)
		if n := strings.IndexByte(p.src, '\n'); n >= 0 {
			p.pos = n
		}
	}
	p.scan()
	for p.tok.kind != eof {
		p.statement()
	}
	if p.err != nil {
		p.err.Line = 1 + strings.Count(p.src[:min(p.failed, len(p.src))], "\n")
		return nil, p.err
	}
	return p.edited(), nil
}

// parser reads a program once, and writes down what has to change. After an error it sees the end of the program.
type parser struct {
	state
	ctx     context.Context
	src     string
	o       Options
	work    int          // bytes that may still be scanned
	failed  int          // where err is
	refused map[int]bool // offsets of colons that begin no type of an arrow function
}

// state is what an attempt that fails takes back.
type state struct {
	pos       int // the end of tok
	tok       token
	prev      int // the end of the token before tok
	edits     []edit
	depth     int
	async     bool // await is an operator
	generator bool // yield is an operator
	ambient   bool // nothing runs here: inside of a declare
	member    string
	members   map[string]bool // of the enum that is read
	exported  *[]string       // by the namespace that is read
	exporting bool            // the names that are declared
	err       *Error
}

// try does something, and takes it back if it fails.
func (p *parser) try(do func() bool) bool {
	before := p.state
	if do() && p.err == nil {
		return true
	}
	if p.err == nil || p.err.Fault {
		p.state = before
	}
	return false
}

// ahead reports what do finds out, and takes back where it went.
func (p *parser) ahead(do func() bool) bool {
	before := p.state
	is := do()
	if p.err == nil || p.err.Fault {
		p.state = before
	}
	return is
}

// fail ends the reading where tok is.
func (p *parser) fail() { p.stop(p.tok.start, true, "it is not of the language") }

func (p *parser) stop(at int, fault bool, why string) {
	if p.err == nil {
		p.err, p.failed = &Error{Fault: fault, Why: why}, at
	}
	p.pos = len(p.src)
	p.tok = token{kind: eof, start: p.pos, end: p.pos}
}

// enter goes into something that may hold itself. Then leave goes out again.
func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.stop(p.tok.start, false, "it is nested too deep")
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// edit replaces a part of the program by two texts with the line ends of the part between them.
type edit struct {
	start, end    int
	before, after string
}

func (p *parser) edit(start, end int, before, after string) {
	p.edits = append(p.edits, edit{start, end, before, after})
}

func (p *parser) insert(at int, text string) { p.edit(at, at, text, "") }

// blank leaves a part out, up to the end of the last token.
func (p *parser) blank(start int) { p.edit(start, p.prev, " ", "") }

// without leaves out what do goes over.
func (p *parser) without(do func()) {
	start := p.tok.start
	do()
	p.blank(start)
}

// drop leaves out a word or a mark that only TypeScript has there, if it is there.
func (p *parser) drop(text string) bool {
	if !p.o.Types || !p.at(text) {
		return false
	}
	p.without(p.next)
	return true
}

// dropComma leaves out one of several things, with the comma behind it.
func (p *parser) dropComma(start int) {
	if p.blank(start); p.at(",") {
		p.edit(p.tok.start, p.tok.end, " ", "")
	}
}

// erase leaves a part out in which there are edits already, since a mark.
func (p *parser) erase(mark, start int, instead string) {
	p.edits = p.edits[:mark]
	p.edit(start, p.prev, instead, "")
}

// edited returns the program with the changes.
func (p *parser) edited() []byte {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(p.src)+len(p.src)/8)
	at := 0
	for _, e := range p.edits {
		if e.start < at { // it lies in a part that was replaced
			continue
		}
		out = append(out, p.src[at:e.start]...)
		out = append(out, e.before...)
		for range strings.Count(p.src[e.start:e.end], "\n") {
			out = append(out, '\n')
		}
		out = append(out, e.after...)
		at = e.end
	}
	return append(out, p.src[at:]...)
}
