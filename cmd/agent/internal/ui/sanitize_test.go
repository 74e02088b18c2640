package ui_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Issue 9 P4, D1 and security 2.14 #184.
func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Creates PDF files.", "Creates PDF files."},
		{"languages", "Résumé — 日本語 हिन्दी ไทย", "Résumé — 日本語 हिन्दी ไทย"},
		{"emoji form", "⚠️ careful", "⚠️ careful"},
		{"clipboard", "\x1b]52;c;cm0gLXJm\x07", `\x1b]52;c;cm0gLXJm\x07`},
		{"link", "\x1b]8;;https://evil.example\x1b\\ok\x1b]8;;\x1b\\", `\x1b]8;;https://evil.example\x1b\ok\x1b]8;;\x1b\`},
		{"title", "\x1b]0;root\x07", `\x1b]0;root\x07`},
		{"cursor", "\x1b[2A\x1b[2K", `\x1b[2A\x1b[2K`},
		{"report", "\x1bP$qm\x1b\\", `\x1bP$qm\x1b\`},
		{"eight-bit sequence", "a\u009b2J", `a\u{9b}2J`},
		{"raw eight-bit byte", "a\x9b2J", `a\x9b2J`},
		{"overwrite", "delete all? \rkeep all?", `delete all? \x0dkeep all?`},
		{"line ends", "one\ntwo\r\nthree\tfour", "one two three four"},
		{"NUL and delete", "a\x00b\x7f", `a\x00b\x7f`},
		{"bidi", "safe\u202egpj.exe", `safe\u{202e}gpj.exe`},
		{"isolate", "a\u2066b\u2069", `a\u{2066}b\u{2069}`},
		{"zero width", "pay\u200bpal\ufeff", `pay\u{200b}pal\u{feff}`},
		{"tags", "hi\U000e0041\U000e007f", `hi\u{e0041}\u{e007f}`},
		{"hidden selectors", "x\ufe01\U000e0100", `x\u{fe01}\u{e0100}`},
		{"filler", "a\u3164b\u2800", `a\u{3164}b\u{2800}`},
		{"separators", "a\u2028b\u2029c\u0085d", `a\u{2028}b\u{2029}c\u{85}d`},
		{"odd spaces", "a\u00a0b\u3000c", "a b c"},
		{"joiners", "می\u200cخواهم 👩\u200d💻", `می\u{200c}خواهم 👩\u{200d}💻`},
		{"the mark of questions", "┇ Run? ┋┊ │┃", `\u{2507} Run? \u{250b}\u{250a} │┃`},
		{"private use", "\ue0b0", `\u{e0b0}`},
		{"not UTF-8", "a\xffb", `a\xffb`},
		{"marks", "e\u0301" + strings.Repeat("\u0335", 5), "e\u0301\u0335\u0335\u0335" + `\u{335}\u{335}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ui.Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	got := ui.Text("a\r\n\tb\x1b[1m\rc\n")
	if want := "a\n\tb\\x1b[1m\\x0dc\n"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// Issue 9 P4: joiners stay where writing needs them, and nowhere else.
func TestProse(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Persian with a vowel sign", "مَ\u200cن", "مَ\u200cن"},
		{"Hindi", "क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"},
		{"Bengali, before a virama", "র\u200d\u09cdয", "র\u200d\u09cdয"},
		{"family", "👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
		{"skin tone", "👩🏽\u200d💻", "👩🏽\u200d💻"},
		{"emoji form", "❤️\u200d🔥", "❤️\u200d🔥"},
		{"arrow", "🙂\u200d↔️", "🙂\u200d↔️"},
		{"Latin", "pay\u200dpal", `pay\u{200d}pal`},
		{"two", "می\u200c\u200cخ", `می\u{200c}\u{200c}خ`},
		{"at the ends", "\u200dم\u200d", `\u{200d}م\u{200d}`},
		{"mixed", "م\u200da", `م\u{200d}a`},
		{"other invisible characters", "م\u200bن\u202e", `م\u{200b}ن\u{202e}`},
		{"marks", "م" + strings.Repeat("\u064b", 4) + "\u200c" + "\u064b", "م" + strings.Repeat("\u064b", 4) + `\u{200c}\u{64b}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ui.Prose(tt.in); got != tt.want {
				t.Errorf("Prose(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// Issue 9 P15: a tab leads to the tab stop.
func TestUntab(t *testing.T) {
	tests := []struct {
		in   string
		from int
		want string
		end  int
	}{
		{"\tx", 0, "        x", 9},
		{"ab\tx", 0, "ab      x", 9},
		{"漢字\tx", 0, "漢字    x", 9},
		{"\tx\t\ty", 6, "  x               y", 25},
		{"none", 3, "none", 7},
	}
	for _, tt := range tests {
		if got, end := ui.Untab(tt.in, tt.from); got != tt.want || end != tt.end {
			t.Errorf("Untab(%q, %d) = %q, %d, want %q, %d", tt.in, tt.from, got, end, tt.want, tt.end)
		}
	}
}

// security 2.14 #184: a space in a command is a space.
func TestExact(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"ls -l", "ls -l"},
		{"./run\u00a0tests", `./run\u{a0}tests`},
		{"a\u2003b\u3000c\u202fd", `a\u{2003}b\u{3000}c\u{202f}d`},
		{"cat <<E\n\tx\r\nE\r", "cat <<E\n" + `\tx\x0d` + "\nE" + `\x0d`},
		{"é\xff\x1b\u202e", "é\xff\x1b\u202e"},
		{`printf 'a\tb'`, `printf 'a\\tb'`},
		{`\` + "\t", `\\\t`},
	} {
		if got := ui.Exact(tt.in); got != tt.want {
			t.Errorf("Exact(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		name, in string
		width    int
		want     string
	}{
		{"fits", "abcdef", 6, "abcdef"},
		{"cut", "abcdefgh", 6, "abcde…"},
		{"no width", "abcdefgh", 0, "abcdefgh"},
		{"narrow", "abcdefgh", 2, "a…"},
		{"wide letters", "日本語日本語", 7, "日本語…"},
		{"escapes count", "\x1b\x1b\x1b", 8, `\x1b\x1…`},
		{"long", strings.Repeat("x", 10_240), 10, "xxxxxxxxx…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ui.Truncate(tt.in, tt.width)
			if got != tt.want {
				t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
			}
		})
	}
}

// Whatever goes in, nothing comes out that a terminal obeys or that a person does not see; security 2.14 #184.
func FuzzText(f *testing.F) {
	f.Add("plain", 10)
	f.Add("┇ Run this? [y/N] y\nmore\r\n┇", 20)
	f.Add("a\x1b[31m\u202e\u200d\U000e0041\xff\r\n\t\u0301\u0301\u0301\u0301\u0301", 5)
	f.Fuzz(func(t *testing.T, in string, width int) {
		text, line := ui.Text(in), ui.Line(in)
		for _, out := range []string{strings.NewReplacer("\n", "x", "\t", "x").Replace(text), line} {
			if !utf8.ValidString(out) {
				t.Fatalf("%q: not UTF-8: %q", in, out)
			}
			for _, r := range out {
				if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
					t.Fatalf("%q: %U in %q", in, r, out)
				}
			}
			if again := ui.Line(out); again != out {
				t.Fatalf("%q: not stable: %q, then %q", in, out, again)
			}
		}
		for _, r := range ui.Prose(in) {
			if r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q: %U in %q", in, r, ui.Prose(in))
			}
		}
		for _, row := range ui.Framed([]string{in}, width) {
			if !strings.HasPrefix(row, ui.Mark) || strings.Count(row, ui.Mark) != 1 || width > 7 && ui.Width(row) >= width {
				t.Fatalf("Framed(%q, %d): %q", in, width, row)
			}
		}
		if short := ui.Truncate(in, width); width > 0 && ui.Width(short) > width {
			t.Fatalf("Truncate(%q, %d) = %q: %d columns", in, width, short, ui.Width(short))
		}
	})
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		want, end  string
	}{
		{"fits", "hello", 5, "hello", "hello"},
		{"too long", "hello", 4, "hel…", "…llo"},
		{"at a wide character", "漢字かな", 4, "漢…", "…な"},
		{"one column", "hello", 1, "…", "…"},
		{"no column", "hello", 0, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, end := ui.Cut(tt.text, tt.width), ui.CutFront(tt.text, tt.width); got != tt.want || end != tt.end {
				t.Errorf("got %q and %q, want %q and %q", got, end, tt.want, tt.end)
			}
		})
	}
}
