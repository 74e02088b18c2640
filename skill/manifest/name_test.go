package manifest

import (
	"errors"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) { // R43, R46
	for in, want := range map[string]string{
		"Kalshi-Markets": "kalshi-markets", "kalshi_markets": "kalshi-markets", "My_Skill_123": "my-skill-123",
		"my-skill-123": "my-skill-123", " x ": "x", "": "",
	} {
		if got := Canonical(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestCheckName(t *testing.T) { // R11, R44, R46, security 2.2 #24, #26, #30
	for _, name := range []string{"my-skill-123", "My_Skill_123", "a", "1", strings.Repeat("a", 64), " padded ", "数据分析", "отчёт", "報告", "cafe\u0301", "हिन्दी", "g\u0456t", strings.Repeat("数", 64)} { // C75
		if err := CheckName(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	for _, name := range []string{
		"", " ", "../..", "../etc", "../../../etc/passwd", "/absolute/path", "skill name with spaces", ".", "..", "~", "__pycache__", ".hidden",
		"a.b", "a/b", `a\b`, "a%2fb", "a*", "a?", "a[b]", "{a}", "a\x00", "a\nb", "a\u200db", "a\u200cb", "a\u202eb", "a\u200bb", "a\ufe0f", "\u0301a", "a\xff", "数 据", "数、据", "👍", strings.Repeat("数", 65), strings.Repeat("\U00010428", 60), "con", "NUL", "Com1", "lpt9", "-", "--", "_", "-rf", "--help", "_x", strings.Repeat("a", 65),
		strings.Repeat("a/", 5000), strings.Repeat("a", 4097),
	} {
		var e *NameError
		if err := CheckName(name); !errors.As(err, &e) || e.Name != name || e.Kind != "skill" {
			t.Errorf("%q is allowed: %v", name, err)
		}
	}
	if got, want := CheckName("../etc").Error(), "Invalid skill name: '../etc'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A skill whose name cannot be used is found under its directory's, else under what can be made
// of the two.
func TestFallbackName(t *testing.T) { // C1
	for _, row := range [][3]string{
		{"a b", "dir", "dir"},
		{"", "Dir_1", "Dir_1"},
		{"a  b!c", "", "a-b-c"},
		{"a b", "x y", "a-b"},
		{"", "x y", "x-y"},
		{"技能", "技能", "技能"},
		{"技 能！", "", "技-能"},
		{"👍", "", "skill"},
		{"a\u200db", "a\u200db", "a-b"},
		{strings.Repeat("数", 100), "", strings.Repeat("数", 64)},
		{"con", "nul", "con-skill"},
		{"../../etc", ".", "etc"},
		{strings.Repeat("a ", 100), "", strings.Trim(strings.Repeat("a-", 32), "-")},
	} {
		if got := fallbackName(row[0], row[1]); got != row[2] {
			t.Errorf("%q in %q is called %q, want %q", row[0], row[1], got, row[2])
		}
	}
}

func TestParseName(t *testing.T) { // C1, C2, R11, 1.4
	for _, row := range []struct{ name, dir, want, problems string }{
		{"my-skill", "my-skill", "my-skill", ""},
		{"My_Skill", "my-skill", "My_Skill", "name-case name-underscore"},
		{"  my-skill  ", "my-skill", "my-skill", ""},
		{"my skill", "my-skill", "my-skill", "name-invalid"},
		{"ns:my-skill", "x", "x", "name-invalid"},
		{"other", "my-skill", "other", "name-directory"},
		{"123", "123", "123", ""},
		{"no", "no", "no", ""},
		{"", "my-skill", "my-skill", "name-missing"},
		{"-rf", "-rf", "rf", "name-edge"},
		{"--help", "x", "x", "name-edge name-double"},
		{"_x", "_x", "x", "name-underscore"},
		{"my-skill", "", "my-skill", ""},
		{"con", "x", "x", "name-reserved"},
		{"ſkill", "my-skill", "ſkill", "name-directory"},
		{"数据分析", "数据分析", "数据分析", ""},
		{"cafe\u0301", "café", "café", ""},
		{"Отчёт", "отче\u0308т", "Отчёт", "name-case"},
		{"g\u0456t", "g\u0456t", "g\u0456t", "name-mixed"},
		{"a\u200db", "a-b", "a-b", "name-hidden name-invalid"},
		{"数\ufe0f", "x", "x", "name-hidden name-invalid"},
		{strings.Repeat("\U00010428", 60), "x", "x", "name-length"},
	} {
		m, problems := Parse([]byte(withFront(`name: "`+row.name+`"`, "description: x")), &Options{Dir: row.dir})
		var codes []string
		for _, p := range problems {
			codes = append(codes, p.Code)
		}
		if m.Name != row.want || !sameCodes(codes, strings.Fields(row.problems)) {
			t.Errorf("%q in %q is %q with %v, want %q with %s", row.name, row.dir, m.Name, codes, row.want, row.problems)
		}
	}
}

// The cure names what to write.
func TestNameCure(t *testing.T) { // C1
	_, problems := Parse([]byte(withFront("name: My__Skill-", "description: x")), &Options{Dir: "My__Skill-"})
	for _, p := range problems {
		if p.Cure != `call it "my-skill"` {
			t.Errorf("%s: %s", p.Code, p.Cure)
		}
	}
	if len(problems) != 3 {
		t.Errorf("problems: %v", problems)
	}
}

// security 2.2 #24: a device's name, and what else means something to some system or reader, is never a skill's.
func TestOddNames(t *testing.T) {
	for _, name := range []string{"nul", "con", "aux", "prn", "com0", "com9", "lpt1", "NUL", "true", "yes", "null", "~", "-", "1", "1e3", "a_b", "a--b", "a-", "__pycache__", "."} {
		m, _ := Parse([]byte("---\nname: "+name+"\ndescription: x\n---\n"), &Options{Dir: name})
		if err := CheckName(m.Name); err != nil {
			t.Errorf("%s is called %q: %v", name, m.Name, err)
		}
	}
}
