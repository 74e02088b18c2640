package chat

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestFlow(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"one line", []string{"hel", "lo"}, []string{"hello"}},
		{"lines", []string{"one\ntwo", "\nthree\n"}, []string{"one", "two", "three"}},
		{"empty lines at both ends", []string{"\n\none\n", "\n\ntwo\n\n\n"}, []string{"one", "", "", "two"}},
		{"line end in two pieces", []string{"one\r", "\ntwo"}, []string{"one", "two"}},
		{"wrapped", []string{"one two th", "ree four five"}, []string{"one two", "three four", "five"}},
		{"word grows over the edge", []string{"one two thr", "eeeeeeee"}, []string{"one two", "threeeeeee", "e"}},
		{"half a character", []string{"caf\xc3", "\xa9"}, []string{"café"}},
		{"mark in its own piece", []string{"cafe", "\u0301"}, []string{"cafe\u0301"}},
		{"escape sequence", []string{"\x1b", "[31m"}, []string{`\x1b[31m`}},
		{"bidi", []string{"a\u202eb"}, []string{`a\u{202e}b`}},
		{"tab", []string{"\tx"}, []string{"        x"}}, // issue 9 P15: as far as the next tab stop
		{"tab after text", []string{"ab", "\tx"}, []string{"ab      x"}},
		{"tab after a wide character", []string{"漢\tx"}, []string{"漢      x"}},
		{"joined letters", []string{"می", "\u200c", "خ"}, []string{"می\u200cخ"}}, // issue 9 P4
		{"joined emoji", []string{"👩\u200d", "💻 x"}, []string{"👩\u200d💻 x"}},
		{"joiner of nothing", []string{"a\u200d", "b"}, []string{`a\u{200d}b`}},
		{"the mark of questions", []string{"┇ x"}, []string{`\u{2507} x`}}, // issue 9 D1
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := flowed(tt.pieces, 10); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func flowed(pieces []string, width int) []string {
	var f flow
	var rows []row
	for _, p := range pieces {
		rows = append(rows, f.add(p, width)...)
	}
	rows = append(rows, f.end(width)...)
	var texts []string
	for _, r := range rows {
		texts = append(texts, r.text)
	}
	return texts
}

// A text comes out the same in whatever pieces it arrives, and nothing of it reaches the terminal that it would obey.
func FuzzFlow(f *testing.F) {
	f.Add("hello there\r\n\n漢字 👍🏽\x1b[2J", uint8(3), 9)
	f.Add("e\u0301\u0301\u0301\u0301\u0301\u0301", uint8(1), 5)
	f.Add("a\tb\t\tcc\n\t漢\t👩\u200d💻\u200d", uint8(2), 20)
	f.Fuzz(func(t *testing.T, text string, size uint8, width int) {
		if width < 2 || width > 200 || size == 0 {
			return
		}
		var pieces []string
		marks := 0
		for rest := text; rest != ""; {
			n := min(int(size), len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		for _, r := range text {
			if unicode.Is(unicode.M, r) || r == unicode.ReplacementChar || joiner(r) {
				marks++
			}
		}
		got, want := flowed(pieces, width), flowed([]string{text}, width)
		if marks < maxHeld/4 && !slices.Equal(got, want) {
			t.Errorf("in pieces %q, whole %q", got, want)
		}
		for _, r := range strings.Join(got, "") {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q reaches the terminal in %q", r, got)
			}
		}
	})
}
