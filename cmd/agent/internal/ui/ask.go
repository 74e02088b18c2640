package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Mark begins each row of a question. Foreign text never contains it: see Line.
const Mark = "┇"

// maxAnswer is the number of bytes of an answer that are read. A longer one is not an answer.
const maxAnswer = 1024

// CanAsk reports whether a person is there to answer: both In and Err are terminals.
func (s *Streams) CanAsk() bool {
	return s.InTerminal && s.ErrTerminal
}

// Ask asks a question on Err and returns the answer: "y", "n" or one of the other letters, or the text of a free question.
// Details that exceed the screen are shown page by page, and only the end of the last page takes a yes.
//
// An empty answer, "n" and the end of the input mean no; to a free question they are the answer "". After any other answer
// it asks again. Without a person to answer ([Streams.CanAsk]) nothing is printed and the result is "n": a "y" in a pipe
// approves nothing. Ask drops what was typed into a terminal before a question: nobody approves what they have not seen.
//
// It returns ctx's error when ctx is done first; the read then goes on until the process ends. Another error says that
// the terminal does not drop what was typed; nothing is asked then.
func (s *Streams) Ask(ctx context.Context, q *Question) (string, error) {
	if !s.CanAsk() {
		return q.None(), nil
	}
	width, height := s.size()
	room := rowRoom(width, 3)
	asked := chunks(Line(q.Text), room)
	end := q.Ways()
	if last := &asked[len(asked)-1]; end != "" && (room == 0 || Width(*last)+1+len(end) <= room) {
		*last += " " + end
	} else if end != "" {
		asked = append(asked, end)
	}
	rows := Framed(q.Details, width)
	page := max(height-1-len(asked)-len(q.Choices), 1)
	styles := q.styles(rows)
	for height > 0 && len(rows) > page {
		s.rows(rows[:page], styles)
		rows, styles = rows[page:], styles[page:]
		more, err := s.prompt(ctx, fmt.Sprintf("%s %d more %s: Enter shows them, n refuses ", Mark, len(rows), plural(len(rows), "line")))
		if more = strings.ToLower(more); err != nil || more == "n" || more == "no" {
			return q.None(), endOfInput(err)
		}
	}
	s.rows(rows, styles)
	for i, row := range asked {
		asked[i] = Mark + " " + strings.TrimRight(row, " ")
	}
	if len(q.Choices) > 0 {
		asked = append(append(asked, q.ChoiceRows(width)...), Mark+" "+q.words()+":")
	}
	for text := strings.Join(asked, "\n") + " "; ; text = strings.TrimRight(Mark+" type "+q.words()+" "+q.Ways(), " ") + " " {
		line, err := s.prompt(ctx, text)
		if err != nil {
			return q.None(), endOfInput(err)
		}
		if answer, ok := q.Judge(line); ok {
			return answer, nil
		}
	}
}

// Framed returns the rows of a question's details: each begins with Mark and has at most width columns. The text
// begins in the fifth column. A row that continues the line above it has a » before its text. A width of 0 or less
// makes one row of each line.
func Framed(details []string, width int) []string {
	var rows []string
	for _, d := range details {
		for line := range strings.SplitSeq(Text(d), "\n") {
			lead := Mark + "   "
			for _, part := range chunks(Line(line), rowRoom(width, 4)) {
				rows = append(rows, strings.TrimRight(lead+part, " "))
				lead = Mark + " » "
			}
		}
	}
	return rows
}

// rowRoom returns the columns that a frame leaves of a row. The last column of a terminal stays free.
func rowRoom(width, frame int) int {
	if width <= 0 {
		return 0
	}
	return max(width-1-frame, 1)
}

// chunks cuts a sanitised line into parts of at most width columns: after a space in the second half of a part, or else where it is
// full. It leaves out nothing, and always returns one part.
func chunks(line string, width int) []string {
	if width <= 0 || plain(line) && len(line) <= width {
		return []string{line}
	}
	var parts []string
	from, used := 0, 0
	gap, before := 0, 0 // after the last space, and the columns up to there
	for at := 0; at < len(line); {
		first, w := Cluster(line[at:])
		if used+w > width && at > from {
			switch {
			case first == " ": // at the end of a row, where it takes the column that is free
				at++
				parts = append(parts, line[from:at])
				from, used = at, 0
				continue
			case gap <= from, before < width/2:
				gap, before = at, used
			}
			parts = append(parts, line[from:gap])
			from, used = gap, used-before
		}
		used += w
		at += len(first)
		if first == " " {
			gap, before = at, used
		}
	}
	return append(parts, line[from:])
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (s *Streams) rows(rows []string, styles []Style) {
	for i, row := range rows {
		text := strings.TrimPrefix(row, Mark)
		fmt.Fprintln(s.Err, Mark+s.Styled(styles[i], text))
	}
}

// size returns the columns and rows of the terminal that questions are printed on, 0 where they are not known.
func (s *Streams) size() (width, height int) {
	if f, ok := s.Err.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return s.Width, s.Height
}

// prompt prints text and reads a line, without space at its ends.
func (s *Streams) prompt(ctx context.Context, text string) (string, error) {
	if terminal, ok := s.In.(*os.File); ok {
		if err := dropTyped(terminal); err != nil {
			return "", fmt.Errorf("dropping what was typed before a question: %w", err)
		}
	}
	fmt.Fprint(s.Err, text)
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := readLine(s.In)
		read <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return "", context.Cause(ctx)
	case a := <-read:
		return strings.TrimSpace(a.line), a.err
	}
}

// errEnd says that the input ended before the answer.
var errEnd = errors.New("the input ended")

// endOfInput returns nil for the end of the input, which is a no, and any other error unchanged.
func endOfInput(err error) error {
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

// readLine reads up to a line end and not a byte further: what follows belongs to the next reader. Of a line over
// maxAnswer bytes it returns a part that is not an answer.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", errEnd
		}
		switch {
		case b[0] == '\n':
			return string(line), nil
		case len(line) < maxAnswer:
			line = append(line, b[0])
		}
	}
}
