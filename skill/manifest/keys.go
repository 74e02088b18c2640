package manifest

import "strings"

// Key is what is known about a key of front matter besides its value.
type Key struct {
	Name   string // as it is usually written
	People bool   // it only tells people something: a program that ignores it does nothing else

	// Lost says what is lost where a program, which stands for %s, does not act on the key. It is "" if nobody relies on it.
	Lost string
}

// FindKey returns the key of the front matter that a text is, in any case and with "_" for "-", and whether there is one. Keys below
// others are not found.
func FindKey(text string) (Key, bool) {
	f := findField(text)
	if f == nil {
		return Key{}, false
	}
	return Key{Name: f.key, People: f.people || f.label != "", Lost: f.lost}, true
}

// Fact is a text of a manifest that tells people something and that nothing acts on.
type Fact struct {
	Key   string `json:"key"`
	Label string `json:"-"` // what people are told that it is
	Text  string `json:"text"`
}

// Facts returns the facts that a manifest has, as they are shown to people.
func (m *Manifest) Facts() []Fact {
	var out []Fact
	for _, f := range fields {
		if f.label == "" {
			continue
		}
		text := ""
		if f.text != nil {
			text = *f.text(m)
		} else {
			text = m.said(f.key)
		}
		if text != "" {
			out = append(out, Fact{Key: f.key, Label: f.label, Text: text})
		}
	}
	return out
}

// said returns the text of a key that has no member of its own.
func (m *Manifest) said(key string) string {
	for i := len(m.Fields) - 1; i >= 0; i-- {
		if f := &m.Fields[i]; foldedKey(key, f.Key) && f.Standing != StandingRejected {
			return strings.TrimSpace(f.Value)
		}
	}
	return ""
}
