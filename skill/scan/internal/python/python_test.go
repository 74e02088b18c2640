package python_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/python"
)

// interpreter returns a Run of the Python of this machine.
func interpreter(t testing.TB) python.Run {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no Python:", err)
	}
	return func(ctx context.Context, program string, input []byte) ([]byte, error) {
		cmd := exec.CommandContext(ctx, path, "-I", "-c", program)
		cmd.Stdin = bytes.NewReader(input)
		return cmd.Output()
	}
}

func read(t *testing.T, run python.Run, texts ...string) []code.Program {
	t.Helper()
	var sources []python.Source
	for _, s := range texts {
		sources = append(sources, python.Source{Text: []byte(s)})
	}
	out, err := python.Read(t.Context(), run, sources)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRead(t *testing.T) {
	tests := []struct{ source, want string }{
		{"import os.path as p, sys", "import p=os.path; import sys=sys"},
		{"from . import a as b\nfrom ..x.y import *", "import b=.:a; import =..x.y:*"},
		{"a = b = f()", "#1 = f(); a = #1; b = #1"},
		{"a, b = 1, 'x'", "a = 1; b = 'x'"},
		{"(a, *b), c = f()", "#1 = f(); #2 = #1[0]; a = #2[0]; b = #2; c = #1[1]"},
		{"x += 'b'\nx += 1\nx |= y", "x = (x + 'b'); x = <+ x 1>; x = <| x y>"},
		{"self.a = x.y['k'][1:]", "self.a = x.y['k'][<: 1 < > < >>]"},
		{"d['k'].x[i] = v", "d = <[]= d i 'k' v>"},
		{"d.x[i] = v", "d.x = <[]= d.x i v>"},
		{"f().x = v", "do <[]= f() v>"},
		{"'a' + b + f'{c:>{d()}}e{g!r}'", "do ('>' + d()); do ('a' + b + (c + 'e' + g))"},
		{"x = a + 1 - 2", "x = <- <+ a 1> 2>"},
		{"x = '%s/%d%%' % (a, b)", "x = (a + '/' + b + '%')"},
		{"x = '%(k)s-%(k)s' % {'k': v, 'z': w}", "x = (v + '-' + < > + w)"},
		{"x = b'%s' % f(y)", "x = (f(y))"},
		{"f(a, *b, k=c, **d)", "do f(a, <* b>, k: c, **: d)"},
		{"x = [a, (1, -2)], {'k': 1, **e, z: None, 2: b'\\xff'}", "x = [[a, [1, -2]], {k: 1, **: e, : < z None>, 2: 'ÿ'}]"},
		{"x = [g(a) for a in b if h(a)]", "a = b[< >]; do h(a); x = <for g(a)>"},
		{"f = lambda v, w='d': g(v)", "f = func(v, w) { w = 'd'; return g(v) }"},
		{"@app.get('/x')\ndef f(a, b=g(), *c, d: h() = 1, **e) -> i:\n  yield a", "do h(); def f(a, b, *c, d, **e) { b = g(); d = 1; c = *c; e = **e; return a; do <yield > }; do app.get('/x')(f)"},
		{"class A(B, k=C):\n  x = 1\n  def m(self): self.x = 2\n  class D:\n    y = 3", "A = <class B C>; A.x = 1; def A.m(self) { self.x = 2 }; A.D = <class >; A.D.y = 3"},
		{"with open(p) as f, g(): f.read()", "f = open(p); do g(); do f.read()"},
		{"for k, v in d.items(): print(k)\nelse: g()", "#1 = d.items()[< >]; k = #1[0]; v = #1[1]; do print(k); do g()"},
		{"try: f()\nexcept E as e: g(e)\nfinally: h()", "do f(); e = <except >; do g(e); do h()"},
		{"if a: f()\nelif g(): h()\nelse: i()", "do f(); do g(); do h(); do i()"},
		{"while (x := f()): g(x)", "x = f(); do g(x)"},
		{"x = a() if b() else c or d", "do b(); x = <if a() <or c d>>"},
		{"async def f():\n  async with a() as b: return await b.c()", "def f() { b = a(); return b.c() }"},
		{"if __name__ == '__main__': main()", "do main()"},
		{"'''a doc'''\nx.y\nassert f(), g()\nraise E()\ndel a[h()]", "do x.y; do f(); do g(); do E(); do a[h()]"},
		{"Path.home() / '.ssh' / f(a).b", "do </ Path.home() '.ssh' f(a).b>"},
		{"# coding: latin-1\nx = 'é'", "x = 'Ã©'"},
		{"x = y = '\\ud800'", "#1 = '\uFFFD'; x = #1; y = #1"},
	}
	run := interpreter(t)
	var sources []string
	for _, test := range tests {
		sources = append(sources, test.source)
	}
	for i, p := range read(t, run, sources...) {
		if p.Partly != "" {
			t.Errorf("%q: partly: %s", tests[i].source, p.Partly)
		}
		if diff := cmp.Diff(tests[i].want, code.Short(p.Body)); diff != "" {
			t.Errorf("%q: %s", tests[i].source, diff)
		}
	}
}

func TestReadPartly(t *testing.T) {
	deep := strings.Repeat("f(", 190) + strings.Repeat(")", 190)
	tests := []struct{ name, source, want, has string }{
		{"Python 2", "import a\nprint 'x %s' % b\ntry: c()\nexcept E, e:\n  exec d", "line 2 is no Python 3", "import a=a; do print(('x ' + b)); do c(); e = <except >; do exec(d)"},
		{"an error in the middle", "a()\nb = 'http://x.example' c\nd()", "line 2 is no Python 3", "do a(); do 'http://x.example'; do d()"},
		{"a notebook", "import a\n!curl x.example\na.b()", "line 2 is no Python 3", "import a=a; import #os=os; do #os.system('curl x.example'); do a.b()"},
		{"a piece that is indented", "    a()\n    b()", "line 1 is no Python 3", "do a(); do b()"},
		{"a line that is none", "def f():\n    g('a')\n    <your code here>\n    h(<key>)\nj()", "line 3 is no Python 3", "def f() { do g('a'); do _; do h(_) }; do j()"},
		{"null bytes", "a()\x00", "", "do a()"},
		{"an unknown encoding", "# coding: no-such-thing\na()", "its encoding is not known", "do a()"},
		{"another encoding", "# coding: utf-8\na('\xff')", "", "do a('\uFFFD')"},
		{"values inside each other", deep, "line 1 is nested too deep", "do f(f(f("},
		{"brackets", strings.Repeat("[", 5000), "", ""},
		{"blocks", "if a:\n" + strings.Repeat("    ", 1) + strings.Repeat("if a: ", 1), "line 2 is no Python 3", ""},
		{"signs", "x = " + strings.Repeat("-", 200_000) + "y\nb()", "", ""},
		{"names", "x = a" + strings.Repeat(".a", 100_000) + "\nb()", "", ""},
		{"a sum", "x = " + strings.Repeat("'a' + ", 5_000) + "b", "", "x = "},
		{"more than the limit", strings.Repeat("f()\n", code.MaxSource/4+1), "it has more than 4 MiB", ""},
		{"many values", "x = [" + strings.Repeat("1,", 450_000) + "]\nf('a')", "it has more than 390000 statements and values", ""},
		{"a long name", "class " + strings.Repeat("A", 990) + ":\n" + strings.Repeat(" a=1\n", 40_000) + " f('a')", "what it says is too long", "do 'a'"},
		{"targets", strings.Repeat("x = ", 20_000) + "'" + strings.Repeat("y", 50_000) + "'", "", "#1 = 'yyy"},
	}
	var sources []string
	for _, test := range tests {
		sources = append(sources, test.source, "after()")
	}
	p := read(t, interpreter(t), sources...)
	for i, test := range tests {
		if got := p[2*i].Partly; test.want != "" && got != test.want {
			t.Errorf("%s: partly %q, want %q", test.name, got, test.want)
		} else if broken := strings.HasSuffix(got, "is no Python 3"); p[2*i].Broken != broken {
			t.Errorf("%s: broken is %v", test.name, !broken)
		}
		if got := code.Short(p[2*i].Body); !strings.HasPrefix(got, test.has) {
			t.Errorf("%s: %.200s, want %s", test.name, got, test.has)
		}
		if got := code.Short(p[2*i+1].Body); got != "do after()" || p[2*i+1].Partly != "" {
			t.Errorf("%s: the next program is %q, partly %q", test.name, got, p[2*i+1].Partly)
		}
	}
}

func TestReadLines(t *testing.T) {
	out, err := python.Read(t.Context(), interpreter(t), []python.Source{{Text: []byte("a(\n'x')\nb(c"), Line: 10}, {Text: []byte("a(\n'x')\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out[0].Partly, "line 12 is no Python 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, first := range []int{10, 1} {
		v := out[i].Body[0].Value
		if got, want := [3]int{out[i].Body[0].Line, v.Func.Line, v.Args[0].Line}, [3]int{first, first, first + 1}; got != want {
			t.Errorf("source %d: lines %v, want %v", i, got, want)
		}
	}
}

// A process that ends on a source does not keep the others from being read.
func TestReadGoesOn(t *testing.T) {
	run := interpreter(t)
	starts := 0
	ends := func(ctx context.Context, program string, input []byte) ([]byte, error) {
		starts++
		out, err := run(ctx, program, input)
		if i := bytes.Index(input, []byte("bomb")); i >= 0 {
			lines := bytes.SplitAfter(out, []byte("\n"))
			return bytes.Join(lines[:bytes.Count(input[:i], []byte("()"))], nil), errors.New("killed")
		}
		return out, err
	}
	p := read(t, ends, "a()", "bomb('http://x.example')", "b()", "bomb = 1", "c()")
	var got []string
	for _, p := range p {
		got = append(got, code.Short(p.Body)+"|"+p.Partly)
	}
	want := []string{"do a()|", "do 'http://x.example'|Python ended while it read it", "do b()|", "|Python ended while it read it", "do c()|"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if starts != 3 {
		t.Errorf("%d processes, want 3", starts)
	}
}

func TestReadWithout(t *testing.T) {
	p := read(t, nil, "x = 1\nf('''a\nb''')\nurl = 'http://x.example'")
	if got, want := code.Short(p[0].Body), `do 'a
b'; do 'http://x.example'`; got != want || p[0].Partly != "there was no Python to read it with" || p[0].Body[1].Line != 4 {
		t.Errorf("got %q, %+v", got, p[0])
	}
	broken := func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("no such file") }
	out, err := python.Read(t.Context(), broken, []python.Source{{Text: []byte("'a'")}, {Text: []byte("'b'")}, {Text: []byte("'c'")}})
	if err == nil || !strings.Contains(err.Error(), "no such file") || code.Short(out[2].Body) != "do 'c'" || out[2].Partly == "" {
		t.Errorf("got %v, %+v", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := python.Read(ctx, broken, make([]python.Source, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What a process prints is not trusted.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"body":[{"op":"do","line":1,"value":{"form":"call","func":{"form":"name","text":"f"}}}],"partly":""}`))
	f.Add([]byte("{}\n{}\n{}"))
	f.Add([]byte(`{"body":[{"op":"do","value":` + strings.Repeat(`{"form":"other","args":[`, 300) + strings.Repeat("]}", 300) + "}]}\n"))
	f.Fuzz(func(t *testing.T, printed []byte) {
		run := func(context.Context, string, []byte) ([]byte, error) { return printed, nil }
		out, _ := python.Read(t.Context(), run, []python.Source{{Text: []byte("f('x')"), Line: 3}, {Text: []byte("g()")}})
		if len(out) != 2 {
			t.Fatalf("%d programs", len(out))
		}
		for _, p := range out {
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := code.Decode(b, 0); err != nil {
				t.Fatalf("%v: %s", err, b)
			}
		}
	})
}

// One process reads several inputs. Each is read by a copy of it: one that ends takes nothing with it.
func TestSeveralInputs(t *testing.T) {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no Python:", err)
	}
	var program string
	_, _ = python.Read(t.Context(), func(_ context.Context, text string, _ []byte) ([]byte, error) {
		program = text
		return nil, nil
	}, []python.Source{{Text: []byte("x = 1")}})
	input := func(sources ...string) string {
		out := ""
		for _, s := range sources {
			out += fmt.Sprintf("%d 0\n%s", len(s), s)
		}
		return out + "-1 0\n"
	}
	cmd := exec.CommandContext(t.Context(), path, "-I", "-S", "-c", strings.Replace(program, "def read(source, above):", "def read(source, above):\n    if source == b'die':\n        os.kill(os.getpid(), 9)", 1))
	cmd.Stdin = strings.NewReader(input("x = 1", "die", "y = 2") + input() + input("z = 3"))
	out, err := cmd.Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) != 6 || lines[1] != "null" || lines[2] != "null" || !strings.Contains(lines[0], `"x"`) || !strings.Contains(lines[3], `"z"`) || lines[4] != "null" {
		t.Errorf("got %q, %v", lines, err)
	}
}
