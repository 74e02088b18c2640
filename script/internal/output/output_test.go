package output

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// The error of a stack trace that begins with it is not lost among the calls of the runtime.
func TestShortTraces(t *testing.T) {
	path := "(/home/ada/.agents/skills/report/scripts/make.js:10:5)\n"
	internal := strings.Repeat("    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n", 6)
	node := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 5) + internal + "\nNode.js v20.20.2\n"
	want := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 3) + "\nNode.js v20.20.2\n"
	if got := string(shortTraces([]byte(node))); got != want {
		t.Errorf("got %s", got)
	}
	missing := "loader:1\n  throw err;\n  ^\n\nError: Cannot find module '../../lib'\nRequire stack:\n" + strings.Repeat("- "+path, 5) + internal +
		"  code: 'MODULE_NOT_FOUND',\n  requireStack: [\n" + strings.Repeat("    '/s/a.js',\n", 40) + "  ]\n}\n\nNode.js v20.20.2\n"
	want = "loader:1\n  throw err;\n  ^\n\nError: Cannot find module '../../lib'\n  code: 'MODULE_NOT_FOUND',\n}\n\nNode.js v20.20.2\n"
	if got := string(shortTraces([]byte(missing))); got != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", internal[:100], strings.Repeat("look at this\n", 100)} {
		if got := string(shortTraces([]byte(text))); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

// What a model and a person get has no colours.
func TestTextHasNoColours(t *testing.T) {
	if got := Text([]byte("\x1b[0;32m[OK]\x1b[0m done\n\x1b]0;title\x07")); got != "[OK] done\n\x1b]0;title\x07" {
		t.Errorf("got %q", got)
	}
}

// The end of a long output begins with a line, a word or a character.
func TestLastBytes(t *testing.T) {
	for _, row := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"one two three\n", 8, "three"},
		{"a line\nanother line\nthe last", 24, "another line\nthe last"},
		{"line\nlast line\n", 9, "last line"},
		{"one two three", 9, "two three"},
		{"einszweidreiäöü", 5, "öü"},
		{"xxxxxxxxxxxx y", 8, "xxxxxx y"}, // the word begins late
		{"\xff\xfe broken", 9, "\ufffd broken"},
		{"\x1b[31mred\x1b[0m, \x1b[1;38:5:9mbold\x1b[m", 9, "red, bold"},
		{"\x1b[2Jcleared \x1b[31", 30, "\x1b[2Jcleared \x1b[31"}, // only colours
	} {
		if got := lastBytes([]byte(row.text), row.n); got != row.want {
			t.Errorf("the last %d of %q: got %q, want %q", row.n, row.text, got, row.want)
		}
	}
}

// A document is one JSON value in valid UTF-8, whatever the script's runtime makes of characters.
func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeff{ \"a\": 1 }\n": `{"a":1}`, "[\"a\xffb\"]": "[\"a\ufffdb\"]", " 7\n": "7",
		`["\ud83d\ude00","\ud83d","\uDE00x","\\ud83d","\ud83d\ud83d\ude00","\n"]`: `["\ud83d\ude00","\ufffd","\ufffdx","\\ud83d","\ufffd\ud83d\ude00","\n"]`,
		"": "", "NaN": "", "{} {}": "", "log\n{}": "",
	} {
		got, err := Document([]byte(text))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
}

// A message has the end of what a command printed where programs write errors, or of what it printed at all. An error keeps the document,
// or the beginning of a text.
func TestTail(t *testing.T) {
	long := strings.Repeat("x", 2*MaxSaid)
	for _, tt := range []struct {
		stdout, stderr string
		cut            bool
		tail, said     string
		both           string
	}{
		{both: "\n"},
		{stdout: " \n", tail: "", said: "", both: " \n\n"},
		{stdout: "{ }", stderr: "why\n", tail: "\nstderr: why", said: "{}", both: "{ }\nwhy\n"},
		{stdout: "{ }", cut: true, tail: "\nstdout: { }", said: "{ }", both: "{ }\n"},
		{stdout: long, tail: "\nstdout: " + long[:MaxTail], said: long[:MaxSaid], both: long[:MaxSaid] + "\n"},
	} {
		out := &runner.Output{Stdout: []byte(tt.stdout), Stderr: []byte(tt.stderr), Truncated: tt.cut}
		if tail, said, both := Tail(out), string(Said(out)), string(Both(out)); tail != tt.tail || said != tt.said || both != tt.both {
			t.Errorf("%.20q, %q: got %.20q, %.20q, %.20q", tt.stdout, tt.stderr, tail, said, both)
		}
	}
}
