package naming

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// C75
func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"My_Skill": "my-skill", " x ": "x", "数据分析": "数据分析", "Отчёт": "отчёт", "ОТЧЕ\u0308Т": "отчёт", "CAFE\u0301": "café",
		"ΟΔΟΣ": "οδοσ", "οδος": "οδοσ", "\u212aelvin": "kelvin", "Straße": "straße", "STRAẞE": "straße", "ﬁ": "ﬁ", "ıI": "ıi",
		"ი": "ი", "Ი": "ი", "がく": "がく", "か\u3099く": "がく", "각": "각", "\u1100\u1161\u11a8": "각",
	} {
		if got := Canonical(name); got != want {
			t.Errorf("%q: got %+q, want %+q", name, got, want)
		}
	}
}

// Every letter has one canonical form.
func TestEveryLetter(t *testing.T) {
	for r := range rune(unicode.MaxRune) {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			continue
		}
		for _, s := range []string{string(r), "α" + string(r), "i" + string(r) + "\u0301"} {
			if one := Canonical(s); Canonical(one) != one {
				t.Fatalf("%+q: %+q, then %+q", s, one, Canonical(one))
			}
		}
	}
}

func TestLetter(t *testing.T) {
	for _, r := range "azAZ09éя数あ한हि٣ทูกּ" {
		if !Letter(r) {
			t.Errorf("%q is no letter", r)
		}
	}
	for _, r := range " -_./\\\x00\u200b\u200c\u200d\u200e\u202e\u2060\ufeff\u00ad\u034f\ufe0f\U000e0100\U000e0061\u115f\u1160\u3164\uffa0\u17b4\u180e\u2800👍½²Ⅷ、—\ue000\ufffd" {
		if Letter(r) {
			t.Errorf("%+q is a letter", r)
		}
	}
	if Begins('\u0301') || Begins('-') || !Begins('é') || !Begins('7') {
		t.Error("the first letter")
	}
}

func TestAlike(t *testing.T) {
	for _, row := range []struct{ names, want string }{
		{"payment pаyment", "pаyment=payment"}, // Cyrillic a
		{"pаyment payment", "pаyment=payment"},
		{"BOT ВОТ", "ВОТ=BOT"},
		{"pdf ｐｄｆ", "ｐｄｆ=pdf"},
		{"pdf 𝐩𝐝𝐟", "𝐩𝐝𝐟=pdf"},
		{"λογοσ λoγoσ", "λoγoσ=λογοσ"},
		{"工具 エ具", "エ具=工具"},
		{"café cafe", ""},
		{"café CAFE\u0301", ""}, // the same name
		{"отчёт отчет", ""},
		{"pdf pdt", ""},
		{"数据 報告", ""},
	} {
		names := strings.Fields(row.names)
		var got []string
		for a, b := range Alike(names) {
			got = append(got, a+"="+b)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: got %q", row.names, got)
		}
	}
}

func TestMixed(t *testing.T) {
	for name, want := range map[string]bool{"pаyment": true, "αbc": true, "payment": false, "отчёт-2": false, "pdf-数据": false, "한글abc": false, "café": false} {
		if Mixed(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// Canonical is stable, whatever the text, and what differs in case or normal form is the same.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"My_Skill", "ΟΔΟΣ", "e\u0301\u0323", "\u0345α", "İı", "\u212a", "ᾳͅ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		one := Canonical(s)
		if two := Canonical(one); two != one {
			t.Errorf("%+q: %+q, then %+q", s, one, two)
		}
	})
}
