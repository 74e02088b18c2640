package ui

import "strings"

// Question is what a person is asked. All of it may be foreign text.
type Question struct {
	Text    string
	Details []string // printed above the question, one or more lines each
	Others  string   // the letters that are answers besides y and n
	Free    bool     // the answer is a line of text, in place of y or n
	Choices []Choice // the answers, in place of y and n; nobody's answer is then ""
	Diff    bool     // Details are the lines of a unified diff
	Change  *Change  // what they show, whole; may be nil
}

// Choice is an answer that is one key.
type Choice struct {
	Key   string // one letter in lower case
	Label string // what it means

	// Then are the answers of the question that follows this one. Where all are shown at once, the answer is both keys.
	Then []Choice
}

// Change is how a file changes.
type Change struct {
	Path          string // absolute
	Existed       bool
	Before, After []byte
}

// Judge returns the answer that a line is, and whether it is one.
func (q *Question) Judge(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if q.Free {
		return line, true
	}
	if len(q.Choices) > 0 {
		return q.choose(strings.ToLower(line))
	}
	switch word := strings.ToLower(line); {
	case word == "y" || word == "yes":
		return "y", true
	case word == "" || word == "n" || word == "no":
		return "n", true
	case len(word) == 1 && strings.Contains(q.Others, word):
		return word, true
	}
	return "", false
}

// None is the answer of nobody.
func (q *Question) None() string {
	if q.Free || len(q.Choices) > 0 {
		return ""
	}
	return "n"
}

// choose returns the choice that a word is. No word is nobody's answer.
func (q *Question) choose(word string) (string, bool) {
	for _, c := range q.Choices {
		if word == c.Key || word == "yes" && c.Key == "y" || word == "no" && c.Key == "n" {
			return c.Key, true
		}
	}
	return "", word == ""
}

// ChoiceRows returns the rows that list the choices, of at most width columns.
func (q *Question) ChoiceRows(width int) []string {
	var rows []string
	for _, c := range q.Choices {
		rows = append(rows, Mark+"   "+Truncate(c.Key+"  "+c.Label, rowRoom(width, 4)))
	}
	return rows
}

// Keys are the keys of the choices: "y, c or n".
func (q *Question) Keys() string {
	keys := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		keys[i] = c.Key
	}
	last := len(keys) - 1
	if last < 1 {
		return strings.Join(keys, "")
	}
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}

// Label returns what an answer means.
func (q *Question) Label(answer string) string {
	for _, c := range q.Choices {
		if c.Key == answer {
			return c.Label
		}
	}
	return ""
}

// Ways are the possible answers, as a question ends: "[y/N/e]". A free question has none, and neither has one with choices.
func (q *Question) Ways() string {
	if q.Free || len(q.Choices) > 0 {
		return ""
	}
	ways := "[y/N"
	for _, letter := range q.Others {
		ways += "/" + string(letter)
	}
	return ways + "]"
}

// words are the possible answers in a sentence: "y, e or n".
func (q *Question) words() string {
	if len(q.Choices) > 0 {
		return q.Keys()
	}
	text := "y"
	for _, letter := range q.Others {
		text += ", " + string(letter)
	}
	return text + " or n"
}
