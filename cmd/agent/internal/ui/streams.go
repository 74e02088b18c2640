package ui

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// fallbackWidth is used for a terminal that does not report its size.
const fallbackWidth = 80

// Streams is where a command reads and writes, with what is known about the other side.
type Streams struct {
	In  io.Reader
	Out io.Writer // the answer
	Err io.Writer // errors, hints, questions, progress

	InTerminal  bool
	OutTerminal bool
	ErrTerminal bool
	Colour      bool // Out understands colour and the user wants it
	Cursor      bool // Err understands cursor movement: a terminal that is not dumb
	Width       int  // columns of Out; 0 when it is not a terminal: rows are as long as the text
	Height      int  // rows of the screen that Ask fills at once, where Err is not a file; 0 means no limit
}

// Options has what New cannot find out from the files.
type Options struct {
	Getenv  func(string) string // reads TERM and NO_COLOR; nil means that neither is set
	NoColor bool                // the user's flag --no-color
}

// New returns streams over three open files, and finds out which of them are terminals. The caller closes the files.
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
	dumb := strings.EqualFold(getenv("TERM"), "dumb")
	if s.OutTerminal {
		width, height, err := term.GetSize(int(out.Fd()))
		if s.Width = width; err != nil || width <= 0 {
			s.Width = fallbackWidth
		}
		dumb = dumb || err != nil || width <= 0 || height <= 0 // a serial console: where rows end is not known
	}
	s.Colour = s.OutTerminal && !dumb && !o.NoColor && getenv("NO_COLOR") == ""
	s.Cursor = s.ErrTerminal && !dumb
	return s
}

// Resized sets Width to the present width of a terminal: the size of its window may have changed since New.
func (s *Streams) Resized(terminal *os.File) {
	if width, _, err := term.GetSize(int(terminal.Fd())); err == nil && width > 0 {
		s.Width = width
	}
}

// Plain makes a terminal one that gets lines alone, as a dumb one does: without colours, and with no row that is drawn again.
func (s *Streams) Plain() { s.Colour, s.Cursor = false, false }

// Test returns streams over buffers that are not terminals. A test sets the fields that it needs.
func Test() (s *Streams, in, out, err *bytes.Buffer) {
	in, out, err = &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
	return &Streams{In: in, Out: out, Err: err}, in, out, err
}
