package strip_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/internal/js/strip"
)

// made are the words that a program without types may have that was not in its source.
var made = regexp.MustCompile(`^(?:const|static|this|return|void|async|module|exports|\d+)$`)

var wordsOf = regexp.MustCompile(`[\w$]+`)

// What is read keeps its lines and has no word that was not there, and what is not has a line of the text.
func FuzzProgram(f *testing.F) {
	for _, s := range []string{
		"let a: B<C> = <D>e as F", "class A<T> { @b() private c?: d; constructor(readonly e = 1) {} }", "enum A { B, C = 'x' } namespace D.E { export const f = 1 }",
		"const a = <b c={d} {...e}>f {g} <h/></b>", "a ? (b): c => d : e < f > (g)", "export default abstract class A {}", "`a${b as c}d`; /e[/]/.f!", "import type {A} from 'b'\nexport = c",
		"declare module 'a' { export function b(this: c): asserts d is e }", "type A = {[K in B as C]-?: D} | `x${E}`", "async <T,>(a?: T): Promise<T> => {}", "@a(b) export class C { static {} declare d }",
	} {
		f.Add(s, uint8(1))
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, source string, options uint8) {
		o := strip.Options{Types: options&1 != 0, JSX: options&2 != 0}
		out, err := strip.Program(t.Context(), []byte(source), o)
		lines := strings.Count(source, "\n")
		var at *strip.Error
		if errors.As(err, &at) {
			if at.Line < 1 || at.Line > lines+1 {
				t.Fatalf("line %d of %d", at.Line, lines+1)
			}
			return
		}
		if n := strings.Count(string(out), "\n"); n != lines {
			t.Fatalf("%q has %d lines, not %d: %q", out, n, lines, source)
		}
		for _, word := range wordsOf.FindAllString(string(out), -1) {
			if !o.JSX && !strings.Contains(source, word) && !made.MatchString(word) {
				t.Fatalf("%q has %q, unlike %q", out, word, source)
			}
		}
	})
}
