// Package replay provides a model that plays conversations from a file, for demonstrations and tests without a network.
// The file holds only the model's side; tools are really called. A replay never passes as a model: every answer begins
// with a line that says what it is. If the conversation differs from the file (a tool is missing, a call failed, a result
// lacks a quoted value), the replay stops: the answer says so, and the stream ends with a *StoppedError.
//
// A file is UTF-8 text of at most MaxFile bytes. Empty lines and lines that begin with # are ignored; every other line is
// a word and its text:
//
//	prompt TEXT         begins a scene, which plays when the user asks TEXT
//	on WORD, WORD       also when the prompt contains all these words
//	on /REGEXP/         also when it matches (RE2, ignoring case)
//	call TOOL {ARGS}    the next answer calls a tool; ARGS is a JSON object, optional
//	also TOOL {ARGS}    and this tool in the same answer
//	say TEXT            a line of text of the answer with the next call, or of the last answer
//
// The first scene that matches is played. A scene must end with say. The text of say and the strings in ARGS may quote
// values between {{ and }}:
//
//	{{prompt}}          the user's prompt
//	{{match.1}}         the first group of the REGEXP; {{match.1|Ada}} is Ada if the group is empty
//	{{result.a.0.b}}    from the result of the last call: field a, element 0, field b
//	{{result2.a}}       from the result of the scene's second call
//
// In a path, # is the number of elements, and * all elements (of an object, their names), joined with commas. The result is
// the field "result" of tool.Result's envelope, or the whole text. Token counts are estimates: a fourth of the characters.
//
// A model keeps no state between requests and is safe for concurrent use.
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

// Open parses src and returns the model that plays it. name appears in every answer and, with a line number, in errors.
func Open(name string, src []byte) (llm.Model, error) {
	scenes, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	p := &player{name: name, scenes: scenes}
	return llm.ModelFunc(p.stream), nil
}

// StoppedError is the error of a stream whose conversation differs from the file. The text before it says so too.
type StoppedError struct {
	Name string // of the replay
	Err  error
}

// Error returns the text of the error.
func (e *StoppedError) Error() string { return fmt.Sprintf("replay %s stopped: %v", e.Name, e.Err) }

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Err }

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
		events = append(events, llm.Event{Usage: &llm.Usage{Input: sizeOf(r) / 4, Output: a.size() / 4}})
		if a.stopped == nil {
			events = append(events, llm.Event{Stop: stop})
		}
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if a.stopped != nil {
			yield(llm.Event{}, &StoppedError{Name: p.name, Err: a.stopped})
		}
	}
}

// answer is the next answer of the player.
type answer struct {
	text    string
	calls   []*llm.Call
	stopped error // why the replay cannot continue
}

// answer finds the scene and the position in it.
func (p *player) answer(r *llm.Request) answer {
	t := place(r.Messages)
	s, match := p.find(t.prompt)
	if s == nil {
		return p.final(p.unknown())
	}
	a, err := s.play(r, t, match)
	switch {
	case err != nil:
		a = p.final(fmt.Sprintf("This replay stops here: %v.", err))
		a.stopped = err
		return a
	case len(a.calls) == 0:
		return p.final(a.text)
	}
	return a
}

// final returns the last answer, with the line that says what it is.
func (p *player) final(text string) answer {
	return answer{text: fmt.Sprintf("[replay %s"+markEnd+"%s", p.name, text)}
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

// sizeOf counts the bytes of a request.
func sizeOf(r *llm.Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Media != nil {
				n += 4 * p.Media.Tokens()
			}
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

// markEnd ends the line that says of an answer that no model gave it.
const markEnd = ": no model answered; tokens are estimated]\n"

// Unmarked returns a text without the first line that says of an answer that no model gave it. Other texts stay as they are.
func Unmarked(text string) string {
	if line, rest, ok := strings.Cut(text, markEnd); ok && strings.HasPrefix(line, "[replay ") && !strings.Contains(line, "\n") {
		return rest
	}
	return text
}
