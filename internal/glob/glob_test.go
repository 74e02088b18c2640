package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	twice := strings.Repeat("{a,a}", 24) + "b"
	for _, tt := range []struct{ name, pattern, want string }{
		{"nothing", "", ""},
		{"a name", "a", ""},
		{"every kind", `**/[!a-c]?x*\{/{a,b}/**`, ""},
		{"sixteen alternatives", "{a,b}{c,d}{e,f}{g,h}", ""},
		{"seventeen", "{" + strings.Repeat("a,", 16) + "a}", "more than 16 alternatives in braces"},
		{"groups multiply", "{a,b,c}{d,e,f}{g,h}", "more than 16 alternatives in braces"},
		{"groups within one another add up", "{a,{b,{c,{d,{e,f}}}}}{g,h}", ""},
		{"and multiply inside", "{a,{b,c}{d,e}{f,g}{h,i}}", "more than 16 alternatives in braces"},
		{"twenty-four groups", twice, "more than 16 alternatives in braces"}, // security: hang by scripts_ignore
		{"empty ones", strings.Repeat("{,}", 24), "more than 16 alternatives in braces"},
		{"commas alone", "{" + strings.Repeat(",", 55) + "}b", "more than 16 alternatives in braces"},
		{"one alternative each", strings.Repeat("{a}", 80), ""},
		{"escaped braces", strings.Repeat(`\{a,b\}`, 30), ""},
		{"braces in a class", strings.Repeat("[{,}]", 30), ""},
		{"commas outside", strings.Repeat("a,", 100), ""},
		{"256 bytes", strings.Repeat("a", 256), ""},
		{"257 bytes", strings.Repeat("a", 257), "257 bytes, more than 256"},
		{"an open class", "[a", "syntax error: unbalanced brackets"},
		{"an open group", "{a", "syntax error: unbalanced brackets"},
		{"a closed group", "a}", "syntax error: unbalanced brackets"},
		{"a lone backslash", `a\`, "syntax error: unbalanced brackets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := Check(tt.pattern); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The matcher copies the glob for each alternative that it tries: the copies of the worst accepted one are few.
func TestMatchTriesEachAlternativeOnce(t *testing.T) {
	name := strings.Repeat("a", 200)
	for _, pattern := range []string{"*{a,a}{a,a}{a,a}{a,a}b", "**/*{a,{a,{a,{a,{a,a}}}}}{a,}b", strings.Repeat("{a}", 80) + "b"} {
		if err := Check(pattern); err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		got := testing.AllocsPerRun(1, func() { Match(pattern, name) })
		if most := float64(2*MaxAlternatives + strings.Count(pattern, "{")); got > most {
			t.Errorf("%q: %v copies, want at most %v", pattern, got, most)
		}
	}
}

func TestSet(t *testing.T) {
	var s Set
	if p, ok := s.Match(""); ok {
		t.Errorf("an empty set matches by %q", p)
	}
	for i := range 1000 { // names cost nothing
		if err := s.Add(fmt.Sprintf("name-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range MaxSet / 2 {
		if err := s.Add(fmt.Sprintf("{a,b}%d-*", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add("c*"); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more: got %v, want ErrTooMany", err)
	}
	if err := s.Add("[c"); err == nil || errors.Is(err, ErrTooMany) {
		t.Errorf("no glob: got %v", err)
	}
	for name, want := range map[string]string{"name-999": "name-999", "b7-x": "{a,b}7-*", "c1": "", "name-": ""} {
		if got, ok := s.Match(name); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", name, got, ok, want)
		}
	}
}

// expand writes out the alternatives of a glob in the way the matcher goes through them, and gives up after most.
func expand(pattern string, most int) []string {
	todo, done := []string{pattern}, []string{}
	for len(todo) > 0 && len(todo)+len(done) <= most {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, parts := -1, []int{}
		depth := 0
	scan:
		for i := 0; i < len(p); i++ {
			switch c := p[i]; {
			case c == '\\':
				i++
			case c == '[':
				i = classEnd(p, i)
			case c == '{':
				if depth++; depth == 1 {
					open, parts = i, []int{i}
				}
			case c == ',' && depth == 1:
				parts = append(parts, i)
			case c == '}':
				if depth--; depth == 0 {
					parts = append(parts, i)
					break scan
				}
			}
		}
		if open < 0 {
			done = append(done, p)
			continue
		}
		end := parts[len(parts)-1]
		for i := range len(parts) - 1 {
			todo = append(todo, p[:open]+p[parts[i]+1:parts[i+1]]+p[end+1:])
		}
	}
	return append(done, todo...)
}

// What Check accepts has at most MaxAlternatives alternatives when they are written out, what it refuses for them has
// more, and the matcher finds no more in them than in the glob itself.
func FuzzCheck(f *testing.F) {
	for _, p := range []string{"", "*", "**/*.go", "{a,b}", strings.Repeat("{a,a}", 24) + "b", "{" + strings.Repeat(",", 55) + "}b", `\{a,{b,[,}]}`,
		"{a,{b,c}{d,e}{f,g}{h,i}}", "[^]]", "{,}{,}{,}{,}", "a{/**,b}*", "**/{*,**/}x"} {
		f.Add(p, strings.Repeat("a", 40))
		f.Add(p, "a/b/c.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(name) > 300 {
			return
		}
		err := Check(pattern)
		if errors.Is(err, errSyntax) || len(pattern) > MaxBytes {
			return
		}
		all := expand(pattern, MaxAlternatives)
		if (err == nil) != (len(all) <= MaxAlternatives) {
			t.Fatalf("%q: Check says %v, and %d alternatives are written out", pattern, err, len(all))
		}
		if err != nil {
			return
		}
		if n := testing.AllocsPerRun(1, func() { Match(pattern, name) }); n > float64((MaxAlternatives+1)*(1+strings.Count(pattern, "{"))) {
			t.Errorf("%q, %q: %v copies", pattern, name, n)
		}
		var s Set
		if s.Add(pattern) != nil || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		if p, ok := s.Match(name); ok != Match(pattern, name) || ok && p != pattern {
			t.Errorf("%q, %q: the set says %q, %v", pattern, name, p, ok)
		}
		if slices.Contains(all, name) && !strings.ContainsAny(name, `*?[]{}\`) && !Match(pattern, name) {
			t.Errorf("%q does not match %q, which it stands for", pattern, name)
		}
	})
}
