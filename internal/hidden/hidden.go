// Package hidden finds text that a model reads and a person does not see.
package hidden

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find is hidden text in a text.
type Find struct {
	Offset int    // in the text, in bytes
	Kind   string // "tag characters", "variation selectors", "reordered text" or "invisible characters"
	What   string // what it is and says, for a person
}

// Next returns the first hidden text of the first line, from that of an offset on, that has one.
func Next(text string, from int) (Find, bool) {
	for from = suspect(text, from); from < len(text); {
		begin, end := strings.LastIndexByte(text[:from], '\n')+1, len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			end = from + n + 1
		}
		if f := inLine(text[begin:end]); f.What != "" {
			f.Offset += begin
			return f, true
		}
		from = suspect(text, end)
	}
	return Find{}, false
}

// suspect returns the offset of the next bytes, from an offset on, with which UTF-8 begins a character that inLine
// reports, the length of the text if there are none. Nearly all texts have none, so inLine reads few lines.
func suspect(s string, from int) int {
	for i := from; i < len(s); i++ {
		for len(s)-i > 8 && isPlain(s[i:i+8]) {
			i += 8
		}
		if s[i] < 0xe2 || len(s)-i < 3 {
			continue
		}
		switch a, b := s[i+1], s[i+2]; s[i] {
		case 0xe2: // U+200B to U+200D, U+202A to U+202E, U+2060 to U+2069
			if a == 0x80 && (b >= 0x8b && b <= 0x8d || b >= 0xaa && b <= 0xae) || a == 0x81 && b >= 0xa0 && b <= 0xa9 {
				return i
			}
		case 0xef: // U+FE00 to U+FE0F, U+FEFF
			if a == 0xb8 && b <= 0x8f || a == 0xbb && b == 0xbf {
				return i
			}
		case 0xf3: // U+E0000 to U+E0FFF
			if a == 0xa0 {
				return i
			}
		}
	}
	return len(s)
}

// isPlain reports whether the first eight bytes of a text are ASCII. The compiler reads them at once.
func isPlain(s string) bool {
	_ = s[7]
	low := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	high := uint32(s[4]) | uint32(s[5])<<8 | uint32(s[6])<<16 | uint32(s[7])<<24
	return (low|high)&0x80808080 == 0
}

// maxDecoded is how much of a hidden text a message shows, in bytes.
const maxDecoded = 100

// inLine returns the first hidden text in a line, the zero Find for none.
func inLine(line string) Find {
	run := 0
	for i, r := range line {
		switch {
		case r < utf8.RuneSelf:
		case isTag(r) && !inFlag(line, i):
			return Find{i, "tag characters", fmt.Sprintf("invisible letters that say %q", begin(Says(line[i:])))}
		case r >= 0xe0100 && r <= 0xe01ef:
			if says := Says(line[i:]); says != "" {
				return Find{i, "variation selectors", fmt.Sprintf("invisible characters that say %q", begin(says))}
			}
			return Find{i, "variation selectors", fmt.Sprintf("the invisible character %U, which can carry text", r)}
		case (r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) && !strings.ContainsFunc(line, rightToLeft):
			return Find{i, "reordered text", fmt.Sprintf("the character %U, which changes the order in which text is shown", r)}
		}
		if run++; !isInvisible(r) {
			run = 0
		}
		if run == 3 { // an emoji has two at most
			if says := Says(line); says != "" {
				return Find{i, "invisible characters", fmt.Sprintf("invisible characters that say %q", begin(says))}
			}
			return Find{i, "invisible characters", "invisible characters in a row, which can carry text"}
		}
	}
	return Find{}
}

// isInvisible reports whether a character is a variation selector of emoji, or has no width.
func isInvisible(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff
}

// Says returns what the invisible characters of a text say: tags and variation selectors, each of which stands for a byte, and rows of
// two characters without width, each of which stands for a bit; also what is shown from right to left, as it is read. "" if they say
// nothing.
func Says(text string) string {
	var out, row strings.Builder
	least := 3
	flush := func() {
		if s := row.String(); len(s) >= least && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			out.WriteString(s)
			out.WriteByte('\n')
		}
		row.Reset()
		least = 3
	}
	for from := suspect(text, 0); from < len(text); {
		r, size := utf8.DecodeRuneInString(text[from:])
		at := from
		from += size
		switch {
		case isTag(r) && inFlag(text, at):
		case isTag(r):
			least = 1
			if c := r - 0xe0000; c >= ' ' && c < 0x7f || c == '\n' {
				row.WriteByte(byte(c))
			}
		case r == 0x202e:
			turned, _, _ := strings.Cut(text[from:], "\n")
			turned, _, _ = strings.Cut(turned, "\u202c")
			shown := []rune(turned)
			slices.Reverse(shown)
			row.WriteString(string(shown))
			flush()
			from = suspect(text, from)
		case r >= 0xfe00 && r <= 0xfe0f:
			row.WriteByte(byte(r - 0xfe00))
		case r >= 0xe0100 && r <= 0xe01ef:
			row.WriteByte(byte(r - 0xe0100 + 16))
		default:
			flush()
			from = suspect(text, from)
		}
	}
	flush()
	return out.String() + bits(text)
}

// bits returns what rows of two characters without width say, eight of which stand for a byte.
func bits(text string) string {
	var kinds []rune // the two
	var row []byte
	for _, r := range text[min(len(text), suspect(text, 0)):] {
		if !isInvisible(r) || r >= 0xfe00 && r <= 0xfe0f {
			continue
		}
		i := slices.Index(kinds, r)
		if i < 0 && len(kinds) < 2 {
			i, kinds = len(kinds), append(kinds, r)
		}
		if i >= 0 {
			row = append(row, byte(i))
		}
	}
	for _, one := range []byte{0, 1} {
		var b strings.Builder
		for i := 0; i+8 <= len(row); i += 8 {
			c := byte(0)
			for _, bit := range row[i : i+8] {
				c = c<<1 | bit ^ one
			}
			b.WriteByte(c)
		}
		if s := b.String(); len(s) > 2 && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
			return s
		}
	}
	return ""
}

// begin returns the beginning of a hidden text, on one line.
func begin(says string) string {
	says, _, _ = strings.Cut(says, "\n")
	return strings.ToValidUTF8(says[:min(len(says), maxDecoded)], "")
}

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// inFlag reports whether the tag at an offset is part of the flag of a region: a black flag, a few tags, and the tag that
// ends it.
func inFlag(line string, at int) bool {
	before := strings.TrimRightFunc(line[max(0, at-maxFlag):at], isTag)
	run := line[at-min(at, maxFlag)+len(before):]
	end := strings.IndexRune(run, 0xe007f)
	return strings.HasSuffix(before, "\U0001f3f4") && end >= 0 && end < maxFlag && strings.TrimLeftFunc(run[:end], isTag) == ""
}

// maxFlag is the most bytes of a flag after the black flag, and of that flag itself.
const maxFlag = 7 * 4

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
}
