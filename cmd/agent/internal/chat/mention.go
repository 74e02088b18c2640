package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mention is a word of a prompt that names something after an @: a file, or a resource of a server.
type Mention struct {
	Name   string // without the @ and quotes
	Quoted bool   // it is written as @"NAME", and can have spaces
}

// Mentions returns the words of a prompt that begin with an @, in their order. An @ in a word, as in an address, begins none.
func Mentions(text string) []Mention {
	var out []Mention
	for i := 0; i < len(text); {
		m, end, ok := mentionAt(text, i)
		if ok && m.Name != "" {
			out = append(out, m)
		}
		i = max(end, i+1)
	}
	return out
}

// mentionAt returns the mention that begins at i, and where it ends.
func mentionAt(text string, i int) (m Mention, end int, ok bool) {
	if text[i] != '@' || !mayBegin(text[:i]) {
		return m, i, false
	}
	rest := text[i+1:]
	if quoted, found := strings.CutPrefix(rest, `"`); found {
		name, _, closed := strings.Cut(quoted, `"`)
		if closed && printable(name) {
			return Mention{name, true}, i + len(`@""`) + len(name), true
		}
	}
	n := strings.IndexFunc(rest, unicode.IsSpace)
	if n < 0 {
		n = len(rest)
	}
	if name := rest[:n]; printable(name) {
		return Mention{Name: name}, i + 1 + n, true
	}
	return m, i + 1 + n, false
}

func printable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// mayBegin reports whether a mention may follow a text: at its beginning, after a space, an opening bracket or quote, and after letters of
// languages that are written without spaces.
func mayBegin(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || unicode.IsSpace(r) || strings.ContainsRune(`([{<"'`, r) || eastern(r)
}

// eastern reports whether a letter or a mark is one of the wide ones of East Asia.
func eastern(r rune) bool { return r >= 0x2E80 && r != utf8.RuneError }

// Names returns what a mention can mean, the most likely first: marks that end a sentence, and words of another script that follow without
// a space, may not belong to the name.
func (m Mention) Names() []string {
	if m.Quoted {
		return []string{m.Name}
	}
	short := func(name string) string { return strings.TrimRight(name, `.,;:!?)]}>"'`) }
	names := []string{m.Name, short(m.Name)}
	if i := strings.IndexFunc(m.Name, eastern); i > 0 {
		names = append(names, m.Name[:i], short(m.Name[:i]))
	}
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// mention returns a name as a prompt mentions it, false if no mention has it.
func mention(name string) (string, bool) {
	for _, text := range []string{"@" + name, `@"` + name + `"`} {
		if m, end, ok := mentionAt(text, 0); ok && end == len(text) && name != "" && m.Name == name && (m.Quoted || !strings.HasPrefix(name, `"`)) {
			return text, true
		}
	}
	return "", false
}

// openMention returns the mention that is being typed at the end of a text: where it begins, and its name so far.
func openMention(text string) (from int, name string, ok bool) {
	for i := 0; i < len(text); {
		_, end, ok := mentionAt(text, i)
		rest, quoted := strings.CutPrefix(text[i:], `@"`)
		switch {
		case ok && end == len(text) && !strings.HasPrefix(text[i:], `@"`):
			return i, text[i+1:], true
		case quoted && mayBegin(text[:i]) && !strings.Contains(rest, `"`) && printable(rest):
			return i, rest, true
		}
		i = max(end, i+1)
	}
	return 0, "", false
}
