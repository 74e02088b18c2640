package chat

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMentions(t *testing.T) {
	tests := []struct {
		text string
		want []string // the names that each can mean, joined by " | "
	}{
		{"", nil},
		{"@", nil},
		{"no mention", nil},
		{"@a.go", []string{"a.go"}},
		{"see @a.go and @b/c.", []string{"a.go", "b/c. | b/c"}},
		{"(@a.go), '@b'", []string{"a.go), | a.go", "b' | b"}},
		{`@"a b.md" and @"c"x`, []string{"a b.md", "c"}},
		{`@"open`, []string{`"open`}},
		{"me@example.com, a@b", nil},
		{"`@code` \\@x @@ -1 +1 @@", []string{"@", "@"}},
		{"@a\n@b\t@c", []string{"a", "b", "c"}},
		{"请看@说明.md，谢谢", []string{"说明.md，谢谢"}},
		{"请看@README.md，谢谢", []string{"README.md，谢谢 | README.md"}},
		{"@a.go.谢", []string{"a.go.谢 | a.go. | a.go"}},
		{"@a\x00b @\x1bc @d\xff", nil},
		{"@hub:x://y, ok", []string{"hub:x://y, | hub:x://y"}},
	}
	for _, tt := range tests {
		var got []string
		for _, m := range Mentions(tt.text) {
			got = append(got, strings.Join(m.Names(), " | "))
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// What a popup writes is read as the name that it showed, wherever it stands.
func FuzzMentions(f *testing.F) {
	for _, seed := range []string{"a.go", `a "b"`, "说明.md", "a b", `"x"`, "a.", "@", "x\ny", "é́", "a\u200bb"} {
		f.Add(seed, "see ")
	}
	f.Fuzz(func(t *testing.T, name, before string) {
		for _, m := range Mentions(before + name) {
			if m.Name == "" || !utf8.ValidString(m.Name) || !strings.Contains(before+name, m.Name) || slices.Contains(m.Names(), "") {
				t.Errorf("%q: %+v, %q", before+name, m, m.Names())
			}
		}
		text, ok := mention(name)
		if !ok {
			return
		}
		if all := Mentions(text + " "); len(all) != 1 || all[0].Names()[0] != name {
			t.Errorf("%q is written as %q and read as %+v", name, text, all)
		}
		if strings.HasPrefix(text, `@"`) {
			text = strings.TrimSuffix(text, `"`)
		}
		if from, open, ok := openMention("x " + text); !ok || from != 2 || open != name {
			t.Errorf("%q: while it is typed: %d, %q, %v", text, from, open, ok)
		}
	})
}
