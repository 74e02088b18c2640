package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/tool"
)

// Limits of what is read.
const (
	MaxLine   = 8 << 20   // bytes of a line
	MaxPrompt = 512 << 10 // bytes of the text of a prompt
	MaxAnswer = 64 << 10  // bytes of an answer
	MaxID     = 200       // bytes of an ID
)

// The types of an Input.
const (
	Prompt = "prompt"
	Stop   = "stop"
	Answer = "answer"
)

// Input is a line that an agent reads.
type Input struct {
	Type   string `json:"type"`             // Prompt, Stop or Answer
	ID     string `json:"id,omitempty"`     // of an answer: that of the question; of a prompt: one that its turn then has
	Text   string `json:"text,omitempty"`   // of a prompt
	Answer string `json:"answer,omitempty"` // of an answer: one of the choices, or any text for a free question; "" gives none
}

// keys are those that each type has; the first ones are needed.
var keys = map[string]struct{ needed, others []string }{
	Prompt: {[]string{"text"}, []string{"id"}},
	Stop:   {},
	Answer: {[]string{"id", "answer"}, nil},
}

// ParseInput reads a line. The error says what is wrong with it, in words for whoever wrote the program that sent it.
func ParseInput(line []byte) (Input, error) {
	members, err := tool.Members(line)
	if err != nil {
		return Input{}, fmt.Errorf("a line must be one JSON object: %w", err)
	}
	got := map[string]string{}
	for _, m := range members {
		var text *string
		if json.Unmarshal(m.Value, &text) != nil || text == nil {
			return Input{}, fmt.Errorf("the key %.100q must be a string", m.Key)
		}
		got[m.Key] = *text
	}
	kind := got["type"]
	know, ok := keys[kind]
	if !ok {
		return Input{}, fmt.Errorf("the type is %.100q, and must be prompt, stop or answer", kind)
	}
	for _, key := range know.needed {
		if _, ok := got[key]; !ok {
			return Input{}, fmt.Errorf("a line of the type %s needs the key %q", kind, key)
		}
	}
	for _, m := range members {
		if m.Key != "type" && !slices.Contains(know.needed, m.Key) && !slices.Contains(know.others, m.Key) {
			return Input{}, fmt.Errorf("a line of the type %s has no key %.100q", kind, m.Key)
		}
	}
	in := Input{Type: kind, ID: got["id"], Text: got["text"], Answer: got["answer"]}
	return in, in.check()
}

func (in *Input) check() error {
	switch {
	case len(in.ID) > MaxID:
		return fmt.Errorf("the id has %d bytes, at most %d are taken", len(in.ID), MaxID)
	case len(in.Text) > MaxPrompt:
		return fmt.Errorf("the text has %d bytes, at most %d are taken: write it to a file and name the file", len(in.Text), MaxPrompt)
	case len(in.Answer) > MaxAnswer:
		return fmt.Errorf("the answer has %d bytes, at most %d are taken", len(in.Answer), MaxAnswer)
	case in.Type == Prompt && strings.TrimSpace(in.Text) == "":
		return errors.New("the text of the prompt is empty")
	}
	return nil
}

// Reader reads lines. It is for one goroutine at a time.
type Reader struct {
	from *bufio.Reader
	most int // bytes of a line
	line int
}

// NewReader returns a Reader of r. A line may have at most that many bytes.
func NewReader(r io.Reader, most int) *Reader {
	return &Reader{from: bufio.NewReaderSize(r, 64<<10), most: most}
}

// A LineError says what is wrong with a line. What follows it can be read.
type LineError struct {
	Line   int // its number, from 1
	Err    error
	Begins []byte // the beginning of a line that is too long, else nil
}

// mostBegins is how many bytes are kept of a line that is too long.
const mostBegins = 1 << 10

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// Next returns the next line that is not empty, and its number. The error is a *LineError for a line that cannot be read, io.EOF at
// the end, and otherwise that of the reader.
func (r *Reader) Next() (Input, int, error) {
	line, number, err := r.Line()
	if err != nil {
		return Input{}, number, err
	}
	in, err := ParseInput(line)
	if err != nil {
		return Input{}, number, &LineError{Line: number, Err: err}
	}
	return in, number, nil
}

// Line is like Next for a line of any form.
func (r *Reader) Line() (line []byte, number int, err error) {
	for {
		line, long, err := r.read()
		if err != nil {
			return nil, r.line, err
		}
		r.line++
		switch {
		case long:
			return nil, r.line, &LineError{r.line, fmt.Errorf("it has more than %d bytes", r.most), line}
		case len(bytes.TrimSpace(line)) > 0:
			return line, r.line, nil
		}
	}
}

// read returns a line without its end, or the beginning of one that is too long.
func (r *Reader) read() (line []byte, long bool, err error) {
	some := false
	for {
		part, err := r.from.ReadSlice('\n')
		some = some || len(part) > 0
		if long = long || len(line)+len(part) > r.most; !long || len(line) < mostBegins {
			line = append(line, part...)
		}
		if long {
			line = bytes.Clone(line[:min(len(line), mostBegins)])
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && some:
			return line, long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
