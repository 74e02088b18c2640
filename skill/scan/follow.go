package scan

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/flow"
	"github.com/agent-base/agent-base/skill/scan/internal/js"
	"github.com/agent-base/agent-base/skill/scan/internal/loose"
	"github.com/agent-base/agent-base/skill/scan/internal/popular"
	"github.com/agent-base/agent-base/skill/scan/internal/python"
	"github.com/agent-base/agent-base/skill/scan/internal/shell"
)

// maxRounds is how often the code is followed: once more if there was Python in its texts, which an interpreter reads all at once.
const maxRounds = 3

const dialectTSX = "tsx"

const brokenName = "a snippet"

// maxBroken is how many broken snippets are read in parts, which takes time.
const maxBroken = 200

// piece is code in a text.
type piece struct {
	text string
	line int
}

// follow reads the code of all sources and follows what it does.
func (r *reader) follow() error {
	units, err := r.units()
	if err != nil {
		return err
	}
	var result *flow.Result
	inner := map[piece]*code.Program{}
	followed := 0
	for range maxRounds {
		var wanted []piece
		followed = len(units)
		result = flow.Read(units, &flow.Options{Stop: func() bool { return r.ctx.Err() != nil }, Run: r.run, Parse: func(language, text string, line int) *code.Program {
			if language != flow.Python {
				return parse(r.ctx, &source{language: language, text: text, line: line})
			}
			p, ok := inner[piece{text, line}]
			if !ok {
				wanted = append(wanted, piece{text, line})
				inner[piece{text, line}] = nil
			}
			return p
		}})
		if len(wanted) == 0 && len(r.sources) == len(units) {
			break
		}
		if units, err = r.more(units); err != nil {
			return err
		}
		if err := r.inner(wanted, inner); err != nil {
			return err
		}
	}
	for _, s := range r.sources[followed:] {
		r.partly(s.file, "files that are no scripts by their names run each other, too many to follow")
	}
	for i, why := range result.Partly {
		r.partly(r.sources[i].file, why)
	}
	r.r.Facts = appendFacts(result.Facts, r.found)
	r.lookalikes()
	r.contacts()
	r.roles()
	return r.ctx.Err()
}

// lookalikes adds a fact for each package whose name is nearly that of a popular one.
func (r *reader) lookalikes() {
	for i, f := range r.r.Facts {
		if f.Kind != fact.Needs || f.Object != fact.Package {
			continue
		}
		registry, _, _ := strings.Cut(f.Detail, " ")
		if known := popular.Near(registry, f.Name); known != "" {
			r.r.Facts = append(r.r.Facts, fact.Fact{
				Kind: fact.Holds, Object: fact.Lookalike, Name: known, Detail: fmt.Sprintf("%s, which is nearly %s (%s)", f.Name, known, registry),
				Place: f.Place, From: []int{i}, Maybe: f.Maybe,
			})
		}
	}
}

// appendFacts puts facts after others. From of each counts from the first of its own list.
func appendFacts(to, more []fact.Fact) []fact.Fact {
	first := len(to)
	for _, f := range more {
		from := make([]int, len(f.From))
		for i, n := range f.From {
			from[i] = first + n
		}
		f.From = from[:len(from):len(from)]
		to = append(to, f)
	}
	return to
}

// parse reads code of a language that needs no other program; nil for one that nothing reads.
func parse(ctx context.Context, s *source) *code.Program {
	switch s.language {
	case flow.Shell:
		return shell.Parse(s.text, s.line)
	case flow.Loose:
		return loose.Parse(s.text, s.line)
	case flow.JavaScript:
		d, read := js.JavaScript, js.Read
		switch s.dialect {
		case kindTypeScript:
			d = js.TypeScript
		case dialectTSX:
			d = js.TSX
		}
		if s.snippet {
			read = js.ReadFragment
		}
		p := read(ctx, d, []byte(s.text), s.line)
		return &p
	}
	return nil
}

// units reads the code of all sources.
func (r *reader) units() ([]flow.Unit, error) {
	var scripts []python.Source
	for _, s := range r.sources {
		if s.language == flow.Python {
			scripts = append(scripts, python.Source{Text: []byte(s.text), Line: s.line})
		}
	}
	programs, err := python.Read(r.ctx, r.o.Python, scripts)
	if err != nil && r.ctx.Err() != nil {
		return nil, err
	}
	units := make([]flow.Unit, 0, len(r.sources))
	broken := 0
	for i := 0; i < len(r.sources); i++ {
		s := &r.sources[i]
		var p *code.Program
		if s.language == flow.Python {
			p, programs = &programs[0], programs[1:]
		} else {
			s.snippet = s.snippet && broken < maxBroken
			p = parse(r.ctx, s)
		}
		if p == nil {
			p = &code.Program{Partly: "it is " + s.language + ", which is not read"}
		}
		switch {
		case p.Broken && s.snippet:
			broken++
			r.broken(*s, p.Partly)
		case p.Partly != "":
			if s.snippet { // it took many tries
				broken += maxBroken / 10
			}
			r.partly(s.file, p.Partly)
			if s.place.Block == "" && s.language != flow.Shell && s.language != flow.Loose {
				r.guess(s)
			}
		}
		units = append(units, flow.Unit{Language: s.language, Place: s.place, Program: p, Maybe: s.maybe})
	}
	return units, nil
}

// broken says that a snippet is not all of its language, once for a file, and reads the lines of it that are commands.
func (r *reader) broken(s source, why string) {
	if n := len(r.found); n == 0 || r.found[n-1].Name != brokenName || keyOf(r.found[n-1].Place) != keyOf(s.place) {
		place := s.place
		place.Line = s.line
		r.found = append(r.found, fact.Fact{Kind: fact.Holds, Object: fact.Opaque, Name: brokenName, Detail: why, Place: place, Role: s.role})
	}
	if s.language == flow.Shell {
		return
	}
	s.language, s.dialect = flow.Shell, ""
	if s.text = commandLines(s.text); strings.TrimSpace(s.text) != "" {
		r.sources = append(r.sources, s)
	}
}

// inner reads Python that stands in texts.
func (r *reader) inner(wanted []piece, into map[piece]*code.Program) error {
	sources := make([]python.Source, len(wanted))
	for i, w := range wanted {
		sources[i] = python.Source{Text: []byte(w.text), Line: w.line}
	}
	programs, err := python.Read(r.ctx, r.o.Python, sources)
	if err != nil && r.ctx.Err() != nil {
		return err
	}
	for i, w := range wanted {
		into[w] = &programs[i]
	}
	return nil
}
