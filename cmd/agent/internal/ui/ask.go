package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 1024

// CanAsk tells whether a person is there to answer: both In and Err are terminals.
func (s *Streams) CanAsk() bool {
	return s.InTerminal && s.ErrTerminal
}

// Confirm asks a question on Err and tells whether the answer was yes. Anything else is no: an empty answer, the end
// of the input, and a question that cannot be asked because nobody is there ([Streams.CanAsk]), of which nothing is
// printed: a "y" in a pipe approves nothing. What was typed into a terminal before the question is dropped: nobody
// approves what was not seen (security 2.14 #185). The question may hold foreign text.
//
// It returns ctx's error when that ends first; the read then goes on until the process ends. Another error says that
// the terminal does not drop what was typed; nothing is asked then.
func (s *Streams) Confirm(ctx context.Context, question string) (bool, error) {
	if !s.CanAsk() {
		return false, nil
	}
	if terminal, ok := s.In.(*os.File); ok {
		if err := dropTyped(terminal); err != nil {
			return false, fmt.Errorf("dropping what was typed before a question: %w", err)
		}
	}
	fmt.Fprintf(s.Err, "%s [y/N] ", Text(question))
	answer := make(chan string, 1)
	go func() { answer <- readLine(s.In) }()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return false, context.Cause(ctx)
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	}
}

// readLine reads up to a line end and not a byte further: what follows belongs to the next reader.
// A line over maxAnswer bytes, or one that does not end, is no answer.
func readLine(r io.Reader) string {
	var line [maxAnswer]byte
	for n := range line {
		if _, err := io.ReadFull(r, line[n:n+1]); err != nil {
			return ""
		}
		if line[n] == '\n' {
			return string(line[:n])
		}
	}
	return ""
}
