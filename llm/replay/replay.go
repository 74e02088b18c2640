// Package replay is a model that plays conversations from a file, for demonstrations and tests without a network. Its
// tools are called for real: what the file says is only the model's side. It never passes for a model: every answer
// begins with a line that says what it is, and where the conversation is not what the file expects (a tool is missing,
// a call failed, a result lacks what is quoted from it) the answer says so and stops.
//
// A file is UTF-8 text of at most MaxFile bytes, read line by line. Empty lines and lines that begin with # are passed
// over; each other line is a word and the rest:
//
//	prompt TEXT         begins a scene, which plays when the user asks TEXT
//	on WORD, WORD       also when the prompt holds all these words
//	on /REGEXP/         also when it matches (RE2); capitals never matter
//	call TOOL {ARGS}    the next answer calls a tool; ARGS is a JSON object and may be left out
//	also TOOL {ARGS}    and this one, at the same time
//	say TEXT            a line of an answer: of the one that calls below it, or of the last one
//
// The first scene that fits is played; a scene ends with what is said last. Between {{ and }}, the text of say and the
// strings in ARGS may quote:
//
//	{{prompt}}          what the user asked
//	{{match.1}}         the first group of the REGEXP; {{match.1|Ada}} gives Ada where there is none
//	{{result.a.0.b}}    from the result of the latest call: below a, the first element, below it b
//	{{result2.a}}       from that of the scene's second call
//
// In a path, # is the number of elements, and * all of them (of an object, their names), joined with commas. The result is the field "result" of
// tool.Result's envelope, or else the whole text. Numbers of tokens are estimated: a fourth of the characters.
//
// A model of this package keeps nothing between requests and is safe for concurrent use.
package replay

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"strings"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

//go:embed demo.replay
var demo string

// Demo returns the conversations about the bundled skills.
func Demo() []byte { return []byte(demo) }

// Open reads src and returns the model that plays it. name stands in every answer, and before the line number in
// errors.
func Open(name string, src []byte) (llm.Model, error) {
	scenes, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	p := &player{name: name, scenes: scenes}
	return llm.ModelFunc(p.stream), nil
}

type player struct {
	name   string
	scenes []*scene
}

func (p *player) stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Event{}, err)
			return
		}
		a := p.answer(r)
		events := make([]llm.Event, 0, 8)
		for line := range strings.Lines(a.text) {
			events = append(events, llm.Event{Text: line})
		}
		stop := llm.StopEnd
		ids := wire.NewIDs("replay_", r.Messages)
		for _, c := range a.calls {
			c.ID = ids.Unique("")
			stop = llm.StopCalls
			events = append(events, llm.Event{Call: c})
		}
		events = append(events, llm.Event{Usage: &llm.Usage{Input: sizeOf(r) / 4, Output: a.size() / 4}}, llm.Event{Stop: stop})
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// answer is what the player says next.
type answer struct {
	text  string
	calls []*llm.Call
}

// answer finds the scene and the place in it.
func (p *player) answer(r *llm.Request) answer {
	t := place(r.Messages)
	s, match := p.find(t.prompt)
	if s == nil {
		return p.final(p.unknown())
	}
	a, err := s.play(r, t, match)
	switch {
	case err != nil:
		return p.final(fmt.Sprintf("This replay stops here: %v.", err))
	case len(a.calls) == 0:
		return p.final(a.text)
	}
	return a
}

// final says before the text what it is.
func (p *player) final(text string) answer {
	return answer{text: fmt.Sprintf("[replay %s: no model answered; tokens are estimated]\n%s", p.name, text)}
}

func (p *player) unknown() string {
	names := make([]string, len(p.scenes))
	for i, s := range p.scenes {
		names[i] = fmt.Sprintf("%q", s.prompt)
	}
	return "A replay plays recorded conversations. This one knows: " + strings.Join(names, ", ") + "."
}

func (a answer) size() int {
	n := len(a.text)
	for _, c := range a.calls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}

// sizeOf counts the bytes that a model would be sent.
func sizeOf(r *llm.Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Name) + len(p.Call.Args)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	return n
}
