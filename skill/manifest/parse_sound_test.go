package manifest

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkSound holds for every input: nothing is nil, all texts are UTF-8 without NUL, and every
// problem has a known code and lies inside the file.
func checkSound(t *testing.T, src []byte, m *Manifest, problems []Problem) {
	t.Helper()
	if m == nil {
		t.Fatal("no manifest")
	}
	checkTexts(t, reflect.ValueOf(*m), "Manifest")
	lines := fileLines(src)
	fatal := false
	for _, p := range problems {
		checkTexts(t, reflect.ValueOf(p), "Problem")
		if findRule(p.Code) == nil || p.Severity == SeverityOff || p.Message == "" || p.Cure == "" {
			t.Errorf("incomplete problem %+v", p)
		}
		if p.Line < 0 || p.Line > len(lines) || p.Line > 0 && (p.Col < 1 || p.Col > utf8.RuneCountInString(lines[p.Line-1])+1) {
			t.Errorf("%d:%d is not in the file of %d lines: %+v", p.Line, p.Col, len(lines), p)
		}
		fatal = fatal || p.Fatal
	}
	if !fatal && strings.TrimSpace(m.Description) == "" {
		t.Error("no description, and no problem makes it unusable")
	}
	if err := CheckName(m.Name); err != nil {
		t.Errorf("the skill is called %q: %v", m.Name, err)
	}
	for _, f := range m.Fields {
		if f.Line < 1 || f.Line > len(lines) || f.Col < 1 || f.Col > utf8.RuneCountInString(lines[f.Line-1])+1 {
			t.Errorf("field %q stands at %d:%d", f.Key, f.Line, f.Col)
		}
	}
}

func fileLines(src []byte) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src)), "\n")
}

func checkTexts(t *testing.T, v reflect.Value, where string) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("%s is %q", where, s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			checkTexts(t, v.Field(i), where+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkTexts(t, v.Index(i), where)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			checkTexts(t, it.Key(), where)
			checkTexts(t, it.Value(), where)
		}
	}
}
