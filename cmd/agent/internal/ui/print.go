package ui

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Safe is text that needs no sanitising: our own text, or foreign text that this package sanitised.
type Safe string

// Style is a way to show a text: see Paint.
type Style string

// The styles, as parameters of the terminal's SGR sequence.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint returns foreign text as one sanitised line in a style. Without colours the line has no style.
func (s *Streams) Paint(style Style, text string) Safe {
	return Safe(s.Styled(style, Line(text)))
}

// Styled returns a sanitised line in a style, "" for none.
func (s *Streams) Styled(style Style, line string) string {
	if !s.Colour || line == "" || style == "" {
		return line
	}
	return "\x1b[" + string(style) + "m" + line + "\x1b[0m"
}

// Printf writes to Out. The format must be our own. Arguments other than numbers, booleans and Safe are sanitised as one
// line each.
func (s *Streams) Printf(format string, args ...any) {
	fprintf(s.Out, format, args)
}

// Foreign writes foreign text of several lines to Out. On a terminal the text is sanitised by Prose. Elsewhere it is
// written byte for byte: a pipe or a file gets what the skill contains.
func (s *Streams) Foreign(text string) error {
	if s.OutTerminal {
		text = Prose(text)
	}
	_, err := io.WriteString(s.Out, text)
	return err
}

// Error prints an error to Err after the command's name. Lines after the first are indented.
func (s *Streams) Error(err error) {
	s.note("agent: ", err.Error())
}

// Warn prints a warning to Err.
func (s *Streams) Warn(text string) {
	s.note("agent: warning: ", text)
}

// Hint prints to Err what the user can do next. It prints nothing for an empty text.
func (s *Streams) Hint(text string) {
	if text != "" {
		s.note("hint: ", text)
	}
}

// note prints a text after a prefix. Lines after the first are indented. A terminal gets rows that fit it; lines that are indented
// already, such as the output of a script, are left as they are.
func (s *Streams) note(prefix, text string) {
	width := 0
	if s.ErrTerminal {
		width, _ = s.size()
	}
	lines := strings.Split(prefix+strings.TrimRight(Text(text), "\n"), "\n")
	for i, line := range lines {
		if i > 0 {
			line = "  " + line
		}
		if i == 0 || !strings.HasPrefix(line, "    ") {
			line = wrapped(line, width)
		}
		lines[i] = line
	}
	fmt.Fprintln(s.Err, strings.Join(lines, "\n"))
}

func fprintf(w io.Writer, format string, args []any) {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = harmless(arg)
	}
	fmt.Fprintf(w, format, safe...)
}

// harmless returns numbers, booleans and Safe text unchanged, and anything else as sanitised text.
func harmless(arg any) any {
	if safe, ok := arg.(Safe); ok {
		return string(safe)
	}
	_, text := arg.(fmt.Stringer)
	_, failure := arg.(error)
	if kind := reflect.ValueOf(arg).Kind(); !text && !failure && kind >= reflect.Bool && kind <= reflect.Complex128 {
		return arg
	}
	return Line(fmt.Sprint(arg))
}
