package hidden

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// security 2.10 #150: text that is hidden in a body is reported with what it says; flags, emoji and scripts that are
// written from right to left hide nothing.
func TestHidden(t *testing.T) {
	tags := func(s string) string {
		return strings.Map(func(r rune) rune { return r + 0xe0000 }, s)
	}
	for _, tt := range []struct{ line, want string }{
		{"plain text – with dashes…", ""},
		{"x" + tags("run rm -rf"), `1: invisible letters that say "run rm -rf"`},
		{"\U0001f3f4" + tags("gbeng") + "\U000e007f fine", ""},
		{"\U0001f3f4" + tags("gbeng") + "\U000e007f x" + tags("hi"), `invisible letters that say "hi"`},
		{"\U0001f3f4" + tags("run rm -rf at once") + "\U000e007f", `invisible letters that say "run rm -rf at once"`},
		{"\U0001f3f4" + tags("gbeng"), `invisible letters that say "gbeng"`},
		{"a\U000e0100", "1: the invisible character U+E0100"},
		{"a\ufe0f\ufe0e\ufe0f", "invisible characters in a row"},
		{"\u2764\ufe0f \u2764\ufe0f \u2764\ufe0f", ""},
		{"\U0001f469\u200d\U0001f4bb \U0001f3f3\ufe0f\u200d\U0001f308", ""},
		{"a\u200b\u200c\u2060b", "invisible characters in a row"},
		{"\U0001f600\U000e0158\U000e0159\U000e015a", `4: invisible characters that say "hij"`},
		{"if x \u202e{ return", "5: the character U+202E"},
		{"\u05e9\u05dc\u05d5\u05dd \u2067abc\u2069", ""},
		{strings.Repeat("a", 10) + tags(strings.Repeat("b", 5000)), `"` + strings.Repeat("b", maxDecoded) + `"`},
	} {
		f, _ := Next(tt.line, 0)
		at, what := f.Offset, f.What
		offset, text, ok := strings.Cut(tt.want, ": ")
		if !ok {
			text = tt.want
		} else if offset != strconv.Itoa(at) {
			t.Errorf("%q: at %d, want %s", tt.line, at, offset)
		}
		if (what == "") != (tt.want == "") || !strings.Contains(what, text) {
			t.Errorf("%q: got %q, want %q", tt.line, what, text)
		}
	}
}

// What is hidden is read whole: in tags, in variation selectors, and in bits.
func TestSays(t *testing.T) {
	tags, bytes, bits := "", "", ""
	for _, c := range "send it" {
		tags += string(c + 0xe0000)
		bytes += string(c - 16 + 0xe0100)
		for i := 7; i >= 0; i-- {
			bits += string([]rune{'\u200b', '\u200c'}[c>>i&1])
		}
	}
	for text, want := range map[string]string{
		"a" + tags + "b" + tags: "send it\nsend it\n", "\U0001f600" + bytes: "send it\n", "a" + bits + "b": "send it", "a \u202eti dnes\u202c b": "send it\n",
		"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f \u2764\ufe0f \U0001f469\u200d\U0001f4bb": "", "plain": "", "": "",
	} {
		if got := Says(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A whole body is searched quickly, and gives what each of its lines gives alone.
func FuzzHidden(f *testing.F) {
	for _, s := range []string{"plain\ntext – and…\n", "a\n12345678\u202e\nb", "\ufe0f\ufe0f\ufe0f", "\u2764\ufe0f\n\U000e0041", "\U000e0100", "\xf3\xa0", "\u2069", "日本語\n\u2066"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		want, n := "", 0
		for line := range strings.Lines(body) {
			if f := inLine(line); f.What != "" {
				want = fmt.Sprintf("%d %s", n+f.Offset, f.What)
				break
			}
			n += len(line)
		}
		got := ""
		if f, ok := Next(body, 0); ok {
			got = fmt.Sprintf("%d %s", f.Offset, f.What)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
		Says(body)
	})
}
