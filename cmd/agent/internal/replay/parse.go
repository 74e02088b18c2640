package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits of a file.
const (
	MaxFile   = 1 << 20 // bytes
	maxScenes = 500
	maxCalls  = 50 // of a scene
)

// scene is one conversation: answers with calls, and a last answer with text only.
type scene struct {
	prompt string
	plain  string // prompt, as asked is compared
	words  [][]string
	exprs  []*regexp.Regexp
	turns  []*turn
	line   int
}

// turn is one answer.
type turn struct {
	says  []template
	calls []toolCall
}

type toolCall struct {
	tool string
	args template
}

// parser reads a file.
type parser struct {
	scenes []*scene
	calls  int // of the scene so far
}

func parse(name string, src []byte) ([]*scene, error) {
	if len(src) > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes, the limit is %d", name, len(src), MaxFile)
	}
	p := &parser{}
	n := 0
	for line := range bytes.Lines(src) {
		n++
		if err := p.line(strings.TrimSpace(string(line)), n); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if len(p.scenes) == 0 {
		return nil, fmt.Errorf("%s:%d: no scene; a scene begins with a line \"prompt …\"", name, n+1)
	}
	if err := p.last().end(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.last().line, err)
	}
	return p.scenes, nil
}

func (p *parser) last() *scene { return p.scenes[len(p.scenes)-1] }

func (p *parser) line(text string, n int) error {
	if text == "" || text[0] == '#' {
		return nil
	}
	if !utf8.ValidString(text) {
		return errors.New("the line is not UTF-8")
	}
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if word == "prompt" {
		return p.prompt(rest, n)
	}
	if len(p.scenes) == 0 {
		return fmt.Errorf("%q comes before the first \"prompt\"", word)
	}
	switch s := p.last(); word {
	case "on":
		return s.on(rest)
	case "say":
		return s.say(rest, p.calls)
	case "call", "also":
		p.calls++
		if p.calls > maxCalls {
			return fmt.Errorf("a scene has at most %d calls", maxCalls)
		}
		return s.call(rest, word == "also", p.calls-1)
	}
	return fmt.Errorf("unknown word %q, use prompt, on, call, also or say", word)
}

func (p *parser) prompt(text string, n int) error {
	switch {
	case text == "":
		return errors.New("a prompt needs its text")
	case len(p.scenes) == maxScenes:
		return fmt.Errorf("a file has at most %d scenes", maxScenes)
	}
	if len(p.scenes) > 0 {
		if err := p.last().end(); err != nil {
			return fmt.Errorf("the scene before, of line %d: %w", p.last().line, err)
		}
	}
	p.calls = 0
	p.scenes = append(p.scenes, &scene{prompt: text, plain: fold(text), line: n})
	return nil
}

// fold makes prompts comparable: it ignores case, runs of spaces and the full stop at the end.
func fold(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(text)), " "), ".!?")
}

func (s *scene) on(text string) error {
	if len(s.turns) > 0 {
		return errors.New("\"on\" belongs right below \"prompt\"")
	}
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		e, err := regexp.Compile("(?i)" + text[1:len(text)-1])
		if err != nil {
			return err
		}
		s.exprs = append(s.exprs, e)
		return nil
	}
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		if word = fold(word); word == "" {
			return errors.New("\"on\" needs words with commas between them, or /a regular expression/")
		}
		words = append(words, word)
	}
	s.words = append(s.words, words)
	return nil
}

// open returns the answer that the next line adds to. It begins a new one if there is none or the last one has calls.
func (s *scene) open() *turn {
	if n := len(s.turns); n > 0 && len(s.turns[n-1].calls) == 0 {
		return s.turns[n-1]
	}
	s.turns = append(s.turns, &turn{})
	return s.turns[len(s.turns)-1]
}

func (s *scene) say(text string, calls int) error {
	t, err := compile(text, calls)
	if err != nil {
		return err
	}
	a := s.open()
	a.says = append(a.says, t)
	return nil
}

// call adds a call; calls are those of the scene before it.
func (s *scene) call(text string, also bool, calls int) error {
	name, args, _ := strings.Cut(text, " ")
	if name == "" {
		return errors.New("a call needs the name of a tool")
	}
	if args = strings.TrimSpace(args); args == "" {
		args = "{}"
	}
	var t *turn
	if !also {
		t = s.open()
	} else if n := len(s.turns); n > 0 && len(s.turns[n-1].calls) > 0 {
		t = s.turns[n-1]
		calls -= len(t.calls) // results of the same answer are not known yet either
	} else {
		return errors.New("\"also\" belongs below a \"call\"")
	}
	a, err := compileJSON(args, calls)
	if err != nil {
		return fmt.Errorf("arguments of %q: %w", name, err)
	}
	t.calls = append(t.calls, toolCall{name, a})
	return nil
}

// end returns an error if the scene is incomplete.
func (s *scene) end() error {
	if n := len(s.turns); n == 0 || len(s.turns[n-1].calls) > 0 {
		return errors.New("a scene must end with \"say\"")
	}
	return nil
}

// compileJSON reads a JSON object whose strings are templates.
func compileJSON(text string, calls int) (template, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	var b bytes.Buffer
	if fields == nil || json.Compact(&b, []byte(text)) != nil {
		return nil, errors.New("not a JSON object")
	}
	var out template
	rest := b.String()
	for rest != "" {
		begin := strings.IndexByte(rest, '"')
		if begin < 0 {
			break
		}
		end := begin + 1
		for rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		if err := json.Unmarshal([]byte(rest[begin:end+1]), &s); err != nil {
			return nil, err
		}
		inner, err := compile(s, calls)
		if err != nil {
			return nil, err
		}
		out = append(out, piece{text: rest[:begin]}, piece{quoted: true, inner: inner})
		rest = rest[end+1:]
	}
	return append(out, piece{text: rest}), nil
}
