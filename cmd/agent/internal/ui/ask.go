package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

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

// Ask asks a question on Err and returns the answer: the key of a choice, or the text of a free question. One key answers. Esc,
// Ctrl-D and the end of the input give the answer "", and so does Enter where a terminal gives only lines. After any other key it
// asks again. Details that exceed the screen are shown page by page. The pages before the last one take no answer but no.
//
// Without a person to answer ([Streams.CanAsk]) nothing is printed and the result is "": a "y" in a pipe approves nothing. A key
// that was typed before the question was printed, or less than Quiet after that, is dropped: it was not meant for the question.
//
// It returns ctx's error when ctx is done first; the read then goes on until the process ends. Another error says that
// the terminal does not drop what was typed; nothing is asked then.
func (s *Streams) Ask(ctx context.Context, q *Question) (string, error) {
	if !s.CanAsk() {
		return "", nil
	}
	for {
		answer, err := s.ask(ctx, q)
		open, opens := q.Opened(answer)
		if err != nil || !opens {
			return answer, err
		}
		q = open
	}
}

func (s *Streams) ask(ctx context.Context, q *Question) (string, error) {
	width, height := s.size()
	below := q.Below(width)
	asked := q.Title(width)
	if prompt := q.Prompt(); prompt != "" {
		if last := &asked[len(asked)-1]; len(below) == 0 && (width <= 0 || Width(*last)+2+len(prompt) < width) {
			*last += " " + prompt
		} else {
			asked = append(asked, Mark+" "+prompt)
		}
	}
	if len(below) > 0 { // the choices are above the keys
		asked = slices.Concat(asked[:len(asked)-1], below, asked[len(asked)-1:])
	}
	rows := Framed(q.Details, width)
	styles := q.styles(rows)
	if last := len(asked) - 1; height > 0 && last >= height-1 { // a name fills the screen
		rows, asked = append(rows, asked[:last]...), asked[last:]
		styles = append(styles, make([]Style, last)...)
	}
	page := max(height-1-len(asked), 1)
	more := &Question{Choices: []Choice{{Key: ""}, {Key: "n"}}} // the next page
	for height > 0 && len(rows) > page {
		s.rows(rows[:page], styles)
		rows, styles = rows[page:], styles[page:]
		text := fmt.Sprintf("%s %d more %s: Enter shows them, n refuses ", Mark, len(rows), plural(len(rows), "line"))
		answer, err := s.answer(ctx, text, text, more)
		if err != nil || answer == "n" {
			return "", endOfInput(err)
		}
	}
	s.rows(rows, styles)
	answer, err := s.answer(ctx, strings.Join(asked, "\n")+" ", Mark+" "+q.Prompt()+" ", q)
	return answer, endOfInput(err)
}

// answer prints text and reads until there is an answer to q. After anything else it prints again. It says only once that a key
// came too soon, because a program may send keys without end.
func (s *Streams) answer(ctx context.Context, text, again string, q *Question) (string, error) {
	for said := false; ; {
		r, err := s.prompt(ctx, text, q.Free)
		if err != nil {
			return "", err
		}
		answer, ok := q.Judge(r.word)
		switch text = again; {
		case !r.soon && (ok || r.word == "" && !r.key):
			return answer, nil
		case r.soon && r.key && said:
			text = ""
		case r.soon && r.key:
			fmt.Fprintln(s.Err, "that key came too soon: press it again")
			said = true
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
			rows = append(rows, framed(Line(line), Mark+"   ", width)...)
		}
	}
	return rows
}

// framed returns the rows of a sanitised line. The first row begins with lead, the others with a ».
func framed(line, lead string, width int) []string {
	var rows []string
	for _, part := range chunks(line, rowRoom(width, max(Width(lead), 4))) {
		rows = append(rows, strings.TrimRight(lead+part, " "))
		lead = Mark + " » "
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

// reply is what was typed, without space at its ends.
type reply struct {
	word string
	key  bool // it is one key, and not a line
	soon bool // it came too soon to be an answer
	err  error
}

// prompt prints text and reads a key, or a line where the question is free or the terminal gives no keys.
func (s *Streams) prompt(ctx context.Context, text string, free bool) (*reply, error) {
	terminal, ok := s.In.(*os.File)
	read, key := readLine, false
	if ok && !free {
		var back func()
		if back, key = oneKey(terminal); key {
			defer back()
			read = readKey
		}
	}
	if ok {
		if err := dropTyped(terminal); err != nil {
			return nil, fmt.Errorf("dropping what was typed before a question: %w", err)
		}
	}
	fmt.Fprint(s.Err, text)
	began := time.Now()
	got := make(chan *reply, 1)
	go func() {
		word, err := read(s.In)
		word = strings.TrimSpace(word)
		got <- &reply{word: word, key: key, soon: ok && (key || word == "") && time.Since(began) < Quiet, err: err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return nil, context.Cause(ctx)
	case r := <-got:
		if key && (!r.soon || r.err != nil) {
			fmt.Fprintln(s.Err, Truncate(r.word, 1))
		}
		return r, r.err
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

// readKey reads what one key sends. Esc and Ctrl-D end the input. A key that sends several characters is not an answer.
func readKey(r io.Reader) (string, error) {
	b := make([]byte, 64)
	n, err := r.Read(b)
	if key := string(b[:n]); err == nil && key != "\x1b" && key != "\x04" {
		return key, nil
	}
	return "", errEnd
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
