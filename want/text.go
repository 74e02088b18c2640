package want

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// String returns the text form of a want: "env:GITHUB_TOKEN", "home", and with who named it "declared host:api.example.com". Parse reads
// it back.
func (w Want) String() string {
	text := string(w.Kind)
	if w.Name != "" {
		text += ":" + w.Name
	}
	if w.From != "" {
		text = string(w.From) + " " + text
	}
	return text
}

// Parse reads the text form of a want. Its errors are those of Check, or say that it is not the form.
func Parse(text string) (Want, error) {
	w := Want{}
	if origin, rest, ok := strings.Cut(text, " "); ok && slices.Contains(origins, Origin(origin)) {
		w.From, text = Origin(origin), rest
	}
	kind, name, _ := strings.Cut(text, ":")
	w.Kind, w.Name = Kind(kind), name
	if text != kind && name == "" {
		return Want{}, fmt.Errorf("%q has a colon and no name", text)
	}
	if err := w.Check(); err != nil {
		return Want{}, err
	}
	return w, nil
}

// MarshalText returns the text form.
func (w Want) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads the text form.
func (w *Want) UnmarshalText(text []byte) error {
	read, err := Parse(string(text))
	if err == nil {
		*w = read
	}
	return err
}

// String returns the text form of a set: its wants in one line, separated by commas. A text with a comma, a quote, or a character
// that is not shown is quoted as in Go. ParseSet reads it back.
func (s Set) String() string {
	var out []string
	for _, w := range New(s...) {
		text := w.String()
		if strings.ContainsAny(text, `,"`) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.TrimSpace(text) != text {
			text = strconv.Quote(text)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// mostWants bounds what ParseSet reads.
const mostWants = 10_000

// ParseSet reads the text form of a set.
func ParseSet(text string) (Set, error) {
	var out Set
	for rest := strings.TrimSpace(text); rest != ""; {
		one, after, err := cutWant(rest)
		if err != nil {
			return nil, err
		}
		w, err := Parse(one)
		if err != nil {
			return nil, err
		}
		if out = append(out, w); len(out) > mostWants {
			return nil, fmt.Errorf("more than %d wants", mostWants)
		}
		rest = strings.TrimSpace(after)
	}
	return New(out...), nil
}

// cutWant returns the text of the first want of a set, and what stands after the comma that ends it.
func cutWant(text string) (one, after string, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		one, after, _ = strings.Cut(text, ",")
		return strings.TrimSpace(one), after, nil
	}
	if one, err = strconv.Unquote(quoted); err != nil {
		return "", "", err
	}
	after, comma := strings.CutPrefix(strings.TrimSpace(text[len(quoted):]), ",")
	if !comma && after != "" {
		return "", "", fmt.Errorf("%q is not followed by a comma", one)
	}
	return one, after, nil
}
