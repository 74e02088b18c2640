package chat

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

const (
	mostPasted = 8 << 10 // bytes of a paste that may be paths
	mostDrops  = 20
)

// drop makes the paths of images and documents that were pasted, or dropped on the terminal, attachments: the input shows a mark for each, and
// what is sent mentions the file. It reports false if the paste is anything else.
func (s *state) drop(text string) bool {
	if s.o.Dropped == nil || len(text) > mostPasted {
		return false
	}
	for _, paths := range pathsIn(text) {
		marks, ok := s.dropAll(paths)
		if ok {
			if before := s.input.text[:s.input.at]; !mayBegin(before) {
				marks = " " + marks
			}
			s.insert(marks)
			return true
		}
	}
	return false
}

// dropAll returns the marks of paths, if each names an image or a document.
func (s *state) dropAll(paths []string) (marks string, ok bool) {
	before := len(s.pastes)
	for _, path := range paths {
		d, ok := s.o.Dropped(path)
		if !ok || !printable(d.Path) || strings.Contains(d.Path, `"`) {
			s.pastes = s.pastes[:before]
			return "", false
		}
		begin := "[" + d.Kind + " #"
		mark := fmt.Sprintf("%s%d %s %s]", begin, s.numbered(begin)+1, ui.Line(filepath.Base(d.Path)), d.Size)
		s.pastes = append(s.pastes, [2]string{mark, `@"` + d.Path + `"`})
		marks += mark + " "
	}
	return marks, len(paths) > 0
}

// dropBack removes the mark of an attachment before the cursor. It reports whether there is one.
func (s *state) dropBack() bool {
	before := s.input.text[:s.input.at]
	for i, p := range slices.Backward(s.pastes) {
		for _, end := range []string{p[0], p[0] + " "} {
			if strings.HasPrefix(p[1], `@"`) && strings.HasSuffix(before, end) {
				s.input.remove(s.input.at - len(end))
				if i == len(s.pastes)-1 { // the next one has its number
					s.pastes = s.pastes[:i]
				}
				return true
			}
		}
	}
	return false
}

// pathsIn returns the paths that a pasted text may be, in the ways in which terminals paste files that are dropped on them: one as it is, or
// several with spaces between them, in quotes, with backslashes, or as URLs.
func pathsIn(text string) [][]string {
	text = strings.TrimSpace(text)
	if text == "" || !printable(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)) {
		return nil
	}
	out := [][]string{{pathOf(text)}}
	if words, ok := SplitWords(text, '\\'); ok && len(words) <= mostDrops {
		for i := range words {
			words[i] = pathOf(words[i])
		}
		out = append(out, words)
	}
	return out
}

// SplitWords splits a text into words. Quotes, single or double, hold a word together, and escape, outside single ones, takes the character after
// it as it is; 0 is none. It reports false for a quote that is not closed.
func SplitWords(text string, escape rune) (words []string, ok bool) {
	var word strings.Builder
	quote, escaped, in := rune(0), false, false
	for _, r := range text + " " {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case escape != 0 && r == escape && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && unicode.IsSpace(r):
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	return words, quote == 0 && !escaped
}

// pathOf returns the path of a file URL, and another text as it is.
func pathOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		return u.Path
	}
	return text
}
