package js

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// Limits of a fragment that is no program.
const (
	maxFragment = 64 << 10 // bytes
	maxMended   = 40       // lines that are passed over
)

// around is what a fragment may be the inside of: an object, a class, an interface, a type with brackets of its own, or arguments.
var around = [...][2]string{{"({", "})"}, {"(", ")"}, {"class _ {", "}"}, {"interface _ {", "}"}, {"async function* _() {", "}"}, {"_(", ")"}}

var (
	elisions = lazyregexp.New(`\.\.\.(\s*(?:[,;)\]}]|/[/*]|$))|…|<[A-Za-z][\w .-]{0,60}>`)
	lineOf   = regexp.MustCompile(`^line (\d+) `)
)

// ReadFragment reads what stands in a text as an example: a program, a part of one, or something like one. What is none is passed over:
// its program is Broken, with the texts of the lines that no grammar can read. It is safe for concurrent use.
func ReadFragment(ctx context.Context, d Dialect, text []byte, line int) code.Program {
	first := max(line, 1)
	p := Read(ctx, d, text, first)
	if p.Partly == "" || len(text) > maxFragment || !lineOf.MatchString(p.Partly) {
		return p
	}
	if ctx.Err() != nil {
		return p
	}
	for _, other := range [...]Dialect{TypeScript, TSX} {
		if q, ok := whole(ctx, other, "", string(text), "", first); ok && other != d {
			return q
		}
	}
	for _, pair := range around {
		if q, ok := whole(ctx, TypeScript, pair[0], string(text), pair[1], first); ok {
			if strings.HasSuffix(pair[0], "_ {") { // types are stripped
				q.Body = append(q.Body, texts(text, first, "").Body...)
			}
			return q
		}
	}
	return mended(ctx, d, text, first, p.Partly)
}

// whole reads a text between two others, and reports whether all of it is code.
func whole(ctx context.Context, d Dialect, before, text, after string, first int) (code.Program, bool) {
	if before != "" {
		text = before + text + "\n" + after
	}
	p := Read(ctx, d, []byte(text), first)
	return p, p.Partly == ""
}

// mended reads a text without what is elided in it and without the lines that are no code.
func mended(ctx context.Context, d Dialect, text []byte, first int, why string) code.Program {
	lines := bytes.Split(bytes.Clone(text), []byte("\n"))
	var lost []code.Statement
	if d == JavaScript {
		d = TSX
	}
	tried := map[int]bool{}
	for range maxMended {
		p := Read(ctx, d, closed(bytes.Join(lines, []byte("\n"))), first)
		if p.Partly == "" {
			p.Body = append(p.Body, lost...)
			p.Partly, p.Broken = why, true
			return p
		}
		at := lineOf.FindStringSubmatch(p.Partly)
		if at == nil {
			break
		}
		n, _ := strconv.Atoi(at[1])
		n = min(max(n-first, 0), len(lines)-1)
		if tried[n] {
			for n > 0 && len(lines[n]) == 0 { // what is wrong began above
				n--
			}
		}
		if left := elisions().ReplaceAll(lines[n], []byte("$1")); !tried[n] && !bytes.Equal(left, lines[n]) {
			lines[n], tried[n] = left, true
			continue
		}
		tried[n] = true
		lost = append(lost, texts(lines[n], first+n, "").Body...)
		lines[n] = nil
	}
	p := texts(text, first, why)
	for i, l := range bytes.Split(text, []byte("\n")) { // line by line, as far as lines are statements
		if q := Read(ctx, TSX, closed(l), first+i); q.Partly == "" {
			p.Body = append(p.Body, q.Body...)
		}
	}
	p.Broken = true
	return p
}

// closed returns a text with the brackets closed that it leaves open.
func closed(text []byte) []byte {
	var open []byte
	for _, c := range text {
		switch c {
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			if n := len(open); n > 0 && open[n-1] == c {
				open = open[:n-1]
			}
		}
	}
	if len(open) == 0 || len(open) > 50 {
		return text
	}
	var b strings.Builder
	b.Write(text)
	b.WriteByte('\n')
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return []byte(b.String())
}
