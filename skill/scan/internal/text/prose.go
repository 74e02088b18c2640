package text

import (
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// prose returns what a program says to its reader, with all else blank: its comments and its texts of several lines, and apart from them
// its other texts, which need not be for anybody.
func prose(text string, s *language.Syntax) (told, other string) {
	p := &masker{text: text, told: blank(text), other: blank(text)}
	for p.at < len(text) {
		rest := text[p.at:]
		switch c := rest[0]; {
		case s.Triple && (strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''")):
			p.copy(p.told, 3, strings.Index(rest[3:], rest[:3]))
		case s.Block[0] != "" && strings.HasPrefix(rest, s.Block[0]):
			n := len(s.Block[0])
			p.copy(p.told, n, strings.Index(rest[n:], s.Block[1]))
		case p.comment(rest, s.Line):
			p.copy(p.told, 1, strings.IndexByte(rest[1:], '\n'))
		case strings.IndexByte(s.Quotes, c) >= 0:
			p.quoted(rest)
		default:
			p.at++
		}
	}
	return string(p.told), string(p.other)
}

type masker struct {
	text        string
	at          int
	told, other []byte
}

func blank(text string) []byte {
	out := make([]byte, len(text))
	for i := range out {
		if out[i] = ' '; text[i] == '\n' {
			out[i] = '\n'
		}
	}
	return out
}

func (p *masker) comment(rest string, marks []string) bool {
	for _, m := range marks {
		if strings.HasPrefix(rest, m) && (m != "#" || p.at == 0 || isSpace(p.text[p.at-1])) {
			return true
		}
	}
	return false
}

// copy copies what stands after a mark of some bytes, up to its end; without an end (-1) all of it.
func (p *masker) copy(to []byte, mark, length int) {
	begin := p.at + mark
	end := begin + length
	if length < 0 {
		end = len(p.text)
	}
	copy(to[begin:end], p.text[begin:end])
	breaks(to[begin:end])
	p.at = min(end+mark, len(p.text))
	if mark == 1 {
		p.at = end // the line ends there
	}
}

// quoted reads a text between quotes.
func (p *masker) quoted(rest string) {
	end := 1
	for end < len(rest) && rest[end] != rest[0] && (rest[end] != '\n' || rest[0] == '`') {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(rest))
	to := p.other
	if strings.Contains(rest[:end], "\n") {
		to = p.told
	}
	p.copy(to, 1, end-1)
	p.at = min(p.at+1, len(p.text))
}

// breaks makes lines of what is written as \n in a text.
func breaks(text []byte) {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if c := text[i+1]; c == 'n' || c == 't' || c == 'r' {
				text[i], text[i+1] = ' ', '\n'
				if c != 'n' {
					text[i+1] = ' '
				}
			}
			i++
		}
	}
}
