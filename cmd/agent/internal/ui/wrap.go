package ui

import "strings"

// wrapped breaks a sanitised line as Wrap does. Rows after the first begin with two spaces.
func wrapped(line string, width int) string {
	if width <= 0 || Width(line) <= width {
		return line
	}
	text := strings.TrimLeft(line, " ")
	lead := len(line) - len(text)
	return line[:lead] + Wrap(text, width, lead, 2)
}

// Wrap breaks a sanitised line into rows of at most width columns, at spaces. The first row begins in the column at, from 0, and the
// others with indent spaces. A word that is longer has a row of its own, and so has a command: a line end within it would run the half
// of it that was pasted. A width of 0 or less breaks nothing.
func Wrap(line string, width, at, indent int) string {
	if width <= 0 || at+Width(line) <= width {
		return line
	}
	var b strings.Builder
	for i, unit := range units(strings.Fields(line)) {
		w := Width(unit)
		switch {
		case i == 0 && (at+w <= width || at <= indent):
		case i == 0 || at+1+w > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(unit)
		at += w
	}
	return b.String()
}

// units joins the words of a command.
func units(words []string) []string {
	var out []string
	for len(words) > 0 {
		n := commandLength(words)
		out = append(out, strings.Join(words[:n], " "))
		words = words[n:]
	}
	return out
}

// commandLength returns how many of the first words are a command of this program, with what is said of it: up to the end of a
// quotation or of a part of the sentence. It is 1 if they are none.
func commandLength(words []string) int {
	first := 0
	if strings.Contains(words[0], "=") && len(words) > 1 { // a variable is set for it
		first = 1
	}
	before, isCommand := strings.CutSuffix(words[first], "agent")
	if !isCommand || strings.Trim(before, "\"'`(") != "" {
		return 1
	}
	quote := strings.TrimLeft(before, "(")
	for n := first + 1; n < len(words); n++ {
		switch word := words[n]; {
		case quote != "":
			if strings.Contains(word, quote) {
				return n + 1
			}
		case strings.HasSuffix(word, ",") && !strings.Contains(word, "="), strings.HasSuffix(word, ";"), strings.HasSuffix(word, ":"), strings.HasSuffix(word, ")"):
			return n + 1
		}
	}
	return len(words)
}
