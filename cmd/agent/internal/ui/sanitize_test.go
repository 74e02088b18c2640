package ui_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// security 2.14 #184
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
	if want := "a\n    b\\x1b[1m\\x0dc\n"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// security 2.14 #184: a blank in a command is a blank.
func TestExact(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"ls -l", "ls -l"},
		{"./run\u00a0tests", `./run\u{a0}tests`},
		{"a\u2003b\u3000c\u202fd", `a\u{2003}b\u{3000}c\u{202f}d`},
		{"cat <<E\n\tx\r\nE\r", "cat <<E\n" + `\tx\x0d` + "\nE" + `\x0d`},
		{"é\xff\x1b\u202e", "é\xff\x1b\u202e"},
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
		{"cut", "abcdefgh", 6, "abc..."},
		{"no width", "abcdefgh", 0, "abcdefgh"},
		{"narrow", "abcdefgh", 2, ".."},
		{"wide letters", "日本語日本語", 7, "日本..."},
		{"escapes count", "\x1b\x1b\x1b", 8, `\x1b\...`},
		{"long", strings.Repeat("x", 10_240), 10, "xxxxxxx..."},
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
	f.Add("a\x1b[31m\u202e\u200d\U000e0041\xff\r\n\t\u0301\u0301\u0301\u0301\u0301", 5)
	f.Fuzz(func(t *testing.T, in string, width int) {
		text, line := ui.Text(in), ui.Line(in)
		for _, out := range []string{strings.ReplaceAll(text, "\n", ""), line} {
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
		if short := ui.Truncate(in, width); width > 0 && ui.Width(short) > width {
			t.Fatalf("Truncate(%q, %d) = %q: %d columns", in, width, short, ui.Width(short))
		}
	})
}
