package disclose

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// The facts found in a pattern's tree without compiling it hold for the compiled one.
func FuzzPatternTree(f *testing.F) {
	for _, s := range []string{"abc", "a{2,5}", "(a|b|.){1,60}c?", "(x{1,900}y|z)(w{1,900})", "(a*)*", "(?:a*)+", "a{0}", "(?:a?){3,}", "^$", `\b`, `\B`, "(?m)^a$",
		"[^a]", "", "(?:)*", "(|a)*", "(|a)+", "((a{1,9}){1,9}){1,9}", "[[:^ascii:]]|k|ſ", "a??b*?", "(?:(?:^)*){2,7}", `\pN\C`, "x{0,}", "x{1}", `[^\x00-\x{10FFFF}]|a`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > maxPattern {
			return
		}
		tree, err := syntax.Parse(source, syntax.Perl|syntax.FoldCase)
		if err != nil {
			return
		}
		most, empty := programSize(tree), matchesEmpty(tree)
		if most > 20*maxProgram {
			return
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if len(prog.Inst) > most {
			t.Errorf("%q has %d instructions, %d were expected at most", source, len(prog.Inst), most)
		}
		if want := regexp.MustCompile("(?i)" + source).MatchString(""); empty != want {
			t.Errorf("%q matches the empty text: got %v, want %v", source, empty, want)
		}
	})
}

// What is expected is no more than a few instructions above what there is, else sound patterns would be off.
func TestInstructionsAreNearlyExact(t *testing.T) {
	for _, s := range []string{"abc", "a{2,5}", "(a|b|.){1,60}c?", "(x{1,900}y|z)(w{1,900})", `[A-Z]{2,5}-\d+`, "tickets?|issues? (open|closed)", "(ab*){3,}"} {
		tree, err := syntax.Parse(s, syntax.Perl|syntax.FoldCase)
		if err != nil {
			t.Fatal(err)
		}
		got := programSize(tree)
		prog, _ := syntax.Compile(tree.Simplify())
		if got > len(prog.Inst)*5/4+4 {
			t.Errorf("%q: %d, it has %d", s, got, len(prog.Inst))
		}
	}
}

// Patterns are not compiled when they are entered, those of all skills have a bound together, and so has what one
// query compiles.
func TestPatternsAreCompiledWhenNeeded(t *testing.T) {
	x := newTriggers(nil)
	var err error
	n := 0
	for ; err == nil && n < 2000; n++ {
		err = x.patterns.add(fmt.Sprintf("abc(x{1,900}y|z)(w{1,%d})", 900), 0, int32(n), 0)
	}
	if err == nil || !strings.Contains(err.Error(), "for all skills") || x.patterns.size > maxPrograms || n < 100 {
		t.Fatalf("%d patterns with %d instructions are on: %v", n, x.patterns.size, err)
	}
	made := 0
	for _, p := range x.patterns.all {
		p.compiled = func() *regexp.Regexp { made += p.size; return nil }
	}
	x.patterns.match("nothing of theirs")
	if made != 0 {
		t.Errorf("%d instructions are compiled for a query without their literal", made)
	}
	x.patterns.match("abc")
	if most := maxWork / compileWork; made == 0 || made > most {
		t.Errorf("%d instructions are compiled for one query, at most %d are wanted", made, most)
	}
	if n := testing.AllocsPerRun(3, func() { err = errors.Join(err, x.patterns.add("(abc(x{1,900}y|z)(w{1,900}))", 0, 0, 0)) }); n > 200 {
		t.Errorf("entering a pattern makes %v allocations", n)
	}
}

// Reading classes of thousands of characters is bounded for all skills together; patterns without any stay on.
func TestWidePatternsAreBounded(t *testing.T) {
	for source, want := range map[string]int{`abc\pL\PN`: 2, `abc[B-\x{1e942}]`: 1, "abc[一-龥]": 1, "über-Ärger-é": 2, `a-z\w[^"]`: 0} {
		if got := wide(source); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
	x := newTriggers(nil)
	on := 0
	for i := range maxWide {
		if x.patterns.add(`abc[B-\x{1e942}][B-\x{1e942}]`, 0, int32(i), 0) == nil {
			on++
		}
	}
	if on != maxWide/2 {
		t.Errorf("%d are on, want %d", on, maxWide/2)
	}
	if err := x.patterns.add("deploy[a-z]", 0, 0, 0); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(3, func() { x.patterns.add("abc"+strings.Repeat(`\pL`, 65), 0, 0, 0) }); n > 10 {
		t.Errorf("a pattern that is off makes %v allocations", n)
	}
}

// Entering hostile patterns: what each costs before any query.
func BenchmarkPatternsHostile(b *testing.B) {
	for name, source := range map[string]string{
		"repeats": "abcN(x{1,900}y|z)(w{1,900})", "classes": "abc" + strings.Repeat(`\pL`, 65), "ranges": "abc" + strings.Repeat(`[B-\x{1e942}]`, 14), "loose": "(x{1,900}y|z)(w{1,900})",
		"nested": "abc(((a{1,9}){1,9}){1,9}b|c{1,1000})",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				newTriggers(nil).patterns.add(source, 0, 0, 0)
			}
		})
	}
}
