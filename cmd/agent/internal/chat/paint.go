package chat

import "strings"

// paint colours text if the user wants colours; otherwise it returns the text unchanged. It uses only the sixteen colours
// of the terminal's own palette, which fit its background.
type paint bool

func (p paint) sgr(code, s string) string {
	if !p || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.sgr("1", s) }
func (p paint) dim(s string) string    { return p.sgr("2", s) }
func (p paint) red(s string) string    { return p.sgr("31", s) }
func (p paint) green(s string) string  { return p.sgr("32", s) }
func (p paint) yellow(s string) string { return p.sgr("33", s) }
func (p paint) cyan(s string) string   { return p.sgr("36", s) }

// markup follows Markdown from row to row and colours headings, **strong** text and `code`. It removes no character, so
// text copied from the screen is what the model wrote.
type markup struct {
	fence, heading, strong, code bool
}

// row colours one row.
func (m *markup) row(p paint, r row) string {
	if r.first {
		m.heading, m.strong, m.code = isHeading(r.text), false, false
		if strings.HasPrefix(strings.TrimLeft(r.text, " "), "```") {
			m.fence = !m.fence
			return p.dim(r.text)
		}
	}
	switch {
	case !bool(p) || r.text == "":
		return r.text
	case m.fence:
		return p.cyan(r.text)
	case m.heading:
		return p.bold(r.text)
	}
	return m.inline(p, r.text)
}

func (m *markup) inline(p paint, s string) string {
	var b strings.Builder
	from := 0
	put := func(to int) {
		switch part := s[from:to]; {
		case m.code:
			b.WriteString(p.cyan(part))
		case m.strong:
			b.WriteString(p.bold(part))
		default:
			b.WriteString(part)
		}
		from = to
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '`' && m.code:
			put(i + 1)
			m.code = false
		case s[i] == '`':
			put(i)
			m.code = true
		case strings.HasPrefix(s[i:], "**") && !m.code && m.strong:
			put(i + 2)
			m.strong, i = false, i+1
		case strings.HasPrefix(s[i:], "**") && !m.code:
			put(i)
			m.strong, i = true, i+1
		}
	}
	put(len(s))
	return b.String()
}

func isHeading(s string) bool {
	rest := strings.TrimLeft(s, "#")
	return len(rest) < len(s) && len(s)-len(rest) <= 6 && strings.HasPrefix(rest, " ")
}
