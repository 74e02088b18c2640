package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// shapes are documents that the scanner reads itself.
var shapes = []string{
	// maps
	"a: b\n", "a: b", "a: b\r\nc: d\r\n", "# c\n\na: b # c\n# d\n", "  a: b\n  c: d\n", "a: b\na: c\n", "a : b\n", "a: b  \t\nc:\td\n", "a: b \t # c\n",
	"a:\n  b:\n    c:\n      d: e\n  f: g\nh: i\n", "a: # b\n  c: d\n", "a: #c\n", "a:\n  b\n  c\nd:\n\n  # e\n  f\n", "é: ü\nb: 名\n名: {é: 1, ü: 2}\n", "a: 😀 b\n😀: [😀, 名]\n", "a: \ufffd\n",
	"long: " + strings.Repeat("word ", 400) + "\n" + strings.Repeat("k", 1100) + ": v\n",
	"name: x\ndescription: |\n  One. Two: three.\n\n  - four\nlicense: MIT\nallowed-tools: Read, Bash(git:*)\nmetadata:\n  author: é\n  version: \"1.0\"\n",

	// lists
	"a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n", "- a\n- b\n", "- - a\n  - b\n- - c\n", "- a: b\n  c: d\n- e: f\n", "-\n  a: b\n-\n- c\n", "a:\n-\n-\nb: c\n",
	"a:\n- b: c\n  d:\n  - e\n  - f: g\n- h\n", "a:\n  - b\n   c\n  - d\n", "-   a: b\n    c: d\n", "- # b\n  c\n", "a:\n- 'b'\n- \"c\" # d\n- [e]\n", "a:\n- b\n - c\n", "- a\n - b\n",

	// plain texts
	"a: b\n c\n  d\n\n e\n\n\n f # g\nh: i\n", "a: b:c\nd: e#f\n", "-a: -b\n", "a: 1.10\nb: no\nc: 2020-01-01\nd: 0x1_0\n", "a:\nb: ~\nc: null\nd: Null\ne: NULL\nf: nULL\ng: ''\n", "a: b\n  - c\n", "a: b\n\n  # c\nd: e\n",

	// texts in quotes
	"a: 'x'\nb: \"y\"\n'c': 'it''s'\n\"d e\" : \"f: g # h\"\n", "a: 'x\n  y\n\n  z'\nb: \"x \n\n\n  y\"\n", "a: \"\"\nb: ''\n", "a: \"x\ny\nz\"\n", "a: 'x\ty'\n", "'<<': a\n",
	`a: "\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\P\x41\u00e9\U0001F600"` + "\n", "a: \"b \\\n  c\\\n\n  d\"\n", "a: \"\\\td\"\n",

	// block texts
	"a: |\n  b\n", "a: |\n  b", "a: |\n  b\n   c\n\n\n  d\ne: f\n", "a: |-\n  b\n\n", "a: |+\n  b\n\n\nc: d\n", "a: |2\n   b\n  c\n", "a: |-1\n  b\n", "a: |1-\n  b\n", "a: |\n\n\n  b\n",
	"a: >\n  b\n  c\n\n  d\n   e\n   f\n\n  g\n", "a: >-\n  b\n  c\n", "a: >+\n  b\n\n", "a: >\n\n  b\n\n\n  c\n", "a: >\n  b\n  \tc\n", "a: |\nb: >\nc: |+\nd: e\n", "a: |+\n\n\nb: c\n", "a: | # c\n  # d\n",
	"a: |\n  b\n # c\nd: e\n", "a: >\r\n  b\r\n  c\r\n\r\n  d\r\n", "a: |\r\n  b\r\n", "a:\n  |\n  b\n", "a:\n  - |\n   b\n  - >\n    c\n", "a: |\n  b\n    \n  c\n", "a: >\n  b\n    \n  c\n",

	// brackets
	"a: [b, c]\n", "a: []\nb: {}\n", "a: [b, c, ]\n", "a: ['b', \"c\", d e, 1]\n", "a: [[b], [c, [d]], {e: f}]\n", "a: {b: c, 'd': e, \"f\":g, h: [i]}\n", "a: {\"b\":{\"c\":[\"d\",\"e\"]}}\n", "a: [\n  b,\n  c\n]\nd: e\n",
	"a:\n  {\n    \"b\": {\n      \"c\": \"d\"\n    }\n  }\n", "a: { b: c , d : e }\n", "a: [b c , d:e, -f]\n", "a: ['b\n  c', d]\n", "a: [b] # c\n", "a: {b: ~, c: null}\n", "a: [b\n, c\n]\n", "a:\n  [b,\nc]\nd: e\n", "a: [b#c]\n",
	"a: {a: b, c}\n", "a: {a}\n", "a: [a: b]\n", "a: {b: , c: d}\n", "a: {b:}\n", "a: {b:c}\n", "a: {b: c\n\n}\n", "a: {\nb: c}\n", "a: [\"b\":c, d: [e: f], {g: h}]\n", "a: {[b], {c: d}, e}\n", "a: {b\n, 'c\n d'}\n",
	"a: [[[[[[[[[[[[[[b: c]]]]]]]]]]]]]]\n", "a: [[[[[[[[[[[[[[[b]]]]]]]]]]]]]]]\n",
}

// neighbours are documents near those, which the scanner declines: the library refuses most of them.
var neighbours = []string{
	// no map, or more than one document
	"", "\n", "# a\n", "a", "a\nb: c\n", "[a, b]\n", "{a: b}\n", "|\n a\n", "'a'\n", "%YAML 1.2\n---\na: b\n", "---\na: b\n", "a: b\n---\nc: d\n", "a: b\n...\n", "a: \"b\n--- c\"\n", "a: \"b\\\n...\n c\"\n", "---a: b\n", "a: [b,\n---\n]\n",

	// structure
	"a: b: c\n", "a: 'x'y\n", "a: 'x': y\n", "a: [b]: c\n", "\"a\":b\n", "a: - b\n", "a: b\n- c\n", "- a\nb: c\n", "a:\n  - b\n c\n", "a: b\n  c: d\n", "a: b # c\n  d\n", "a:b\n", ": a\n", "a: : b\n", "a: ?b\n", "- ? a\n", "? a\n: b\n",
	"a: b\n c\n d: e\n", "- a: b\n c: d\n", "a:\n    b: c\n  d: e\n", "a: @b\n", "a: `b\n", "a: %b\n", "a: ]\n", "a: ,\n", "a: &b c\n", "a: *b\n", "a: !b c\n", "<<: a\n", "- <<:", "- <<: a\n", "a: <<\n", "a: [<<]\n", strings.Repeat("- ", 17) + "a\n",

	// tabs and other characters
	"a:\n\tb: c\n", "a:\n \tb\n", "a: b\n\tc\n", "a: b\n \n\t\nc: d\n", "-\ta\n", "- \ta: b\n", "a: |\n\tb\n", "a: |\n  b\n\tc\n", "a: [\n\tb]\n",
	"a: b\rc: d\r", "a: b\r\r\n", "a: \x00\n", "a: \x7f\n", "a: \x85\n", "a: b\u0085c: d\n", "a: b\u2028\n", "\ufeffa: b\n", "a: \ufeff\n", "a: \xff\n", "a: \u0080\n",

	// texts in quotes
	"a: \"\\q\"\n", "a: \"\\ud800\"\n", "a: \"\\U00110000\"\n", "a: \"\\x4\"\n", "a: \"b\n", "a: 'b\n", "a: \"b\" c\n", "a: \"b\"#c\n", "a: 'b\nc' : d\n", "'a\nb': c\n", "- \"\\q: b\": c\n", "a:\n  \"\\x\": c\n", "a:\n  \"\\\nx\": c\n",

	// block texts
	"a: |\n   \n  b\n", "a: |\n  b\n ", "a: |\n  b\n  ", "a: |\n  b\n   ", "a: |+\n  ", "a: |\n b\n\n   ", "a: >\n  b\nc\n", "a: |0\n b\n", "a: |++\n b\n", "a: |#c\n b\n", "a: | b\n", "a: |3\n  b\n", "a: |\n  b\n c\n",

	// brackets
	"a: {\"b\":c}d\n", "a: [a, , b]\n", "a: [,]\n", "a: [b: ]\n", "a: [b: c: d]\n", "a: ['b\n c': d]\n", "a: [[b]: c]\n", "a: {[b]: c}\n", "a: {b [c]}\n", "a: [b\n: c]\n", "a: {b\n: c}\n", "a: {'b\n c': d}\n", "a: [b\n c]\n", "a: [b # c\n]\n",
	"a: [b]#c\n", "a: [-]\n", "a: [- b]\n", "a: [?]\n", "a: [b\n", "  a: {\n b: c}\n", "a: [|]\n", "a: [[[[[[[[[[[[[[[b: c]]]]]]]]]]]]]]]\n", "a: [[[[[[[[[[[[[[[[b]]]]]]]]]]]]]]]]\n",
}

// checkReader compares what r makes of src with what the library makes of it, and reports whether
// the scanner took src.
func checkReader(t *testing.T, r *Reader, src []byte, limit int) bool {
	t.Helper()
	if surrogates.Match(src) { // see TestSurrogates
		return false
	}
	odd := func(c rune) bool { return c > '~' || c < ' ' && c != '\t' && c != '\n' }
	got := r.read(string(src), limit, !bytes.ContainsFunc(src, odd))
	if got == nil {
		if r.bad {
			checkBad(t, src, limit)
		}
		return false
	}
	want, err := load(src, limit)
	if err != nil {
		t.Fatalf("%q is taken, the library says %v", src, err)
	}
	if diff := difference(got, want); diff != "" {
		t.Fatalf("%q: %s", src, diff)
	}
	return true
}

// checkBad checks that the library refuses what the scanner calls no plain text.
func checkBad(t *testing.T, src []byte, limit int) {
	t.Helper()
	var ye *Error
	if _, err := load(src, limit); !errors.As(err, &ye) || ye.Reason != Syntax {
		t.Fatalf("%q has a wrong plain text, the library says %v", src, err)
	}
}

// difference says where two trees differ first.
func difference(got, want *Node) string {
	if got.Kind != want.Kind || got.Value != want.Value || got.Quoted != want.Quoted || got.Line != want.Line || got.Col != want.Col ||
		len(got.Items) != len(want.Items) || len(got.Pairs) != len(want.Pairs) || (got.Items == nil) != (want.Items == nil) || (got.Pairs == nil) != (want.Pairs == nil) {
		return fmt.Sprintf("got %+v, want %+v", *got, *want)
	}
	for i := range got.Items {
		if d := difference(got.Items[i], want.Items[i]); d != "" {
			return d
		}
	}
	for i := range got.Pairs {
		if d := difference(got.Pairs[i].Key, want.Pairs[i].Key); d != "" {
			return d
		}
		if d := difference(got.Pairs[i].Value, want.Pairs[i].Value); d != "" {
			return d
		}
	}
	return ""
}

func TestReaderTakes(t *testing.T) {
	var r Reader
	for _, src := range shapes {
		if !checkReader(t, &r, []byte(src), defaultMaxDepth) {
			_, err := load([]byte(src), defaultMaxDepth)
			t.Errorf("%q is not taken; the library says %v", src, err)
		}
	}
}

func TestReaderDeclines(t *testing.T) {
	var r Reader
	for _, src := range neighbours {
		if checkReader(t, &r, []byte(src), defaultMaxDepth) {
			t.Errorf("%q is taken", src)
		}
	}
}

// A plain text that needs quotes is reported where that is asked for, and only there.
func TestQuick(t *testing.T) {
	var r Reader
	for src, want := range map[string]bool{
		"a: b: c\n": true, "a: b:\n": true, "a: b:\tc\n": true, "x: y\n- a: b : c\n": false, "a:\n  - b: c: d\n": true,
		"a: b: c\nd: *e\n": true, "d: *e\na: b: c\n": false, "a: b\n  c: d\n": false, "a: 'b': c\n": false, "a: b:c # d: e\n": false,
		"a: , b\n": true, "a: @b\n": true, "a: `b`\n": true, "a: %b\n": true, "a: ]\n": true, "a: }\n": true, "a:\n  - @b\n": true, "a:\n  @b\n": true, "@a: b\n": false, "a: [@b]\n": false, "a: &b c\n": false,
	} {
		if _, err := r.Parse([]byte(src), &Options{Quick: true}); errors.Is(err, ErrPlain) != want {
			t.Errorf("%q: got %v, want ErrPlain %v", src, err, want)
		}
		if _, err := r.Parse([]byte(src), nil); errors.Is(err, ErrPlain) {
			t.Errorf("%q: got %v without Options.Quick", src, err)
		}
		checkReader(t, &r, []byte(src), defaultMaxDepth)
	}
}

// The texts of a document outlive the next one, and a Reader goes on after what it declines.
func TestReaderReuse(t *testing.T) {
	var r Reader
	root, err := r.Parse([]byte("a: b\nc: >\n  d\n  e\nf: \"\\x41\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range root.Pairs {
		texts = append(texts, p.Key.Value, p.Value.Value)
	}
	for _, src := range []string{"x: [y\n", "x: &y z\n", "{x: y}", "x: >\n  y\n  z\n"} {
		got, gotErr := r.Parse([]byte(src), nil)
		want, wantErr := load([]byte(src), defaultMaxDepth)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || want != nil && difference(got, want) != "" {
			t.Errorf("%q: got %v, %v, want %v, %v", src, got, gotErr, want, wantErr)
		}
	}
	if want := []string{"a", "b", "c", "d e\n", "f", "A"}; !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
}

// FuzzReader holds the scanner against the library: the same trees, and nothing taken that the
// library refuses.
func FuzzReader(f *testing.F) {
	for _, src := range slices.Concat(shapes, neighbours) {
		f.Add([]byte(src), uint8(defaultMaxDepth))
	}
	var r Reader
	f.Fuzz(func(t *testing.T, src []byte, limit uint8) {
		checkReader(t, &r, src, int(limit)+1)
	})
}

// surrogates are two escapes for one character, as JSON has them. The library refuses them.
var surrogates = regexp.MustCompile(`(?i)\\u[d][89ab]..\\u[d][c-f]`)

func TestSurrogates(t *testing.T) {
	for src, want := range map[string]string{`a: "x\ud83d\uDE00y"`: "x😀y", `a: {"b": "\ud83d\udc19"}`: "", `a: "\\ud83d\\ude00"`: `\ud83d\ude00`, `a: '\ud83d\ude00'`: `\ud83d\ude00`} {
		n, err := Parse([]byte(src), nil)
		if err != nil || n.Pairs[0].Value.Value != want {
			t.Errorf("%s: got %+v, %v", src, n, err)
		}
	}
	for _, src := range []string{`a: "\ude00\ud83d"`, `a: "\ud83d"`, `a: "\ud83dx"`, `a: "\ud83d\u0041"`, `a: "\ud83d\ude0"`, `a: "\ud83d\`} {
		if n, err := Parse([]byte(src), nil); err == nil {
			t.Errorf("%s: got %+v", src, n)
		}
	}
}

// Damaged documents are read alike, or declined.
func TestReaderMutations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	seeds := slices.Concat(shapes, neighbours)
	parts := []string{" ", "  ", "\n", "\n\n", "\r\n", "\t", ":", ": ", "- ", "-", "#", " #", "'", "\"", "[", "]", "{", "}", ",", ", ", "|", ">", "|\n", "+", "2", "\\", "é", "😀", "a", "null", "---", "<<", "\n ", "\n- ", "\n  # c\n", "|-\n", ">2\n", "''", "\\\n", "\\u00e9"}
	var r Reader
	taken := 0
	for range 20_000 {
		src := []byte(seeds[rnd.IntN(len(seeds))])
		if len(src) > 200 {
			continue
		}
		for range 1 + rnd.IntN(4) {
			src = mutate(rnd, src, seeds, parts)
		}
		if utf8.Valid(src) && checkReader(t, &r, src, defaultMaxDepth) {
			taken++
		}
	}
	if taken < 2000 {
		t.Errorf("only %d of the damaged documents are taken", taken)
	}
}

// mutate changes one place of src.
func mutate(rnd *rand.Rand, src []byte, seeds, parts []string) []byte {
	i := rnd.IntN(len(src) + 1)
	j := min(len(src), i+rnd.IntN(4))
	switch rnd.IntN(4) {
	case 0: // remove
		return slices.Delete(src, i, j)
	case 1: // repeat
		return slices.Insert(src, i, slices.Clone(src[i:j])...)
	case 2: // append another document
		if other := seeds[rnd.IntN(len(seeds))]; len(other) < 200 {
			return append(src, other...)
		}
	}
	return slices.Insert(src, i, []byte(parts[rnd.IntN(len(parts))])...)
}

// The scanner reads nearly all manifests in the folder that AGENT_SKILLS_CORPUS names.
func TestReaderCorpus(t *testing.T) {
	root := os.Getenv("AGENT_SKILLS_CORPUS")
	if root == "" {
		t.Skip("AGENT_SKILLS_CORPUS names no folder of real skills")
	}
	var r Reader
	all, taken, invalid := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(d.Name(), "skill.md") {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		src := frontMatter(file)
		if src == nil || !utf8.Valid(src) {
			return nil
		}
		all++
		if checkReader(t, &r, src, defaultMaxDepth) {
			taken++
		} else if _, err := load(src, defaultMaxDepth); err != nil {
			invalid++
			t.Logf("%s: %v", path, err)
		} else {
			t.Logf("%s: left to the library", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d front matters %d are taken, %d are not valid", all, taken, invalid)
	if taken*100 < (all-invalid)*98 || all == 0 {
		t.Errorf("of %d valid front matters only %d are taken", all-invalid, taken)
	}
}

// frontMatter returns what stands between the first two lines of three hyphens, nil if there is none.
func frontMatter(file []byte) []byte {
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	first, rest, ok := bytes.Cut(file, []byte{'\n'})
	if !ok || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil
	}
	for end := 0; end < len(rest); {
		line, _, _ := bytes.Cut(rest[end:], []byte{'\n'})
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:end]
		}
		end += len(line) + 1
	}
	return nil
}

// frontMatters are front matters of about 400 bytes in the shapes and shares of real ones.
func frontMatters() [][]byte {
	const words = "Reads, fills and merges forms; use it whenever someone mentions a form, a table or a report that has to be filled in. "
	long := strings.TrimSpace(strings.Repeat(words, 2))
	lines := strings.ReplaceAll(long, ". ", ".\n  ")
	descriptions := []struct {
		share int
		text  string
	}{
		{46, long}, {30, "|\n  " + lines}, {17, `"` + long + `"`}, {4, ">\n  " + lines}, {3, "'" + long + "'"},
	}
	var all [][]byte
	for _, d := range descriptions {
		for i := range d.share {
			rest := "license: MIT\nversion: 1.2.0\nallowed-tools: Read, Grep, Bash(git:*)\n"
			if i%4 == 0 {
				rest = "license: MIT\nmetadata:\n  author: someone\n  version: \"1.0\"\n  tags:\n    - forms\n    - tables\n"
			}
			if i%12 == 1 {
				rest = "homepage: https://example.org\nmetadata: {\"tool\": {\"emoji\": \"x\", \"requires\": {\"bins\": [\"curl\", \"jq\"]}}}\n"
			}
			all = append(all, fmt.Appendf(nil, "name: form-%d\ndescription: %s\n%s", i, d.text, rest))
		}
	}
	return all
}

func BenchmarkParse(b *testing.B) {
	benchmark(b, func(src []byte) (*Node, error) { return Parse(src, &Options{MaxSigns: 4096}) })
}

func BenchmarkReader(b *testing.B) {
	var r Reader
	o := &Options{MaxSigns: 4096}
	benchmark(b, func(src []byte) (*Node, error) { return r.Parse(src, o) })
}

func BenchmarkLibrary(b *testing.B) {
	benchmark(b, func(src []byte) (*Node, error) { return load(src, defaultMaxDepth) })
}

// benchmark measures one document a round.
func benchmark(b *testing.B, parse func(src []byte) (*Node, error)) {
	all := frontMatters()
	size := 0
	for _, src := range all {
		size += len(src)
	}
	b.SetBytes(int64(size / len(all)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := parse(all[i%len(all)]); err != nil {
			b.Fatal(err)
		}
	}
}

// The Reader reads each of the usual documents with two allocations at most: the source as a
// string, and the texts that do not stand in it.
func TestReaderAllocations(t *testing.T) {
	var r Reader
	for _, src := range frontMatters() {
		if r.read(string(src), defaultMaxDepth, false) == nil {
			t.Fatalf("%q is declined", src)
		}
		if n := testing.AllocsPerRun(5, func() { _, _ = r.Parse(src, nil) }); n > 2 {
			t.Errorf("%q: %v allocations", src, n)
		}
	}
}
