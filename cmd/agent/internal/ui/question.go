package ui

import (
	"slices"
	"strings"
	"time"
)

// Question is what a person is asked. All of it may be foreign text. The answer "" means that there was none.
//
// On the screen each row begins with Mark, which is in no foreign text. What begins in the third column is the first row of the
// question, of the note or of a choice; details begin in the fifth, and rows that go on have a » before it. So no text
// can imitate another part.
type Question struct {
	Text    string
	Details []string // printed with the question, one or more lines each
	Whole   []string // what Details are the short form of: the key d shows it. nil if Details are all
	Note    string   // what the choices mean, apart from Details; "" for nothing
	Choices []Choice // the answers; none means yes and no
	Free    bool     // the answer is a line of text, and there are no choices
	Diff    bool     // Details are the lines of a unified diff
	Change  *Change  // what they show, whole; may be nil
}

// Choice is an answer that is one key.
type Choice struct {
	Key    string // one letter in lower case, or a digit
	Label  string // what it means
	Lasts  bool   // it is about later calls, too
	Writes bool   // a question follows whose answer is a line of text
}

// Change is how a file changes.
type Change struct {
	Path          string // absolute
	Existed       bool
	Before, After []byte
}

// Quiet is how long a question must be on the screen, without a key, before a key answers it. So a person who is typing when the question
// appears does not answer it.
const Quiet = 300 * time.Millisecond

// Bounds of what the choices take.
const (
	mostRows     = 3  // of one
	mostTogether = 76 // columns of a row that has all
)

// show is the key that shows the whole of a question.
const show = "d"

// Answers are the answers that are one key. A free question has none.
func (q *Question) Answers() []Choice {
	switch out := q.Choices; {
	case q.Free:
		return nil
	case len(out) == 0:
		return []Choice{{Key: "y", Label: "yes"}, {Key: "n", Label: "no"}}
	default:
		return out
	}
}

// Opened returns the question with the whole in place of its short form, and whether that is what a key asks for.
func (q *Question) Opened(key string) (*Question, bool) {
	if len(q.Whole) == 0 || key != show {
		return q, false
	}
	open := *q
	open.Details, open.Whole = q.Whole, nil
	return &open, true
}

// Shown returns the question with all that a person has to see as its details, for where there is room.
func (q *Question) Shown() *Question {
	open, _ := q.Opened(show)
	if open.Note == "" {
		return open
	}
	all := *open
	all.Details, all.Note = append(slices.Clip(open.Details), "", open.Note), ""
	return &all
}

// keys are the answers and the key that shows the whole.
func (q *Question) keys() []Choice {
	out := q.Answers()
	if len(q.Whole) == 0 {
		return out
	}
	last := len(out) - 1
	return slices.Insert(slices.Clone(out), last, Choice{Key: show, Label: "show all of this"})
}

// Judge returns the answer that a word is, and whether it is one.
func (q *Question) Judge(word string) (string, bool) {
	word = strings.TrimSpace(word)
	if q.Free {
		return word, true
	}
	word = strings.ToLower(word)
	for _, c := range q.keys() {
		if word == c.Key || word == "yes" && c.Key == "y" || word == "no" && c.Key == "n" {
			return c.Key, true
		}
	}
	return "", false
}

// Title returns the rows of the question itself, of at most width columns.
func (q *Question) Title(width int) []string { return framed(Line(q.Text), Mark+" ", width) }

// Noted returns the rows of the note.
func (q *Question) Noted(width int) []string {
	if q.Note == "" {
		return nil
	}
	return framed(Line(q.Note), Mark+" ", width)
}

// Below returns the rows of the note, and of the choices if they are more than yes and no: one row, if it has room for all.
func (q *Question) Below(width int) []string {
	rows := q.Noted(width)
	const apart = "   " // what no label of a row with others has
	var list, all []string
	together := true
	for _, c := range q.keys() {
		lead := Mark + " " + c.Key + "  "
		list = append(list, framed(Truncate(c.Label, mostRows*rowRoom(width, Width(lead))), lead, width)...)
		all = append(all, c.Key+"  "+Line(c.Label))
		together = together && !strings.Contains(c.Label, "  ")
	}
	row := strings.Join(all, apart)
	switch {
	case row == "y  yes"+apart+"n  no":
	case together && row != "" && width > 0 && Width(row) <= min(rowRoom(width, 2), mostTogether):
		rows = append(rows, Mark+" "+row)
	default:
		rows = append(rows, list...)
	}
	return rows
}

// Prompt ends a question: "Press y, c or n:". A free one has none.
func (q *Question) Prompt() string {
	keys := q.keys()
	if q.Free || len(keys) == 0 {
		return ""
	}
	text := "Press "
	for i, c := range keys {
		switch i {
		case 0:
		case len(keys) - 1:
			text += " or "
		default:
			text += ", "
		}
		text += c.Key
	}
	return text + ":"
}

// Chosen returns the choice with that key, or an empty one.
func (q *Question) Chosen(answer string) Choice {
	for _, c := range q.keys() {
		if c.Key == answer {
			return c
		}
	}
	return Choice{}
}
