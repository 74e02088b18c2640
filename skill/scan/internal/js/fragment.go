package js

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// Limits of a fragment that is no program.
const (
	maxFragment = 16 << 10  // bytes
	maxMended   = 40        // lines of a part that are passed over
	maxTried    = 256 << 10 // bytes that are read again and again
	eachTry     = 512       // what a try costs beside the bytes
)

// around is what a fragment may be the inside of: an object, a class, an interface, a type with brackets of its own, or arguments.
var around = [...][2]string{{"({", "})"}, {"(", ")"}, {"class _ {", "}"}, {"interface _ {", "}"}, {"async function* _() {", "}"}, {"_(", ")"}}

var (
	elisions = lazyregexp.New(`\.\.\.(\s*(?:[,;)\]}]|/[/*]|$))|…|<[A-Za-z][\w .-]{0,60}>`)
	starts   = lazyregexp.New(`^(?:const|let|var|import|export|function|async function|class|interface|type|await|for|if|try|return)\b|^<\w`)
	lineOf   = lazyregexp.New(`^line (\d+) `)
)

// ReadFragment reads what stands in a text as an example: a program, a part of one, or something like one. What is none is passed over:
// its program is Broken, with the texts of the lines that no grammar can read. It is safe for concurrent use.
func ReadFragment(ctx context.Context, d Dialect, text []byte, line int) code.Program {
	first := max(line, 1)
	p := Read(ctx, d, text, first)
	if p.Partly == "" || len(text) > maxFragment || !lineOf().MatchString(p.Partly) {
		return p
	}
	f := &fragment{ctx: ctx, left: maxTried}
	for _, other := range [...]Dialect{TypeScript, TSX} {
		if q := f.read(other, text, first); q.Partly == "" && other != d {
			return q
		}
	}
	for _, pair := range around {
		if q := f.read(TypeScript, []byte(pair[0]+string(text)+"\n"+pair[1]), first); q.Partly == "" {
			if strings.HasSuffix(pair[0], "_ {") { // types are stripped
				q.Body = append(q.Body, texts(text, first, "").Body...)
			}
			return q
		}
	}
	out := code.Program{}
	for _, part := range parts(text) {
		q := f.read(TypeScript, part, first)
		if q.Partly != "" {
			q = f.read(TSX, part, first)
		}
		if q.Partly != "" {
			q = f.mended(part, first)
			out.Partly, out.Broken = p.Partly, true
		}
		out.Body = append(out.Body, q.Body...)
		first += bytes.Count(part, []byte("\n"))
	}
	if f.left < 0 {
		out.Partly, out.Broken = "it is no program, and too long to be read in parts", false
	}
	return out
}

// fragment is read in several ways, up to a limit.
type fragment struct {
	ctx  context.Context
	left int // bytes that may be tried
}

func (f *fragment) read(d Dialect, text []byte, first int) code.Program {
	if f.left -= len(text) + eachTry; f.left < 0 || f.ctx.Err() != nil {
		return texts(text, first, "there were too many tries")
	}
	return Read(f.ctx, d, text, first)
}

// parts returns the parts of a text that empty lines and declarations begin, outside of brackets: examples name the same thing twice.
func parts(text []byte) [][]byte {
	var out [][]byte
	begin, depth := 0, 0
	for at := 0; at < len(text); {
		line := text[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		if at > begin && depth <= 0 && (len(bytes.TrimSpace(line)) == 0 || starts().Match(line)) {
			out, begin = append(out, text[begin:at]), at
		}
		for _, c := range line {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
		}
		at += len(line)
	}
	return append(out, text[begin:])
}

// mended reads a part without what is elided in it and without the lines that are no code.
func (f *fragment) mended(text []byte, first int) code.Program {
	lines := bytes.Split(bytes.Clone(text), []byte("\n"))
	var lost []code.Statement
	tried := map[int]bool{}
	for range maxMended {
		p := f.read(TSX, closed(bytes.Join(lines, []byte("\n"))), first)
		if p.Partly == "" {
			p.Body = append(p.Body, lost...)
			return p
		}
		at := lineOf().FindStringSubmatch(p.Partly)
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
	p := texts(text, first, "")
	for i, l := range bytes.Split(text, []byte("\n")) { // line by line, as far as lines are statements
		if q := f.read(TSX, closed(l), first+i); q.Partly == "" {
			p.Body = append(p.Body, q.Body...)
		}
	}
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
