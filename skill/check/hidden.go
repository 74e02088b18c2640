package check

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill/manifest"
)

// checkHidden reports the first text of the body that a model reads and a person does not see, with what it says.
func (v *validation) checkHidden() {
	body := v.m.Body
	for from := suspect(body, 0); from < len(body); {
		begin, end := strings.LastIndexByte(body[:from], '\n')+1, len(body)
		if n := strings.IndexByte(body[from:], '\n'); n >= 0 {
			end = from + n + 1
		}
		line := body[begin:end]
		if at, what := hidden(line); what != "" {
			n := strings.Count(body[:begin], "\n")
			v.Add(manifest.Problem{Code: "body-hidden", Line: v.m.BodyLine + n, Col: 1 + utf8.RuneCountInString(line[:at]), Message: "the body holds " + what})
			return
		}
		from = suspect(body, end)
	}
}

// suspect returns the offset of the next bytes, from an offset on, with which UTF-8 begins a character that hidden
// reports, the length of the text if there are none. Nearly all texts have none, so hidden reads few lines.
func suspect(s string, from int) int {
	for i := from; i < len(s); i++ {
		for len(s)-i > 8 && isPlain(s[i:i+8]) {
			i += 8
		}
		if s[i] < 0xe2 || len(s)-i < 3 {
			continue
		}
		switch a, b := s[i+1], s[i+2]; s[i] {
		case 0xe2: // U+202A to U+202E, U+2066 to U+2069
			if a == 0x80 && b >= 0xaa && b <= 0xae || a == 0x81 && b >= 0xa6 && b <= 0xa9 {
				return i
			}
		case 0xef: // U+FE00 to U+FE0F
			if a == 0xb8 && b <= 0x8f {
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

// hidden returns the offset of the first hidden text in a line, and what it is, or "".
func hidden(line string) (at int, what string) {
	selectors := 0
	for i, r := range line {
		switch {
		case r < utf8.RuneSelf:
		case isTag(r) && !inFlag(line, i):
			return i, fmt.Sprintf("invisible letters that say %q", decodeTags(line[i:]))
		case r >= 0xe0100 && r <= 0xe01ef:
			return i, fmt.Sprintf("the invisible character %U, which can carry text", r)
		case (r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) && !strings.ContainsFunc(line, rightToLeft):
			return i, fmt.Sprintf("the character %U, which changes the order in which text is shown", r)
		}
		if selectors++; r < 0xfe00 || r > 0xfe0f {
			selectors = 0
		}
		if selectors == 3 {
			return i, "invisible characters in a row, which can carry text"
		}
	}
	return 0, ""
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

// decodeTags returns what the tags at the beginning of a text say.
func decodeTags(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !isTag(r) || b.Len() == maxDecoded {
			break
		}
		if c := r - 0xe0000; c >= ' ' && c < 0x7f {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
}
