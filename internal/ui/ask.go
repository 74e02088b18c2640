package ui

import (
	"context"
	"fmt"
	"io"
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
// printed: a "y" in a pipe approves nothing. The question may hold foreign text.
//
// It returns ctx's error when that ends first; the read then goes on until the process ends.
func (s *Streams) Confirm(ctx context.Context, question string) (bool, error) {
	if !s.CanAsk() {
		return false, nil
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
