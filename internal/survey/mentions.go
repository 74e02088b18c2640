package survey

import (
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// mentions are the scripts that SKILL.md speaks of, by their files.
type mentions struct {
	named map[string]bool // by a path
	run   map[string]bool // in a command line
}

// mentioned reads the body of SKILL.md, once.
func (s *Set) mentioned() *mentions {
	if s.said != nil {
		return s.said
	}
	s.said = &mentions{named: map[string]bool{}, run: map[string]bool{}}
	interpreted, goesOn := false, false
	for line := range strings.Lines(s.m.Body) {
		line = strings.TrimRight(line, " \r\n")
		if !goesOn && !strings.HasSuffix(line, "\\") && !hasPath(line) {
			continue
		}
		quoted := strings.Contains(line, "`")
		for i, command := range commands(line) {
			words := strings.FieldsFunc(command, endsWord)
			interpreted = interpreted && i == 0 && goesOn
			for k, word := range words {
				word = slashed(word)
				file := s.means(word)
				if file == "" {
					interpreted = interpreted || isInterpreter(word)
					continue
				}
				s.said.named[file] = true
				if interpreted || k == 0 && isCommand(word) && (!quoted && i == 0 || quoted && len(words) > 1) {
					s.said.run[file] = true
				}
			}
		}
		goesOn = strings.HasSuffix(line, "\\")
	}
	return s.said
}

// commands splits a line where a command can begin or end.
func commands(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		switch r {
		case '`', ';', '|', '&', '(', ')':
			return true
		}
		return false
	})
}

func endsWord(r rune) bool {
	switch r {
	case '"', '\'', '[', ']', ',', '=', '*', ':':
		return true
	}
	return r <= ' '
}

// hasPath reports whether a text can have a path: a slash, or a full stop within a word.
func hasPath(text string) bool {
	for i := range len(text) {
		if text[i] == '/' || text[i] == '.' && i+1 < len(text) && text[i+1] > ' ' {
			return true
		}
	}
	return false
}

// isCommand reports whether a path starts a file where it stands: a shell needs a folder before its name.
func isCommand(word string) bool {
	at, _, below := strings.Cut(word, "/")
	return below && (at == "." || at == "~" || at == "" || isPlaceholder(at))
}

// isInterpreter reports whether a word of a command line runs the file that follows.
func isInterpreter(word string) bool {
	name := word[strings.LastIndexByte(word, '/')+1:]
	return language.Starts(name) || name == "source"
}

// means returns the file of the script that a word of a text names by its path, or "". Nothing is guessed from a part of
// a path, and a word without a full stop or a slash is just a word.
func (s *Set) means(word string) string {
	word = strings.TrimLeft(strings.TrimRight(word, ".,:!?"), "/")
	if !hasPath(word) || len(s.bases[Fold(word[strings.LastIndexByte(word, '/')+1:])]) == 0 {
		return ""
	}
	for _, t := range targets(word, s.m) {
		p := Fold(t.path)
		at := first(s.whole(Dir+"/"+p), s.whole(p))
		if t.rooted || strings.Contains(p, "/") {
			at = first(s.whole(p), s.whole(Dir+"/"+p))
		}
		if len(at) > 0 {
			return s.files[at[0]]
		}
	}
	return ""
}
