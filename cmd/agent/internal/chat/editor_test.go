package chat

import (
	"strings"
	"testing"
)

// typed plays keys into an editor: words in angle brackets are keys, the rest is text.
func typed(e *editor, script string) {
	for script != "" {
		if key, rest, ok := strings.Cut(strings.TrimPrefix(script, "<"), ">"); script[0] == '<' && ok {
			if !e.key(key) {
				panic("no such key: " + key)
			}
			script = rest
			continue
		}
		e.insert(script[:1])
		script = script[1:]
	}
}

func TestEditor(t *testing.T) {
	tests := []struct {
		name, start, script, want string // | is the cursor
	}{
		{"typing", "", "abc", "abc|"},
		{"in the middle", "abc", "<left><left>x", "ax|bc"},
		{"backspace", "abc", "<backspace>", "ab|"},
		{"backspace takes a whole character", "ae\u0301", "<backspace>", "a|"},
		{"backspace takes a whole emoji", "a👍🏽", "<backspace>", "a|"},
		{"backspace joins lines", "a\nb", "<left><backspace>", "a|b"},
		{"backspace at the beginning", "a", "<home><backspace>", "|a"},
		{"delete", "abc", "<home><delete>", "|bc"},
		{"delete at the end", "abc", "<delete>", "abc|"},
		{"left over a line end", "a\nb", "<left><left>", "a|\nb"},
		{"home and end of a line", "ab\ncd", "<home>x<end>y", "ab\nxcdy|"},
		{"word left", "one two-three", "<alt+left><alt+left>", "one |two-three"},
		{"word right", "one two", "<home><alt+right>", "one| two"},
		{"delete the word before", "one two", "<ctrl+w>", "one |"},
		{"delete the word after", "one two", "<home><alt+d>", "| two"},
		{"delete to the beginning", "a\nbcd", "<left><ctrl+u>", "a\n|d"},
		{"delete to the end", "abc\nd", "<left><left><left><ctrl+k>", "ab|\nd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e editor
			e.set(tt.start)
			typed(&e, tt.script)
			if got := e.text[:e.at] + "|" + e.text[e.at:]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditorLayout(t *testing.T) {
	tests := []struct {
		name, text string
		left       int // how often the cursor goes left
		want       string
		x, y       int
	}{
		{"empty", "", 0, "", 0, 0},
		{"one row", "abc", 0, "abc", 3, 0},
		{"a full row", "abcdef", 0, "abcdef|", 0, 1},
		{"two rows", "abcdefgh", 0, "abcdef|gh", 2, 1},
		{"cursor in the first", "abcdefgh", 3, "abcdef|gh", 5, 0},
		{"lines", "ab\ncd", 0, "ab|cd", 2, 1},
		{"line end", "ab\n", 0, "ab|", 0, 1},
		{"wide", "漢字漢字", 0, "漢字漢|字", 2, 1},
		{"tab", "\tabc", 0, "    ab|c", 1, 1},
		{"escape", "\x1b[m", 0, `\x1b[m|`, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e editor
			e.set(tt.text)
			for range tt.left {
				e.key("left")
			}
			rows, x, y := e.layout(6)
			var texts []string
			for _, r := range rows {
				texts = append(texts, r.text)
			}
			if got := strings.Join(texts, "|"); got != tt.want || x != tt.x || y != tt.y {
				t.Errorf("got %q, cursor %d,%d, want %q, %d,%d", got, x, y, tt.want, tt.x, tt.y)
			}
		})
	}
}

func TestEditorVertical(t *testing.T) {
	var e editor
	e.set("one two\nx\nthree")
	steps := []struct {
		by, at int
		ok     bool
	}{{-1, 9, true}, {-1, 1, true}, {-1, 1, false}, {1, 9, true}, {1, 11, true}, {1, 11, false}}
	for i, s := range steps {
		if ok := e.vertical(s.by, 20); ok != s.ok || e.at != s.at {
			t.Errorf("step %d: cursor at %d, moved %v, want %d, %v", i, e.at, ok, s.at, s.ok)
		}
	}
}

func TestEditorLimit(t *testing.T) {
	var e editor
	if !e.insert(strings.Repeat("x", maxInput)) || e.insert("y") {
		t.Errorf("a text of %d bytes is taken, one byte more is not", maxInput)
	}
}
