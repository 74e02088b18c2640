package ui

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// fallbackWidth is used when a terminal does not tell its own.
const fallbackWidth = 80

// Streams is where a command reads and writes, and what it knows about the other side.
type Streams struct {
	In  io.Reader
	Out io.Writer // the answer
	Err io.Writer // errors, hints, questions, progress

	InTerminal  bool
	OutTerminal bool
	ErrTerminal bool
	Colour      bool // Out understands colour and the user wants it
	Cursor      bool // Err understands cursor movement: a terminal that is not dumb
	Width       int  // columns of Out; 0 when it is no terminal: as wide as the text
}

// Options has what New cannot know by itself.
type Options struct {
	Getenv  func(string) string // reads TERM and NO_COLOR; nil: neither is set
	NoColor bool                // the user's flag --no-color
}

// New returns the streams over three open files and finds out which of them are terminals.
// It does not take the files over: closing them stays the caller's.
func New(in, out, err *os.File, o *Options) *Streams {
	if o == nil {
		o = &Options{}
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	s := &Streams{
		In: in, Out: out, Err: err,
		InTerminal:  term.IsTerminal(int(in.Fd())),
		OutTerminal: term.IsTerminal(int(out.Fd())),
		ErrTerminal: term.IsTerminal(int(err.Fd())),
	}
	if s.OutTerminal {
		s.Width = fallbackWidth
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 0 {
			s.Width = width
		}
	}
	dumb := strings.EqualFold(getenv("TERM"), "dumb")
	s.Colour = s.OutTerminal && !dumb && !o.NoColor && getenv("NO_COLOR") == ""
	s.Cursor = s.ErrTerminal && !dumb
	return s
}

// Test returns streams over buffers, none of them a terminal. A test sets the fields that it is about.
func Test() (s *Streams, in, out, err *bytes.Buffer) {
	in, out, err = &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
	return &Streams{In: in, Out: out, Err: err}, in, out, err
}
