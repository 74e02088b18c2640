package disclose

import (
	"fmt"
	"strings"
	"testing"
)

// A body of many placeholders makes no gigabytes of a long argument or a long path.
func TestSubstituteIsBounded(t *testing.T) {
	for _, body := range []string{"$ARGUMENTS ", "$0 ", "${CLAUDE_SKILL_DIR} ", "$name "} {
		v := newValues(strings.Repeat("x", 4000), []string{"name"}, map[string]string{"CLAUDE_SKILL_DIR": strings.Repeat("/d", 2000)})
		got, _, _ := v.substitute(strings.Repeat(body, 50_000))
		if most := 50_000*len(body) + mostFilled; len(got) > most || !v.full {
			t.Errorf("%s: %d bytes, at most %d are wanted; full %v", body, len(got), most, v.full)
		}
		if !strings.HasSuffix(got, body) || !strings.HasPrefix(got, v.token(body).text) {
			t.Errorf("%s: the first are not filled in, or the last are not left", body)
		}
		once := newValues(v.args, []string{"name"}, nil)
		if once.substitute(body); once.full {
			t.Errorf("%s: one is too many", body)
		}
	}
}

// A word of a body is held against the lengths that names have, and against no more, however long it is.
func TestNamesAreLookedForByLength(t *testing.T) {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("a%d", i))
	}
	v := newValues("x", names, nil)
	for _, word := range []string{strings.Repeat("a", 1_000_000), strings.Repeat("a-", 500_000), strings.Repeat("-", 1_000_000)} {
		steps := 0
		for range v.ends(word) {
			steps++
		}
		if steps > 2 {
			t.Errorf("%.4s…: %d lengths are tried, at most the 2 of the names are wanted", word, steps)
		}
	}
	for range newValues("x", nil, nil).ends("word") {
		t.Error("a length is tried without a name")
	}
}

// The end of a variable is looked for close by, and not to the end of the body.
func TestVariablesAreLookedForCloseBy(t *testing.T) {
	if got := len(variableWindow(strings.Repeat("${", 500_000))); got != maxVariable {
		t.Errorf("%d bytes are searched, want %d", got, maxVariable)
	}
	longest := "CLAUDE_" + strings.Repeat("X", maxVariable-len("${CLAUDE_}"))
	v := newValues("", nil, map[string]string{longest: "in", longest + "X": "out"})
	if got, _, _ := v.substitute("${" + longest + "} ${" + longest + "X}"); got != "in ${"+longest+"X}" {
		t.Errorf("got %q", got)
	}
}

// slowToken reads a name and a variable in the plain way: each length of a word, and each byte up to the brace.
func slowToken(v *values, s string) token {
	literal := token{len: 1, text: "$"}
	rest := s[1:]
	switch {
	case strings.HasPrefix(rest, "{"):
		literal = token{len: 2, text: "${"}
		end := strings.IndexByte(s, '}')
		if end < 0 || end > 64 {
			return literal
		}
		if text, ok := v.named[s[1:end]]; ok {
			return token{len: end + 1, text: text}
		}
		if name := s[2:end]; strings.HasPrefix(name, "CLAUDE_") || strings.HasPrefix(name, "AGENT_SKILL_") {
			literal.variable = name
		}
		return literal
	case strings.HasPrefix(rest, "ARGUMENTS") || rest != "" && digitByte(rest[0]):
		return v.token(s)
	}
	n := 0
	for n < len(rest) && (nameByte(rest[n]) || rest[n] == '-') {
		n++
	}
	for ; n > 0; n-- {
		text, ok := v.named[rest[:n]]
		if ok && (n == len(rest) || !nameByte(rest[n]) && rest[n] != '[') {
			return token{len: 1 + n, text: text, argument: true}
		}
	}
	return literal
}

// Every "$" stands for the same, looked at quickly or plainly.
func FuzzPlaceholder(f *testing.F) {
	f.Add("$a-b-c $a-b[ ${a} ${CLAUDE_X} ${CLAUDE_Y} $abc", "a a-b a-b-c abc")
	f.Add("${"+strings.Repeat("x", 62)+"} ${"+strings.Repeat("x", 63)+"}", strings.Repeat("x", 62))
	f.Add("$name$name-$-", "name - -name")
	f.Fuzz(func(t *testing.T, body, names string) {
		v := newValues("one two three", strings.Fields(names), map[string]string{"CLAUDE_X": "/d", strings.Repeat("x", 62): "62", strings.Repeat("x", 63): "63"})
		for i := range len(body) {
			if body[i] != '$' {
				continue
			}
			if got, want := v.token(body[i:]), slowToken(v, body[i:]); got != want {
				t.Errorf("%q with names %q: got %+v, want %+v", body[i:], names, got, want)
			}
		}
	})
}

// What hostile bodies of 1 MiB cost: words longer than any name, and variables that never end.
func BenchmarkSubstituteHostile(b *testing.B) {
	for name, body := range map[string]string{
		"word": "$" + strings.Repeat("a", 1_040_000), "hyphens": "$" + strings.Repeat("a-", 520_000), "variable": strings.Repeat("${", 520_000),
		"dollars": strings.Repeat("$", 1_040_000),
	} {
		b.Run(name, func(b *testing.B) {
			v := newValues("", []string{"a", "a1", "a2", "a-b", strings.Repeat("a-", 30_000) + "a"}, nil)
			for b.Loop() {
				v.substitute(body)
			}
		})
	}
}
