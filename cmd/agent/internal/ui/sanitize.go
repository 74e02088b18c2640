package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"
)

// maxMarks is the number of combining marks in a row that are shown unchanged. Written languages need up to four. A
// longer pile has no width and covers the lines around it.
const maxMarks = 4

// Line returns foreign text as one line that is safe to print.
//
// Each line end and tab becomes one space, and other kinds of space become a plain one (Exact keeps them apart). Every
// other character that a terminal obeys or does not show becomes a visible escape such as \x1b or \u{202e}: controls,
// escape sequences, bidirectional and zero-width characters, tags, invalid UTF-8. So does Mark, with the characters
// that look like it.
func Line(s string) string {
	return sanitize(s, " ", " ", false)
}

// Text is like Line, but keeps line ends and tabs.
func Text(s string) string {
	return sanitize(s, "\n", "\t", false)
}

// Prose is like Text, but keeps a zero-width joiner or non-joiner where writing needs it: between letters of scripts
// that join, such as Arabic and Devanagari, and between emoji. It is for texts that a person reads, such as an answer.
// Names, commands and questions take Line or Text.
func Prose(s string) string {
	return sanitize(s, "\n", "\t", true)
}

// Exact returns foreign text in which each character counts, such as a command. A character that looks like a space
// but is not one becomes a visible escape: a tab \t, others \x0d or \u{a0}. A backslash is doubled, so \t in the text
// and a tab differ. Line ends stay, and so does what Line and Text escape.
func Exact(s string) string {
	if plain(s) && !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
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

// tabStop is the distance of the columns that a tab leads to, as on terminals.
const tabStop = 8

// Untab replaces each tab of a sanitised line by spaces up to the next tab stop. The line begins at the column from,
// counted from 0. Untab also returns the column after its end.
func Untab(line string, from int) (spaced string, column int) {
	column = from
	var b strings.Builder
	for _, r := range line {
		if r == '\t' {
			n := tabStop - column%tabStop
			b.WriteString("        "[:n])
			column += n
			continue
		}
		b.WriteRune(r)
		column += measure().RuneWidth(r)
	}
	return b.String(), column
}

// ellipsis ends what was cut for a person. Only texts that others compare have "..." in its place, such as that of agent skill show.
const ellipsis = "…"

// Truncate returns foreign text as one line of at most width columns. A text that is cut ends in an ellipsis.
// A width of 0 or less cuts nothing.
func Truncate(s string, width int) string {
	s = Line(s)
	if width <= 0 {
		return s
	}
	if !plain(s) {
		return measure().Truncate(s, width, ellipsis)
	}
	if len(s) <= width {
		return s
	}
	return s[:width-1] + ellipsis
}

// Cut returns the beginning of one sanitised line, in at most width Columns. A line that is cut ends in an ellipsis.
func Cut(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	end := 0
	for used := 0; end < len(s); {
		first, w := Cluster(s[end:])
		if used += w; used > width-1 {
			break
		}
		end += len(first)
	}
	if width > 0 {
		return s[:end] + ellipsis
	}
	return s[:end]
}

// CutFront returns the end of one sanitised line, as Cut returns its beginning.
func CutFront(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	for used := Columns(s); s != "" && used > width-1; {
		first, w := Cluster(s)
		s, used = s[len(first):], used-w
	}
	if width < 1 {
		return ""
	}
	return ellipsis + s
}

// Width returns the number of columns that sanitised text takes.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return measure().StringWidth(s)
}

// Cluster cuts the first character, as a person sees it, off a sanitised text that is not empty. It returns the
// character and its columns. Terminals disagree about the width of some characters. Cluster takes the larger number,
// so a row that is filled by it never runs over its end.
func Cluster(s string) (first string, width int) {
	if s[0] >= ' ' && s[0] <= '~' && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], 1
	}
	first, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	_, other := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
	return first, max(width, other)
}

// Columns returns how many columns sanitised text without line ends takes on any terminal, at most.
func Columns(s string) (n int) {
	for s != "" {
		first, width := Cluster(s)
		n += width
		s = s[len(first):]
	}
	return n
}

// measure does not depend on the locale: the same text is cut at the same place everywhere.
func measure() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

func sanitize(s, newline, tab string, prose bool) string {
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
		case prose && isJoiner(r) && joins(s[:i], s[i+size:]):
			b.WriteRune(r)
		case !visible(r) || marks > maxMarks:
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain reports whether s is printable ASCII and needs no second look.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// visible reports whether a person sees the character and the terminal only draws it.
func visible(r rune) bool {
	if r == '\uFE0E' || r == '\uFE0F' { // the usual text and emoji forms, in half of all real emoji
		return true
	}
	return unicode.IsPrint(r) && r != '\u2800' && !reserved(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// reserved reports whether r is Mark or another dashed line. They are rare, and hard to tell from Mark.
func reserved(r rune) bool { return r >= 0x2504 && r <= 0x250B || r >= 0x254C && r <= 0x254F }

// countMarks returns how many characters without a width are in a row, r included.
func countMarks(before int, r rune) int {
	switch {
	case unicode.Is(unicode.M, r):
		return before + 1
	case isJoiner(r):
		return before
	}
	return 0
}

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// joins reports whether a joiner between two texts is part of normal writing.
func joins(before, after string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	for n := 0; n < maxMarks && unicode.Is(unicode.M, last) && !joinsLetters(last); n++ {
		before = before[:len(before)-size]
		last, size = utf8.DecodeLastRuneInString(before)
	}
	next, _ := utf8.DecodeRuneInString(after)
	return joinsLetters(last) && joinsLetters(next) || isEmoji(last) && isEmoji(next)
}

// joinsLetters reports whether r is a letter or mark of a script that is written with joiners.
func joinsLetters(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.L, unicode.M) && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian,
		unicode.Adlam, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// isEmoji reports whether r is from a block of emoji, skin tones included.
func isEmoji(r rune) bool {
	return r == 0x2194 || r == 0x2195 || r >= 0x2600 && r <= 0x27BF || r >= 0x2B00 && r <= 0x2BFF || r >= 0x1F000 && r <= 0x1FAFF
}

func escape(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		fmt.Fprintf(b, `\x%02x`, r)
		return
	}
	fmt.Fprintf(b, `\u{%x}`, r)
}
