// Package python reads Python programs with the parser of a Python that somebody else starts. Nothing of the programs runs.
package python

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// Source is one Python program, or a piece of one in another text.
type Source struct {
	Text []byte
	Line int // the line of its file that Text begins with; 0 is 1
}

// Run starts Python 3.8 or newer with a program, as python3 -I -c PROGRAM does, gives it an input, and returns what it printed: also
// if it failed. It does so in a sandbox, since the parser reads what strangers wrote.
type Run func(ctx context.Context, program string, input []byte) ([]byte, error)

//go:embed read.py
var reader string

// End is the line that the program prints when it has read an input. ending is how the input ends.
const (
	End    = "null\n"
	ending = "-1 0\n"
)

const (
	maxBatch  = 4 << 20 // bytes of sources that one process reads, unless a single one has more
	maxEnds   = 4       // processes that may end on a source: a parser can be broken, and starting another takes time
	maxOutput = 64 << 20
)

// Read reads programs: one for each source, in their order. Nearly always it starts one process for each 4 MiB of sources. Without run,
// or when Python cannot read a source, its program is Partly, with the texts that stand in it.
//
// It returns an error if ctx ended, and if no process could say anything: then the programs are there too, each Partly.
func Read(ctx context.Context, run Run, sources []Source) ([]code.Program, error) {
	out := make([]code.Program, len(sources))
	r := &reading{run: run, out: out, sources: sources}
	for from := 0; from < len(sources); {
		end, size := from, 0
		for end < len(sources) && (end == from || size+len(sources[end].Text) <= maxBatch) {
			size += len(sources[end].Text)
			end++
		}
		from = r.batch(ctx, from, end)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	return out, r.failed
}

type reading struct {
	run     Run
	sources []Source
	out     []code.Program
	ends    int   // processes that ended before they had read everything
	answers int   // lines that Python printed
	failed  error // why it printed none
}

// batch reads the sources from one position to another, or a part of them, and returns the position after the last that it read.
func (r *reading) batch(ctx context.Context, from, end int) int {
	if r.run == nil || r.ends >= maxEnds {
		why := "there was no Python to read it with"
		if r.run != nil {
			why = "Python failed too often before"
		}
		for i := from; i < end; i++ {
			r.out[i] = texts(r.sources[i], why)
		}
		return end
	}
	var input bytes.Buffer
	for _, s := range r.sources[from:end] {
		text := s.Text
		if len(text) > code.MaxSource {
			text = nil // read below
		}
		fmt.Fprintf(&input, "%d %d\n%s", len(text), max(s.Line-1, 0), text)
	}
	input.WriteString(ending)
	printed, err := r.run(ctx, reader, input.Bytes())
	at := from
	for ; at < end; at++ {
		line, rest, whole := bytes.Cut(printed[:min(len(printed), maxOutput)], []byte("\n"))
		if !whole || bytes.HasSuffix(line, []byte(End[:len(End)-1])) {
			break
		}
		printed = rest
		r.answers++
		r.out[at] = program(r.sources[at], line)
	}
	if at == end {
		return end
	}
	r.ends++
	r.out[at] = texts(r.sources[at], "Python ended while it read it")
	if r.answers == 0 && r.ends > 1 {
		r.ends = maxEnds
		r.failed = fmt.Errorf("no program is read by Python: %w", cmp.Or(err, errors.New("it printed nothing")))
	}
	return at + 1
}

// program returns the program that Python printed for a source.
func program(s Source, line []byte) code.Program {
	if len(s.Text) > code.MaxSource {
		return texts(s, "it has more than "+strconv.Itoa(code.MaxSource>>20)+" MiB")
	}
	p, err := code.Decode(line, max(s.Line-1, 0))
	if err != nil {
		return texts(s, "Python's answer cannot be read: "+err.Error())
	}
	if p.Partly != "" && len(p.Body) == 0 {
		p.Body = texts(s, "").Body
	}
	return p
}

// texts returns the texts that stand in a source that Python did not read.
func texts(s Source, why string) code.Program {
	p := code.Program{Partly: why}
	for _, t := range survey.Texts(language.Python, s.Text) {
		line := t.Line + max(s.Line-1, 0)
		p.Body = append(p.Body, code.Statement{Op: code.Do, Line: line, Value: &code.Value{Form: code.Text, Line: line, Text: t.Text}})
	}
	return p
}
