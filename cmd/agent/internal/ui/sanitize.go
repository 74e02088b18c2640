package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// maxMarks is how many combining marks in a row are shown as they are. Written languages need up to four; a pile of
// them has no width and covers the lines around it.
const maxMarks = 4

// Line returns foreign text as one line that is safe to print: security 2.14 #184.
//
// Line ends and tabs become one space, other spaces a plain one: see Exact. Every other character that a terminal obeys or does not show (controls, escape
// sequences, bidirectional and zero-width characters, tags, invalid UTF-8) becomes a visible escape: \x1b or \u{202e}.
func Line(s string) string {
	return sanitize(s, " ", " ")
}

// Text is Line for text of several lines: line ends stay and a tab becomes four spaces.
func Text(s string) string {
	return sanitize(s, "\n", "    ")
}

// Exact returns foreign text of which each character counts, such as a command: what looks like a blank and is none
// becomes a visible escape, a tab \t, any other \x0d or \u{a0}. Line ends stay, and so does what Line and Text escape.
func Exact(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r' || r != ' ' && unicode.Is(unicode.Zs, r):
			escape(&b, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Truncate returns foreign text as one line of at most width columns; what is cut ends in "...".
// A width of 0 or less cuts nothing.
func Truncate(s string, width int) string {
	s = Line(s)
	if width <= 0 {
		return s
	}
	tail := "..."[:min(3, width)]
	if !plain(s) {
		return measure().Truncate(s, width, tail)
	}
	if len(s) <= width {
		return s
	}
	return s[:width-len(tail)] + tail
}

// Width returns the number of columns that sanitised text takes.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return measure().StringWidth(s)
}

// measure does not depend on the locale: the same text is cut at the same place everywhere.
func measure() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

func sanitize(s, newline, tab string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		marks = countMarks(marks, r)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			size = 2
			b.WriteString(newline)
		case r == '\n':
			b.WriteString(newline)
		case r == '\t':
			b.WriteString(tab)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		case !visible(r) || marks > maxMarks:
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain tells that nothing of s needs a second look: printable ASCII alone.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// visible tells that a person sees the character and the terminal only draws it.
func visible(r rune) bool {
	if r == '\uFE0E' || r == '\uFE0F' { // the usual text and emoji forms, in half of all real emoji
		return true
	}
	return unicode.IsPrint(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// countMarks returns how many characters without a width stand in a row, r included.
func countMarks(before int, r rune) int {
	if unicode.Is(unicode.M, r) {
		return before + 1
	}
	return 0
}

func escape(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		fmt.Fprintf(b, `\x%02x`, r)
		return
	}
	fmt.Fprintf(b, `\u{%x}`, r)
}
