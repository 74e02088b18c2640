package scan

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// What would take a grammar, or the flow behind it, without end ends, and a file of which something was not read says so.
func TestScanBombs(t *testing.T) {
	needPython(t)
	many := make([]string, 0, 2*maxFiles+200)
	for i := range maxFiles + 100 {
		many = append(many, fmt.Sprintf("f%d", i), "")
	}
	nested := zipped("x.sh", "curl https://a.sample.net")
	for range 30 {
		nested = zipped("x.zip", nested)
	}
	repeat := func(unit string) string { return strings.Repeat(unit, 100_000/len(unit)) }
	for _, test := range []struct {
		name, text string
		unread     bool
	}{
		{"a.sh", repeat("$("), true}, {"a.sh", repeat("a|"), true}, {"a.sh", "a=b\n" + strings.Repeat("a=$a$a\n", 5000), true}, {"a.sh", "f() { f | f; }\n" + repeat("f;"), false},
		{"b.sh", "echo " + repeat("{a,b}"), false}, {"c.sh", "echo {1..999999999}{1..999999999}", false}, {"d.sh", "printf '" + repeat("%s") + "' a", false},
		{"a.py", repeat("("), true}, {"a.py", repeat("a="), true}, {"a.py", "x=[" + repeat("1,") + "]\nx=[x,x]*9**99", false}, {"a.py", "x='a'\n" + strings.Repeat("x=f'{x}{x}'\n", 3000), false},
		{"b.py", "x=range(10**9)\ny=''.join(chr(c^1) for c in x)", false}, {"c.py", "x=(10**9).to_bytes(10**9,'big')\n" + repeat("x.a()\n"), false},
		{"a.js", repeat("["), true}, {"a.js", repeat("a=>"), true}, {"a.js", "let x='a'\n" + strings.Repeat("x=x+x\n", 5000), false}, {"a.js", "f" + repeat("()"), true},
		{"a.ts", repeat("<a>"), true}, {"a.ts", repeat("{a:"), true}, {"a.tsx", repeat("<a>"), true},
		{"a.yaml", "command: " + repeat("["), false}, {"a.yaml", "run: &a [x]\n" + repeat("b: *a\n"), false}, {"package.json", `{"scripts":` + repeat(`{"a":`), true}, {"a.ipynb", repeat(`{"cells":[`), true},
		{"pyproject.toml", "dependencies = [" + repeat(`"a",`), false}, {"Makefile", repeat("a:\n\t$("), false}, {"a.ps1", repeat("a("), true}, {"a.pl", repeat("qx("), true},
		{"a.md", repeat("```sh\na|\n"), false}, {"b.md", repeat("`a b` "), false}, {"c.md", repeat("<!--"), false}, {"SKILL.md", "---\n" + repeat("a: {") + "\n---\n", false},
		{"a.html", repeat("<script>("), false}, {"a.svg", repeat("<svg>"), false}, {"a.rels", repeat("<Relationship "), false},
		{"a.zip", zipped(many...), true}, {"b.zip", nested, true}, {"c.zip", zipped("x.txt", strings.Repeat("\x00", 40<<20)), true}, {"a.docx", zipped("word/document.xml", repeat("<w:p>")), false},
		{"a.gz", "\x1f\x8b\x08" + repeat("\x00"), true}, {"a.txt", "PK\x05\x06" + repeat("PK\x05\x06"), true},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		r, err := Scan(ctx, fstest.MapFS{test.name: {Data: []byte(test.text)}}, &Options{Python: runPython3})
		stop()
		short := test.text[:min(len(test.text), 30)]
		if err != nil {
			t.Errorf("%s, %q: %v", test.name, short, err)
			continue
		}
		unread := ""
		for _, f := range r.Files {
			unread += f.Unread
		}
		if test.unread && unread == "" {
			t.Errorf("%s, %q: all of it is read", test.name, short)
		}
	}
}

// A large file is held once: it is not read into a buffer that grows.
func TestLargeFile(t *testing.T) {
	file := fstest.MapFS{"a.bin": {Data: make([]byte, maxFile+1)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Scan(t.Context(), file, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > maxFile+maxFile/4 {
		t.Errorf("a file of which %d bytes are read takes %d bytes of memory", maxFile, took)
	}
}

// FuzzScan scans a file under each name that has a reader of its own.
func FuzzScan(f *testing.F) {
	names := strings.Fields("SKILL.md package.json a.yaml pyproject.toml Makefile Dockerfile a.ps1 a.html a.docx a.zip .envrc a.service a.pth a.rels requirements.txt a.ipynb .mcp.json a.tar.gz plain")
	for i, text := range []string{"---\na: b\n---\n`curl x`", `{"scripts": {"install": "a"}}`, "run: a | b", "[project]\ndependencies = [\"a\"]", "a:\n\tb $(c)", "RUN a \\\n b", "iex (a).b('c')", "<script>a()</script>",
		zipped("a.sh", "b"), "ExecStart=a b", "import a", "<Relationship Type=\"a/b\" Target=\"c\" TargetMode=\"External\"/>", tarred("a", "b")} {
		f.Add(i, text)
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		r, err := Scan(t.Context(), fstest.MapFS{names[uint(i)%uint(len(names))]: {Data: []byte(text)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, x := range r.Facts {
			for _, from := range x.From {
				if from < 0 || from >= len(r.Facts) || from == n {
					t.Errorf("fact %d is made from %d", n, from)
				}
			}
		}
	})
}
