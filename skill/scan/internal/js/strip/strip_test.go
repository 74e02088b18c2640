package strip_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/internal/js/strip"
)

var (
	types = strip.Options{Types: true}
	tsx   = strip.Options{Types: true, JSX: true}
	jsx   = strip.Options{JSX: true}
)

// words returns a text with single spaces, and without those next to marks.
func words(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, mark := range []string{";", ",", "(", ")", "{", "}", "=", ":", "[", "]", "<", ">", "+", ".", "?", "/"} {
		s = strings.ReplaceAll(strings.ReplaceAll(s, " "+mark, mark), mark+" ", mark)
	}
	for strings.Contains(s, ";;") {
		s = strings.ReplaceAll(s, ";;", ";")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "{;", "{"), ";}", "}")
	return strings.Trim(s, "; ")
}

func TestProgram(t *testing.T) {
	for _, test := range []struct {
		o            strip.Options
		source, want string
	}{
		{types, "let a: B<C>[] = d, e!: F | (() => G) = h", "let a=d,e=h"},
		{types, "a as B; c satisfies D<E>; <F>g; h!.i![j]!(k)", "a;c;g;h.i[j](k)"},
		{types, "a as number < b; x as any / y / z; a! == b", "a<b;x/y/z;a==b"},
		{types, "f<T>(x); new A<B>(c); d`e`; g<H>`i`; j?.<K>(l); const m = n<O>;", "f(x);new A(c);d`e`;g `i`;j?.(l);const m=n"},
		{types, "a < b > c; a < b >> (c); a<b>>=c; a < (b) > (c ? d : e); f(a<b, c>(d))", "a<b>c;a<b>>(c);a<b>>=c;a(c?d:e);f(a(d))"},
		{types, "f<<T>(a: T) => T>(b); a << b", "f(b);a<<b"},
		{types, "(a: T, b?: U, c = 1): V => d; async (a: T): Promise<U> => b; <T>(a) => b; async <T>(a: T) => b", "(a,b,c=1)=>d;async(a)=>b;(a)=>b;async(a)=>b"},
		{types, "a ? (b) : c => d; a ? (b): c => d : e; a ? (b, c) : d", "a?(b):c=>d;a?(b)=>d:e;a?(b,c):d"},
		{types, "x = (a ? b : c); y = (a?: b) => c; z = ({a, b}: C = {}, [d]: E) => f", "x=(a?b:c);y=(a)=>c;z=({a,b}={},[d])=>f"},
		{types, "function f(this: A, b: C): asserts b is D { g() }\nfunction h(a: string): void;\nfunction h(a) {}", "function f(b){g()};function h(a){}"},
		{types, "type A<B> = B extends infer C extends D ? E : F\ntype\nG = f()\ntype H = {[K in L as M]-?: N} & `a${O}`", "type G=f()"},
		{types, "interface A<B> extends C.D<E>, F { g(h: I): J; new (k): L; readonly m?: N; [o: string]: P; get q(): R }\nf()", "f()"},
		{types, "abstract class A<T> extends B<T> implements C, D { private readonly e?: F = g; static h!: I; abstract j(): K; [l: string]: M; declare n: O; abstract [Symbol.iterator](): P; override get p(): Q { return r } }",
			"class A extends B{e=g;static h;get p(){return r}}"},
		{types, "class A { constructor(private b: C, public readonly d = e()) { f(b) } g(h?: I): J { } g(): K }", "class A{constructor(b,d=e()){this.b=b;this.d=d;f(b)} g(h){}}"},
		{types, "class A { get; set: B; static; async\nb() {} static c() {} readonly\nd = 1 }", "class A{get;set;static;async;b(){} static c(){} readonly;d=1}"},
		{types, "enum A { B, C = 'x', D = C + 'y', 'e-f', G = 5, H }", "A.B=0;A.C='x';A.D=A.C+'y';A['e-f']=A.D+1;A.G=5;A.H=6"},
		{types, "export const enum A { B = f() }\ndeclare enum C { D }", "A.B=f()"},
		{types, "namespace A.B { export const c = 1, d = 2; export function e() {} const f = g(); export namespace H { i() } }",
			"A.B=((B)=>{const c=1,d=2;function e(){} const f=g();H=((H)=>{i();return{}})(H);return{c,d,e,H}})(A.B)"},
		{types, "declare module 'a' { export function b(c: D): E; export default F; import g from 'h'; interface I {} }\ndeclare global { var j: K }\ndeclare function l(): M\nf()", "f()"},
		{types, "declare\nfunction a() { b() }; namespace = c; abstract\nclass D {}", "declare function a(){b()};namespace=c;abstract class D{}"},
		{types, "import type A from 'a'; import {type B, c, type D as E, type as F} from 'b'; import type, {g} from 'c'; import h = require('d'); import type i = require('e')",
			"import{c,type as F} from 'b';import type,{g} from 'c';const h=require('d')"},
		{types, "export type {A} from 'a'; export type B = C; export {type D, e}; export = f; export as namespace G; export import h = i.j", "export{e};module.exports=f;export const h=i.j"},
		{types, "export default abstract class A { b(): void }\nexport default interface C {}\nexport default function d(): E", "export default class A{}"},
		{types, "@a @b(c) export class D { @e() f: G; @h i() {} constructor(@j(k) private l: M, @n o?: P) {} }",
			";a;b(c);export class D{static{e()}f;static{h}i(){} constructor(l=(j(k),void 0),o=(n,void 0)){this.l=l;}}"},
		{types, "export @a class B {}; c = @d() class {}", "a;export class B{};c=(d(),class{})"},
		{types, "for (const a of b as C) d; for (let e: F = g; h < i; j++) k; try {} catch (l: unknown) {} switch (m) { case (n): o() }",
			"for(const a of b)d;for(let e=g;h<i;j++)k;try{} catch(l){} switch(m){case(n):o()}"},
		{types, "using a = b; await using c = d; import e from 'f' with {type: 'json'}", "const a=b;const c=d;import e from 'f'"},
		{types, "x = /[/]`/.test(a) / 2; `a${b as C}d${`e${f!}`}`; l: for (;;) break l", "x=/[/]`/.test(a)/2;`a${b}d${`e${f}`}`;l:for(;;)break l"},
		{types, "x = {async a<T>(b: C): D { await e }, get f(): G { return h }, i: j as K, *l() { yield <M>n }, async, [o]: p}", "x={async a(b){await e},get f(){return h},i:j,*l(){yield n},async,[o]:p}"},
		{types, "let a: typeof import('b').c<D>, e: new () => F, g: unique symbol, h: [i: J, k?: L, ...m: N[]], o: (p: Q) => r is S", "let a,e,g,h,o"},
		{types, "a /*\n*/ b\rc\u2028d\u2029e // f\rg", "a /* */ b c\u2028d\u2029e // f g"},
		{types, "#!/usr/bin/env x\nlet a: B", "#!/usr/bin/env x let a"},
		{tsx, "const a = <T,>(b: T) => <c d={e as F} {...g} h='i&amp;\"' j-k>l\n  m {n!} {/* o */}<p.q<R>/></c>;", `const a=(b)=>React.createElement("c",{d:(e),...g,h:"i\u0026\"","j-k":true,},"l m ",(n)," ",React.createElement(p.q,null))`},
		{jsx, "x = <><A/>{...b}</>; y = a < b; @c class D { accessor e = 1 }", "x=React.createElement(React.Fragment,null,React.createElement(A,null),...b);y=a<b;c;class D{e=1}"},
	} {
		out, err := strip.Program(t.Context(), []byte(test.source), test.o)
		if got := words(string(out)); err != nil || got != words(test.want) {
			t.Errorf("%q:\n got %s (%v)\nwant %s", test.source, got, err, words(test.want))
		}
	}
}

// A line that ends where types are left out ends no statement, and one that ended a statement still does.
func TestProgramLines(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"return <\nA\n>(b) => c", "return (\n\n(b) => c)"},
		{"return <\nA\n>b", "return (\n\nb)"},
		{"a = async <\nB\n>(c): D => e", "a = (\n\nasync(c )=> e)"},
		{"(a): {\nb: C\n} => d", "(a \n\n)=> d"},
		{"a as B\n(c)", "a  ;\n(c)"},
		{"a\ntype B = C\n(d)", "a\n;\n(d)"},
	} {
		out, err := strip.Program(t.Context(), []byte(test.source), types)
		if string(out) != test.want || err != nil {
			t.Errorf("%q: got %q (%v), want %q", test.source, out, err, test.want)
		}
	}
}

// What runs is never taken for a type: it stays, or the program is not read.
func TestProgramKeepsWhatRuns(t *testing.T) {
	for _, source := range []string{
		"type\nA = run()", "interface\nA\n{ run() }", "declare\nvar a = run()", "namespace\nA\n{ run() }", "abstract\nclass A { a = run() }", "type A = B\n(run())", "type A = B; run()",
		"type A = B\n`${run()}`", "a as B\n[run()]", "a as any < run()", "a as B && run()", "a as B ? run() : c", "a < b > run()", "a < b > (run())", "a < { b: run() } > c",
		"a < [run()] > (c)", "a < typeof run() > (c)", "a < import(run()) > (b)", "a < (b = run()) => c > (d)", "f<T>(run())", "a ? (run()) : b => c", "a ? (b = run()): c => d : e",
		"enum A { B = run() }", "enum A { [run()] = 1 }", "const enum A { B = `${run()}` }", "namespace A { run() }", "module A { export const b = run() }", "export namespace A { run() }",
		"class A { declare b = run() }", "class A { declare [run()]: B }", "class A { abstract [run()](): B }", "class A { [run()](): B; }", "abstract class A { abstract b() { run() } }",
		"class A { abstract b = run() }", "class A { [run()]: string }", "class A { declare static { run() } }", "class A { readonly b = run() }", "class A { constructor(private b = run()) {} }",
		"@run() class A {}", "class A { @run() declare b: C }", "class A { @run() b(): C; b() {} }", "class A { constructor(@run() b) {} }", "class A extends run() implements B {}", "class A extends run<B>() {}",
		"declare class A { b() { run() } }", "declare function a() { run() }", "declare module A { run() }", "declare module 'a' { run() }", "declare const a = run()", "declare class A extends run() {}",
		"declare global { var a = run() }", "declare class A { b = run() }", "declare class A { @run() b }", "declare class A { [run()]: B }", "declare type = run()", "declare global: { run() }", "declare let = run()", "declare namespace = run()", "declare module = run()", "declare abstract = run()", "declare using = run()", "declare interface\nA = run()", "declare module `${run()}`", "declare global(run())", "declare type\n(run())", "export declare type = run()", "declare let: run()", "declare namespace A { type = run() }", "declare namespace A { { run() } }", "declare module: { run() }", "declare class A { static { run() } }", "function a(b = run()): c is D {}", "interface A { [run()]: B }",
		"interface A extends run() {}", "type A = { [run()]: B }", "type A = `${run()}`", "import type A = run()", "import A = run(b)", "class A { abstract [run().b]: C }", "import { type A } from 'run'", "export = run()", "export default run() as A", "let a: B = run()",
		"let a: b is run()", "(a: B = run()) => c", "(a?: B, b = run()) => c", "({a = run()}: B) => c", "return <\nA\n>run()", "x = <T>run()", "x = <T,>(a = run()) => b", "a!\n[run()]", "a\n!run()", "a! = run()",
		"for (const a of <B>run()) {}", "a satisfies B; run()", "accessor\nrun()", "declare namespace A { const b = run() }", "type A = B // \u2028run()", "type A = B /*\u2028*/ run()", "a = <B>/[/*]/.c(run()) /*]/*/",
		"type A = /* */ B\u2029run()", "let type, a; type\nas\nrun()", "a < b, c > (run())", "if (a < b || c > (run())) d", "async < A > (run())", "async <A>(b = run()) => c",
	} {
		for _, o := range []strip.Options{types, tsx} {
			out, err := strip.Program(t.Context(), []byte(source), o)
			if err == nil && !strings.Contains(string(out), "run") {
				t.Errorf("%q became %q", source, out)
			}
		}
	}
}

// What is no program of its language is said to be so, where it is.
func TestProgramFaults(t *testing.T) {
	for _, test := range []struct {
		o      strip.Options
		source string
		line   int
	}{
		{types, "a\nlet b: = c", 2}, {types, "let a: ;\nb", 1}, {types, "let a: new.target", 1}, {types, "'a\n'", 1}, {types, "a\n/* b", 2}, {types, "`a\n${b", 2}, {types, "(a: B)", 1}, {types, "f(a?: B)", 1}, {types, "a b", 1}, {types, "x = /a", 1},
		{jsx, "let a: B", 1}, {jsx, "a as B", 1}, {jsx, "class A { private b }", 1}, {jsx, "enum A {}", 1}, {jsx, "x = <a>\n</b>", 2}, {jsx, "<a b='c", 1}, {jsx, "<a>b", 1},
		{types, "class A { constructor(@b {c}) {} }", 1}, {types, "namespace A { export const {b} = c }", 1}, {types, "a\n\\", 2}, {types, "a ? b", 1}, {types, "\x80", 1}, {types, "a\u200b", 1},
	} {
		_, err := strip.Program(t.Context(), []byte(test.source), test.o)
		var at *strip.Error
		if !errors.As(err, &at) || !at.Fault || at.Line != test.line || !strings.Contains(at.Error(), "line ") {
			t.Errorf("%q: %v", test.source, err)
		}
	}
}

// A program of one thing within another, or that could be read in many ways, takes no long time: it is read, or beyond a limit.
func TestProgramBombs(t *testing.T) {
	const size = 100_000
	for _, unit := range []string{
		"(", "[", "{", "`${", "a<", "a<b,", "<<", "a<b<c<", "<a>", "<a>(", "<T,>(a)=>", "a?(b):c=>", "a?(b)=>", "(a):b=>", "async<T>(", "(a=", "({a:", "a=>", "x as y<", "let a:(", "let a:((", "let a:[(",
		"type A=(a:", "type A=<T>(", "type A={a:", "type A=B extends infer C extends ", "type A=B extends C?", "type A=`${", "a<(b)=>", "a<([", "@a(", "class A{a=", "<a b={", "<a>{", "<a b=<", "enum A{a=",
		"namespace A{", "declare module 'a'{", "a?.b!", "new ", "if(a)", "!", "typeof ", "'a", "a\n", "/", "a?b<c>(d):",
	} {
		for _, o := range []strip.Options{types, tsx} {
			_, err := strip.Program(t.Context(), []byte(strings.Repeat(unit, size/len(unit))), o)
			var at *strip.Error
			if err != nil && !errors.As(err, &at) {
				t.Errorf("%q: %v", unit, err)
			}
		}
	}
	for source, want := range map[string]string{strings.Repeat("a?(b):c=>", 300): "too many ways", strings.Repeat("(", 5000): "too deep"} {
		if _, err := strip.Program(t.Context(), []byte(source), types); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", source, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := strip.Program(ctx, []byte(strings.Repeat("a();", 10_000)), types); err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("without time: %v", err)
	}
}
