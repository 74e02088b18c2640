package yamlnode

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRefuses(t *testing.T) { // security 2.1 #4, #5, #6, #8, #9
	for _, row := range []struct {
		name, src string
		reason    Reason
		line, col int
	}{
		{"an anchor", "a: b\nc: &x d\n", Anchor, 2, 4},
		{"an alias", "a: *x\n", Anchor, 1, 4},
		{"a merge key", "<<: {a: b}\n", Anchor, 1, 1},
		{"an alias to itself", "a: &a [*a]\n", Anchor, 1, 4},
		{"a tag", "é: !x b\n", Tag, 1, 4},
		{"a core tag", "a: !!binary b\n", Tag, 1, 4},
		{"17 levels", strings.Repeat("[", 17) + strings.Repeat("]", 17), Depth, 1, 17},
		{"100,000 levels", strings.Repeat("[", 100_000), Depth, 1, 257},
		{"two documents", "a: b\n---\nc: d\n", Documents, 0, 0},
		{"an open text", "名: \"abc\nb: c\n", Syntax, 1, 4},
		{"an open list", "a:\n  b: [c\n", Syntax, 2, 6},
		{"a colon", "é: x: y\n", Syntax, 1, 5},
		{"a tab", "a:\n\tb: c\n", Syntax, 2, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			n, err := Parse([]byte(row.src), nil)
			var e *Error
			if n != nil || !errors.As(err, &e) {
				t.Fatalf("got %v, %v", n, err)
			}
			if e.Reason != row.reason || e.Line != row.line || e.Col != row.col || e.Message == "" {
				t.Errorf("got %+v, want reason %d at %d:%d", e, row.reason, row.line, row.col)
			}
		})
	}
}

func TestParseEmpty(t *testing.T) {
	for _, src := range []string{"", "\n\n", "# only\n"} {
		if _, err := Parse([]byte(src), nil); !errors.Is(err, ErrEmpty) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestParseDepth(t *testing.T) {
	src := []byte("a: [[b]]\n")
	if _, err := Parse(src, &Options{MaxDepth: 3}); err != nil {
		t.Error(err)
	}
	if _, err := Parse(src, &Options{MaxDepth: 2}); err == nil {
		t.Error("three levels pass a limit of two")
	}
}

// A document of too many values is refused before the library makes anything of it.
func TestParseSigns(t *testing.T) {
	src := []byte("a: [b, {c: d}]\ne:\n- f\n- g-h\n")
	const signs = 8 // three colons, "[", "{", ",", two "- "
	if got := Signs(src); got != signs {
		t.Errorf("%d signs, want %d", got, signs)
	}
	if _, err := Parse(src, &Options{MaxSigns: signs}); err != nil {
		t.Error(err)
	}
	var e *Error
	if _, err := Parse(src, &Options{MaxSigns: signs - 1}); !errors.As(err, &e) || e.Reason != Size {
		t.Errorf("got %v", err)
	}
	big := []byte("a: [" + strings.Repeat("b,", 30_000) + "]")
	if n := testing.AllocsPerRun(5, func() { Parse(big, &Options{MaxSigns: 4096}) }); n > 10 {
		t.Errorf("refusing makes %v allocations", n)
	}
}

// No way of writing has more nodes than its signs say.
func FuzzSigns(f *testing.F) {
	for _, s := range []string{"a: b", "- - - a", "[a,b,[c],{d: e}]", "? a\n? b\n", "{a, b: c, \"d\":e, ? f}", "a:\n- b\n-\tc\n-\n", "[a: b, ? c : d, {}]", "--- a", "- ? - : -"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !utf8.Valid(src) {
			return
		}
		n, err := Parse(src, nil)
		if err != nil {
			return
		}
		if got, most := count(n), 2*Signs(src)+1; got > most {
			t.Errorf("%q has %d nodes, at most %d by its signs", src, got, most)
		}
	})
}

func count(n *Node) int {
	all := 1
	for _, item := range n.Items {
		all += count(item)
	}
	for _, kv := range n.Pairs {
		all += count(kv.Key) + count(kv.Value)
	}
	return all
}

func TestParseText(t *testing.T) { // security 2.1 #10
	root, err := Parse([]byte("a: 1.10\nb: no\nc: ~\nd:\ne: 'null'\nf: |\n  x\n  y\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{{Kind: Scalar, Value: "1.10"}, {Kind: Scalar, Value: "no"}, {Kind: Null, Value: "~"}, {Kind: Null},
		{Kind: Scalar, Value: "null", Quoted: true}, {Kind: Scalar, Value: "x\ny\n", Quoted: true}}
	for i, p := range root.Pairs {
		if v := p.Value; v.Kind != want[i].Kind || v.Value != want[i].Value || v.Quoted != want[i].Quoted {
			t.Errorf("%s is %+v, want %+v", p.Key.Value, *v, want[i])
		}
	}
}

// What YAML's core schema reads as something else than JSON has is found, wherever it is.
func TestAmbiguous(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [true, -1.5e3, ~, null]\nc: yes\nd: 2026-01-02\ne: \"007\"\nf: 'True'\ng: |\n  .5\nh: 1_000\ni: 1.2.3\nj: 0b1\nk: e3": "",
		"a: True": "True", "a: FALSE": "FALSE", "a: 007": "007", "a: +1": "+1", "a: .5": ".5", "a: 1.": "1.", "a: -.5E3": "-.5E3", "a: 0o17": "0o17", "a: 0xff": "0xff", "a: -.Inf": "-.Inf", "a: .NaN": ".NaN",
		"a: [x, {b: 0x1}]": "0x1", "1: x": "1", "a: {true: x}": "true", "~: x": "~", "\"1\": x": "", "a:\n  - b\n  - +2": "+2",
	} {
		n, err := Parse([]byte(text), &Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		if found := n.Ambiguous(); found != nil {
			got = found.Value
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	root, err := Parse([]byte("b: 1.10\na: [x, 'y', true, 'true', null, 012, .5, -1e3]\nc: {d: <&>, d: 2, [e]: f}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"b":1.10,"a":["x","y",true,"true",null,"012",".5",-1e3],"c":{"d":2,"[\"e\"]":"f"}}`
	if got := string(root.JSON()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if n := root.MaxJSON(); n < len(want) || n > 3*len(want) {
		t.Errorf("at most %d bytes, want %d or a little more", n, len(want))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b\n", "a: [1, {b: c}]\n", "? [a]\n: b\n", "a: |\n x\n", "a: &x b\nc: *x\n", "\"a\\u0000\": b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, err := Parse(src, nil)
		if (root == nil) == (err == nil) {
			t.Fatalf("got %v and %v", root, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a message")
			}
			return
		}
		if utf8.Valid(src) && !json.Valid(root.JSON()) {
			t.Errorf("not JSON: %s", root.JSON())
		}
		if n := len(root.JSON()); n > root.MaxJSON() {
			t.Errorf("%d bytes of JSON, at most %d said", n, root.MaxJSON())
		}
		check(t, root, 0)
	})
}

func check(t *testing.T, n *Node, level int) {
	if level > defaultMaxDepth || n.Line < 1 || n.Col < 1 {
		t.Errorf("level %d, %d:%d", level, n.Line, n.Col)
	}
	for _, i := range n.Items {
		check(t, i, level+1)
	}
	for _, p := range n.Pairs {
		check(t, p.Key, level+1)
		check(t, p.Value, level+1)
	}
}
