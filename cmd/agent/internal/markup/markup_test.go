package markup

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func paint(sgr, text string) string { return "\x1b[" + sgr + "m" + text + "\x1b[0m" }

// stream gives a text in pieces, and returns its rows. Between the pieces it looks at the live ones.
func stream(text string, width, piece int, look func(rows, live []string)) []string {
	f := &Flow{Paint: paint, Copy: true}
	var all []string
	for i := 0; i < len(text); i += piece {
		all = append(all, f.Add(text[i:min(i+piece, len(text))], width)...)
		if look != nil {
			look(all, f.Live(width))
		}
	}
	return append(all, f.End(width)...)
}

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"a paragraph", "one two three four", 9, "one two|three|four"},
		{"a heading", "## Title\ntext", 20, "<1>Title</>|text"},
		{"strong, emphasis, code", "a **b c** d *e* `f*g` h", 40, "a <1>b c</> d <3>e</> <36>f*g</> h"},
		{"strong over two rows", "a **bb cc dd** e", 8, "a <1>bb cc</>|<1>dd</> e"},
		{"what is no markup", "2 * 3 ** 4 snake_case [x] a*b `c \\*d\\*", 60, "2 * 3 ** 4 snake_case [x] a*b `c *d*"},
		{"a link", "see [the page](https://example.com/x).", 60, "see <4>the page</><2> (https://example.com/x)</>."},
		{"a link that is its address", "[https://a.b](https://a.b)", 60, "<4>https://a.b</>"},
		{"lists", "- one two\n  - three\n10. four five", 9, "• one two|  • three|10. four|    five"},
		{"a quote", "> one two three", 9, "│ <2>one two</>|│ <2>three</>"},
		{"empty lines", "\n\na\n\n\n\nb\n\n", 9, "a||b"},
		{"a rule", "a\n---\nb", 9, "a|<2>─────────</>|b"},
		{"a table", "| a | b |\n|---|--:|\n| 1 | **2** |\n", 20, "<1>a</>  <1>b</>|<2>────</>|1  <1>2</>"},
		{"a column in the middle", "| a | mid | z |\n|---|:-:|---|\n| b | y | z |\n| c | four | |\n", 20, "<1>a</>  <1>mid</>   <1>z</>|<2>──────────</>|b   y    z|c  four"},
		{"a column of numbers", "| a | n |\n|:--|--:|\n| b | 10 |\n", 20, "<1>a</>   <1>n</>|<2>─────</>|b  10"},
		{"a table with wide characters", "|名|x|\n|-|-|\n|日本語|y|\n", 20, "<1>名</>      <1>x</>|<2>─────────</>|日本語  y"},
		{"cells that are wrapped", "|a|b|\n|-|-|\n|1|one two three|\n", 12, "<1>a</>  <1>b</>|<2>────────────</>|1  one two|   three"},
		{"no table", "| a | b |\ntext", 20, "| a | b ||text"},
		{"a table that is too narrow", "|aaa|bbb|ccc|\n|-|-|-|\n|1|2|3|\n", 8, "<1>aaa</>|  <1>bbb</>|  <1>ccc</>|1|  2|  3"},
		{"more cells than the head", "|a|b|\n|-|-|\n|1|2|3|\n", 30, "<1>a</>  <1>b</>|<2>───────</>|1  2  3"},
		{"code", "```go\nif x == \"a\" { // b\n\n\treturn 10\n}\n```\nafter", 40, "<2>  go, /copy 1</>|  <1>if</> x == <32>\"a\"</> { <2>// b</>||          <1>return</> <33>10</>|  }|after"},
		{"a long line of code", "```\nabcdefghij klm\n```", 8, "<2>  /copy…</>|  abcdef|» ghij|»  klm"},
		{"a long line of code with wide characters", "```\na 日本語 b\n```", 8, "<2>  /copy…</>|  a 日本|» 語 b"},
		{"a comment of several lines", "```c\n/* a\nb */ c\n```", 40, "<2>  c, /copy 1</>|  <2>/* a</>|  <2>b */</> c"},
		{"wide characters break anywhere", "日本語日本語", 7, "日本語|日本語"},
		{"hostile", "a\x1b[31mb \u202e **\x07x** \u2507", 60, `a\x1b[31mb \u{202e} <1>\x07x</> \u{2507}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(stream(tt.text, tt.width, len(tt.text), nil), "|")
			got = strings.ReplaceAll(got, "\x1b[0m", "</>")
			for _, code := range []string{"1", "2", "3", "4", "32", "33", "36"} {
				got = strings.ReplaceAll(got, "\x1b["+code+"m", "<"+code+">")
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Without colours the marks stay; without a screen so does all else.
func TestWithoutColours(t *testing.T) {
	text := "# A\n- **b** `c`\n\n```go\n\tif d\n\n\ne\n```\n"
	for _, tt := range []struct {
		width int
		want  string
	}{{40, "# A|• **b** `c`||  go, /copy 1|          if d|||  e"}, {0, "# A|- **b** `c`||```go|\tif d|||e|```"}} {
		f := &Flow{Copy: true}
		got := append(f.Add(text, tt.width), f.End(tt.width)...)
		if strings.Join(got, "|") != tt.want {
			t.Errorf("width %d: got %q, want %q", tt.width, got, tt.want)
		}
	}
}

const sample = `# What I changed

The test failed because **the clock was read twice**: once in ` + "`New`" + ` and once in ` + "`Ask`" + `, see [the issue](https://example.com/issues/12). Here is what I did, and why it matters for *you* in the long run.

1. Read the time once, in the constructor of the conversation, and hand it on.
2. A test that holds it:

` + "```go\nfunc TestClock(t *testing.T) {\n\tc := New(&Options{Now: func() time.Time { return time.Unix(0, 0) }})\n\tt.Errorf(\"age %v\", got) // a comment that is rather long, so that the line has to be cut somewhere\n}\n```" + `

| file | lines | what it does |
|---|---:|---|
| agent/ask.go | 12 | reads the time once and gives it to the turn, so that two steps of one turn never differ |
| agent/日本語.go | 120 | wide characters 👩‍👩‍👧 🇩🇪 👍🏽 |

> Note: the old field stays for one release. 旧字段保留一个版本，请注意这一点，不要删除它。

- second with ` + "`code`" + ` and **bold text that goes on for a while so that it has to be broken over two rows of the screen**

Done.
`

// Whatever the pieces, the rows are the same, no row is wider than the screen, and none changes.
func TestPieces(t *testing.T) {
	for _, width := range []int{119, 79, 40, 20} {
		want := strings.Join(stream(sample, width, len(sample), nil), "\n")
		for _, piece := range []int{1, 3, 7, 24, 50} {
			var before []string
			got := stream(sample, width, piece, func(rows, live []string) {
				for _, r := range append(rows[max(0, len(rows)-3):], live...) {
					if n := ui.Width(ansi.Strip(r)); n > width {
						t.Fatalf("width %d: %d columns: %q", width, n, r)
					}
				}
				if len(before) > 0 && rows[len(before)-1] != before[len(before)-1] {
					t.Fatalf("row %d changed", len(before)-1)
				}
				before = rows
			})
			if strings.Join(got, "\n") != want {
				t.Errorf("width %d, pieces of %d differ:\n%s\n---\n%s", width, piece, strings.Join(got, "\n"), want)
			}
		}
	}
}

var alphabet = []string{"|", "-", "a", "b c", "**", "`", "\n", "\n\n", "[", "](", ")", "# ", "> ", "- ", "```", "```go\n", "|---|\n", "日", "👩‍👩‍👧", "\t", "\\", " ", "*", "\x1b[31m", "é", "e\u0301", "🇩🇪",
	"\u200c", "\"", "/*", "*/", "//", "#", "'", "12", "if", "\r\n", "\r", "\xc3", "   "}

func random(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(40) {
		b.WriteString(alphabet[r.Intn(len(alphabet))])
	}
	return b.String()
}

func same(t *testing.T, text string, width int, pieces func() int) {
	t.Helper()
	one := stream(text, width, len(text)+1, nil)
	f := &Flow{Paint: paint, Copy: true}
	var all []string
	for i := 0; i < len(text); {
		n := min(max(pieces(), 1), len(text)-i)
		all = append(all, f.Add(text[i:i+n], width)...)
		for _, row := range f.Live(width) {
			if ui.Width(ansi.Strip(row)) > max(width, 4) {
				t.Errorf("live row %q is wider than %d of %q", row, width, text)
			}
		}
		i += n
	}
	for _, r := range ansi.Strip(strings.Join(all, "")) {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%q reaches the terminal", r)
		}
	}
	if all = append(all, f.End(width)...); strings.Join(all, "\n") != strings.Join(one, "\n") {
		t.Errorf("%q at %d:\n%q\n%q", text, width, one, all)
	}
}

func TestRandomPieces(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		same(t, random(r), 10+r.Intn(40), func() int { return 1 + r.Intn(5) })
		if t.Failed() {
			return
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add(sample[:300], 40, 3)
	f.Add("| a | b |\n|---|---|\n| `x|y` | **z** |\n\n```c\n/* \"a\n*/ 12\n```\n", 20, 1)
	f.Fuzz(func(t *testing.T, text string, width, piece int) {
		if len(text) > 600 || width < 10 || width > 200 {
			return
		}
		same(t, text, width, func() int { return piece % 50 })
	})
}

// A screen that is resized in the middle of anything shows the rest at its new width.
func TestResize(t *testing.T) {
	f := &Flow{Paint: paint, Copy: true}
	widths := []int{79, 20, 40}
	for i := 0; i < len(sample); i += 10 {
		width := widths[i/10%3]
		for _, row := range append(f.Add(sample[i:min(i+10, len(sample))], width), f.Live(width)...) {
			if n := ui.Width(ansi.Strip(row)); n > 79 {
				t.Fatalf("%d columns: %q", n, row)
			}
		}
	}
}

// The rows of a long line of code begin with a mark after the first, and are together the line.
func TestLongCode(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 2000 {
		line := "x"
		for range r.Intn(30) {
			line += []string{" ", "  ", "if", "日本", "(a, b)", "é", "\"text\"", strings.Repeat("long", 6)}[r.Intn(8)]
		}
		line = strings.TrimRight(line, " ")
		width := 14 + r.Intn(40)
		rows := stream("```go\n"+line+"\n```", width, 5, nil)[1:]
		for i, row := range rows {
			lead := "» "
			if i == 0 {
				lead = "  "
			}
			text, ok := strings.CutPrefix(ansi.Strip(row), lead)
			if !ok || ui.Width(text)+2 > width {
				t.Fatalf("row %d of %q at %d is %q", i, line, width, row)
			}
			rows[i] = text
		}
		if got := strings.Join(rows, ""); got != line {
			t.Fatalf("at %d, %q has the rows\n%s", width, line, strings.Join(rows, "\n"))
		}
	}
}

// A block of code is kept as it came. So it is without a screen.
func TestBlocks(t *testing.T) {
	for _, width := range []int{10, 0} {
		testBlocks(t, width)
	}
}

func testBlocks(t *testing.T, width int) {
	t.Helper()
	f := &Flow{Paint: paint, Copy: true}
	text := "```sh\necho \x1b[m 'a\t**b**'\r\n\n```\nx\n~~~\n```\nno end"
	for i := range len(text) {
		f.Add(text[i:i+1], width)
		f.Live(width)
	}
	f.End(width)
	one, ok, n := f.Block(1)
	two, ok2, _ := f.Block(2)
	if one != "echo \x1b[m 'a\t**b**'\r\n\n" || !ok || two != "```\nno end" || !ok2 || n != 2 {
		t.Errorf("got %q, %q of %d", one, two, n)
	}
	if _, ok, _ := f.Block(3); ok {
		t.Error("there is a third block")
	}
	f.Add("```\n"+strings.Repeat("x", maxBlock+1)+"\n```\n", width)
	if text, ok, n := f.Block(3); text != "" || ok || n != 3 {
		t.Errorf("a block that is too long: %d bytes are kept", len(text))
	}
	for range maxBlocks + 5 {
		f.Add("```\nx\n```\n", width)
	}
	if _, ok, n := f.Block(1); ok || n != maxBlocks+8 {
		t.Errorf("block 1 is kept of %d", n)
	}
}

// hostile returns texts of about n bytes that a careless reader takes long for.
func hostile(n int) map[string]string {
	return map[string]string{
		"backticks": strings.Repeat("`", n), "brackets": strings.Repeat("[", n), "stars": strings.Repeat("**", n/2), "tick word": strings.Repeat("`a ", n/3),
		"links": strings.Repeat("[a](b", n/5), "one word": strings.Repeat("x", n), "spaces": strings.Repeat(" ", n), "quotes": strings.Repeat("> ", n/2),
		"columns":    "|" + strings.Repeat("a|", n/2) + "\n|" + strings.Repeat("-|", n/2) + "\n|" + strings.Repeat("b|", n/2) + "\n",
		"table rows": "|a|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", n/6), "code line": "```\n" + strings.Repeat("x ", n/2), "code word": "```go\n" + strings.Repeat("x", n),
		"strong": "**" + strings.Repeat("word ", n/5), "marks": "e" + strings.Repeat("\u0301", n/2), "joiners": strings.Repeat("👩\u200d", n/7), "quote": "```go\n\"" + strings.Repeat("\\", n),
		"lists": strings.Repeat("- ", n/2), "lists and quotes": strings.Repeat("> - 1. ", n/7), "a deep list": strings.Repeat(strings.Repeat(" ", 99)+"- x\n", n/103),
		"code in quotes": strings.Repeat("> ```\n", n/6), "heads of tables": strings.Repeat("|a|b|\n", n/6), "headings": strings.Repeat("# ", n/2),
		"a row of columns": "|a|\n|-|\n" + strings.Repeat("|"+strings.Repeat("b|", 2000)+"\n", max(n/4000, 1)), "links in links": strings.Repeat("[", n/2) + strings.Repeat("](x)", n/8),
		"wide code": "```\n" + strings.Repeat("字 ", n/4), "marks of code": "```c\n" + strings.Repeat("/*\"", n/3),
		"lines": strings.Repeat("\n", n), "stars and words": strings.Repeat("*a *b ", n/6),
	}
}

// Whatever a model writes, time is linear: BenchmarkHostile measures it. What is not finished stays small.
func TestHostile(t *testing.T) {
	for name, text := range hostile(20_000) {
		live := 0
		stream(text, 79, 100, func(_, rows []string) { live = max(live, len(rows)) })
		if most := map[bool]int{false: 200, true: maxLive * maxTable / 79}[name == "a row of columns"]; live > most {
			t.Errorf("%s: %d live rows", name, live)
		}
	}
}

// Half a megabyte of each text is shown in time, in rows that fit. Code that looked at the rest of the text for each character would take
// hours.
func TestBombs(t *testing.T) {
	for name, text := range hostile(500_000) {
		for _, row := range stream(text, 79, 4096, nil) {
			if ui.Width(ansi.Strip(row)) > 79 {
				t.Errorf("%s: a row is too wide: %.200q", name, row)
				break
			}
		}
	}
}

func BenchmarkRows(b *testing.B) {
	text := strings.Repeat(sample, 10)[:4000]
	for _, piece := range []int{4, 24} {
		b.Run(fmt.Sprint(piece), func(b *testing.B) {
			for b.Loop() {
				f := &Flow{Paint: paint, Copy: true}
				for i := 0; i < len(text); i += piece {
					f.Add(text[i:min(i+piece, len(text))], 79)
					f.Live(79)
				}
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, n := range []int{100_000, 200_000} {
		for name, text := range hostile(n) {
			b.Run(fmt.Sprint(name, " ", n), func(b *testing.B) {
				for b.Loop() {
					stream(text, 79, 100, func(_, _ []string) {})
				}
			})
		}
	}
}
