package js_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/js"
)

func TestRead(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"import d, * as n from 'x'\nimport {a, b as c} from './y.js'\nimport 'z'", "import d=x:default; import n=x; import a=./y.js:a; import c=./y.js:b; import =z"},
		{"const fs = require('fs'), {exec: e, b} = require(\"node:child_process\")", "import #1=fs; fs = #1; import #2=node:child_process; e = #2.exec; b = #2.b"},
		{"require('a').b(await import('c'))", "import #1=a; import #2=c; do #1.b(#2)"},
		{"const {default: d} = await import('x'); import(y)", "import #1=x; d = #1.default; do import(y)"},
		{"export {a as b} from 'm'; export * from 'n'; export const x = 1; export default f()", "import b=m:a; import =n:*; x = 1; default = f()"},
		{"await (0, f)(x)", "do f(x)"},
		{"async function g() { await (0, h.i)(x) }", "def g() { do h.i(x) }"},
		{"x = `a${b}c${`d`}` + 'e' + f", "x = (('a' + b + 'c' + 'd') + 'e' + f)"},
		{"await $`curl ${url}`", "do $(('curl ' + url))"},
		{"a?.b?.[c]?.(d); a['b']['c-d']", "do a.b[c](d); do a.b['c-d']"},
		{"const {TOKEN, other: o = 'd', ...r} = process.env", "TOKEN = process.env.TOKEN; o = <or process.env.other 'd'>; r = process.env"},
		{"let [a, , {b}] = f()", "#1 = f(); a = #1[0]; #2 = #1[2]; b = #2.b"},
		{"[a, b.c] = [b, a]; ({x: y = 1, z} = w)", "#1 = [b, a]; a = #1[0]; b.c = #1[1]; y = <or w.x 1>; z = w.z"},
		{"for (const [k, v] of Object.entries(o)) f(k)", "#1 = Object.entries(o)[< >]; k = #1[0]; v = #1[1]; do f(k)"},
		{"class A extends B { #p = 1; static q = 'r'; m(x) { this.y = x } static { f() } get z() { return 1 } }", "A = <class B>; A.#p = 1; A.q = 'r'; def A.m(x) { this.y = x }; do f(); def A.z() { return 1 }"},
		{"const f = (a, {b} = {}, ...c) => g(a)", "f = func(a, #1, ...c) { b = #1.b; #1 = {}; c = ...c; return g(a) }"},
		{"new Function('a', 'b')(c); new X", "do Function('a', 'b')(c); do X()"},
		{"module.exports = {a, 'b-c': 1, [d]: 2, ['e']: 3, f() { g() }, ...h}", "module.exports = {a: a, b-c: 1, : < d 2>, e: 3, f: func() { do g() }, **: h}"},
		{"x += 'a'; y -= 1; o[k] = v; f().z = 1", "x = (x + 'a'); y = <- y 1>; o = <[]= o k v>; do <[]= f().z 1>"},
		{"a = b = f(...c, 1 + 2)", "b = f(<* c>, <+ 1 2>); a = b"},
		{"x = a ? f() : b() ? c : d || e || g", "do b(); x = <if f() c <|| d e g>>"},
		{"if (a) f(); else if (g()) h(); else { i() }", "do f(); do g(); do h(); do i()"},
		{"try { f() } catch (e) { g(e) } finally { h() }", "do f(); e = <except >; do g(e); do h()"},
		{"switch (f()) { case g(): h() }", "do f(); do g(); do h()"},
		{"do { f() } while (g()); label: for (;;h()) i()", "do f(); do g(); do i(); do h()"},
		{"function* f() { yield a; return -1 }", "def f() { return a; do <yield >; return -1 }"},
		{`x = "\x68\u0074\u{74}p\n\
y" + '\ud83d\ude00'`, "x = ('http\ny' + '😀')"},
		{"x = 0x10 + 1_000n", "x = <+ 16 1000>"},
		{"#!/usr/bin/env node\n'use strict'; f(/a'b/g)", "do f('a'b')"},
		{"a(1),b(2),c?d():e", "do a(1); do b(2); do <if d() e>"},
		{`{"a": [1, {"b": null}]}`, "do {a: [1, {b: null}]}"},
		{"const x = <A b={c()} {...d}>t</A>", "x = React.createElement(A, {b: c(), **: d}, 't')"},
		{"export const a = await f()\nif (a) g()\nreturn {b: a}", "a = f(); do g(); return {b: a}"},
		{"", ""},
	} {
		p := js.Read(t.Context(), js.JavaScript, []byte(test.source), 1)
		if p.Partly != "" {
			t.Errorf("%q: partly: %s", test.source, p.Partly)
		}
		if diff := cmp.Diff(test.want, code.Short(p.Body)); diff != "" {
			t.Errorf("%q: %s", test.source, diff)
		}
		checkDecodes(t, p)
	}
}

func TestReadTypes(t *testing.T) {
	source := `import { a, type B } from "x";
import c = require("y");

interface X { a: string }
enum E { A, B = "x" }

abstract class K<T> implements X {
  constructor(private readonly q: string) { f(q); }
  @dec() m<T>(this: K, x: T): asserts x is string { return run(x as unknown as string)!; }
}
const f = <T,>(x: T) => x satisfies T;
await (0, f)<string>(x);
`
	p := js.Read(t.Context(), js.TypeScript, []byte(source), 10)
	if p.Partly != "" {
		t.Fatal(p.Partly)
	}
	short := code.Short(p.Body)
	for _, want := range []string{"import a=x:a", "import #1=y; c = #1", "def K.m(x) { return run(x) }", "f = func(x) { return x }", "do f(x)"} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in %s", want, short)
		}
	}
	if got, want := p.Body[len(p.Body)-1].Line, 21; got != want {
		t.Errorf("the last statement is on line %d, want %d", got, want)
	}
	p = js.Read(t.Context(), js.TSX, []byte("const a = <B<string> c={d as e}/>"), 1)
	if got, want := code.Short(p.Body), "a = React.createElement(B, {c: d})"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A long file is read whole, and a statement of it may be as long as the file.
func TestReadLongTypes(t *testing.T) {
	source := strings.Repeat("if (a) {\n  g(a as any);\n}\n\n", 3000)
	p := js.Read(t.Context(), js.TypeScript, []byte(source), 1)
	if p.Partly != "" || len(p.Body) != 3000 {
		t.Fatalf("partly %q, %d statements", p.Partly, len(p.Body))
	}
	if got, want := p.Body[2999].Line, 4*2999+2; got != want {
		t.Errorf("line %d, want %d", got, want)
	}
}

func TestReadLines(t *testing.T) {
	p := js.Read(t.Context(), js.JavaScript, []byte("// f\nf(g,\n  'x')\n\nvar a = f\nf(g)\n"), 1)
	var lines []int
	for _, s := range p.Body {
		lines = append(lines, s.Line)
	}
	lines = append(lines, p.Body[0].Value.Args[1].Line)
	if diff := cmp.Diff([]int{2, 5, 6, 3}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestReadPartly(t *testing.T) {
	for _, test := range []struct {
		dialect            js.Dialect
		source, want, body string
	}{
		{js.JavaScript, "f('http://x.example'", "line 11 is no JavaScript", "do 'http://x.example'"},
		{js.JavaScript, "a\nb c 'd'", "line 12 is no JavaScript", "do 'd'"},
		{js.TypeScript, "let a: = 'b'", "line 11 is no TypeScript", "do 'b'"},
		{js.JavaScript, strings.Repeat("f();", code.MaxSource/4+1), "it has more than 4 MiB", ""},
		{js.JavaScript, strings.Repeat("f(1);", 100_000), "it has more than 360000 statements and values", "do f(1)"},
		{js.TypeScript, strings.Repeat("<a>(", 2000) + "'b'", "line 11: it is nested too deep", "do 'b'"},
	} {
		p := js.Read(t.Context(), test.dialect, []byte(test.source), 11)
		if got := code.Short(p.Body); p.Partly != test.want || !strings.HasPrefix(got, test.body) {
			t.Errorf("%.40q: partly %q, body %.80q", test.source, p.Partly, got)
		}
		checkDecodes(t, p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := js.Read(ctx, js.JavaScript, []byte(strings.Repeat("f();", 2000)), 1); p.Partly != "there was no time to read all of it" {
		t.Errorf("partly %q", p.Partly)
	}
}

// What is nested without end is partly read. It ends no process.
func TestReadBombs(t *testing.T) {
	const n = 100_000
	for _, unit := range []string{"(", "[", "{", "x={a:", "!", "a=>", "a?b:", "`${", "a=", "a.b=", "new ", "if(a)", "if(a);else ", "function a(){", "class A{a=", "a**",
		"a:", "await ", "typeof ", "async()=>", "f(()=>{", "<a>", "a+", "a.", "a||", "a,", "f()(", "a[", "/", "'", "/*", "...", "a?.", "do ", "yield ", "-", "case a:", "var[", "var{a:"} {
		for _, d := range []js.Dialect{js.JavaScript, js.TSX} {
			checkDecodes(t, js.Read(t.Context(), d, []byte(strings.Repeat(unit, n/len(unit))+"a"), 1))
		}
	}
	for _, chain := range []string{"()", ".a", "[0]", "+a", "-a+b", "?.a", "``", "&&a||b", "?a:b"} {
		checkDecodes(t, js.Read(t.Context(), js.JavaScript, []byte("a"+strings.Repeat(chain, n/len(chain))), 1))
	}
}

// What stands in a text as an example is read as what it is a part of, and what is broken in it takes nothing else away.
func TestReadFragment(t *testing.T) {
	for _, test := range []struct {
		source, want string
		broken       bool
	}{
		{"f(1)", "do f(1)", false},
		{"a: b(), 'c': 1", "do {a: b(), c: 1}", false},
		{"async go() { await fetch(u) }\nx = 1", "_ = <class >; def _.go() { do fetch(u) }; _.x = 1", false},
		{"const x: string = f()", "x = f()", false},
		{"url(a: 'https://a.sample.net'): number", "_ = <class >; do 'https://a.sample.net'", false},
		{"f(a, ...)\ng({b: 1, ...})", "do f(a); do g({b: 1})", true},
		{"fetch(<address>)", "do fetch()", true},
		{"$ npm start\nf(1)\nThis is text.\ng('u')", "do f(1); do g('u')", true},
		{"const x = f(1)\nconst x = f(2)", "x = f(1); x = f(2)", false},
		{"<A b={f(1)} />\n<A b={f(2)} />\neval(x)", "do React.createElement(A, {b: f(1)}); do React.createElement(A, {b: f(2)}); do eval(x)", false},
		{"function f() {\n  eval(x)\n", "def f() { do eval(x) }", true},
		{"x(((\neval(y)\n)", "do x(eval(y))", true},
	} {
		p := js.ReadFragment(t.Context(), js.JavaScript, []byte(test.source), 1)
		if got := code.Short(p.Body); got != test.want || p.Broken != test.broken || (p.Partly != "") != test.broken {
			t.Errorf("%q: got %s (%q, %v), want %s", test.source, got, p.Partly, p.Broken, test.want)
		}
		checkDecodes(t, p)
	}
}

// What takes too many tries is not said to be read.
func TestReadFragmentBombs(t *testing.T) {
	for _, unit := range []string{"const = (;\n", "const x = 1;\n", "((\n", "x = {a: [...], b: <c>}\n", "`${"} {
		for _, size := range []int{15 << 10, 60 << 10} {
			if p := js.ReadFragment(t.Context(), js.TypeScript, []byte(strings.Repeat(unit, size/len(unit))+"const = ("), 1); p.Partly == "" || p.Broken && size > 16<<10 {
				t.Errorf("%d bytes of %q are read: %q, %v", size, unit, p.Partly, p.Broken)
			}
		}
	}
}

func FuzzReadFragment(f *testing.F) {
	for _, s := range []string{"f(...)", "a: 1", "x(((\ny", "<id>", "go() {}", "$ a\n…"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkDecodes(t, js.ReadFragment(t.Context(), js.TypeScript, []byte(s), 3))
	})
}

// checkDecodes reports a program that is not within the limits of one.
func checkDecodes(t *testing.T, p code.Program) {
	t.Helper()
	if err := code.Check(&p); err != nil {
		t.Errorf("%.100s: %v", code.Short(p.Body), err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a = `b${c}`", "class A { static #b = 1 }", "for (const {a = 1} of b) c?.[d](...e)", "let a: B<C> = <D>e", "<a b={c}>d</a>", "({a: [b, ...c]} = d)", "\\u0061 = 1", "export default class {}"} {
		f.Add(uint8(0), []byte(s))
		f.Add(uint8(2), []byte(s))
	}
	f.Fuzz(func(t *testing.T, dialect uint8, text []byte) {
		p := js.Read(t.Context(), js.Dialect(dialect%3), text, 3)
		checkDecodes(t, p)
		for _, s := range p.Body {
			if s.Line < 3 {
				t.Fatalf("line %d of %q", s.Line, text)
			}
		}
	})
}
