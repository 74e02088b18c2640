// Package output reads what a command printed: as a document, as a text without colours, and its end for a message.
package output

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/script/runner"
)

// How much of an output is kept: bytes of text of stdout, and of the end of a stream in a message.
const (
	MaxSaid = 4096
	MaxTail = 500
)

// Document returns the one JSON document that b is, compact and in valid UTF-8. NaN, text before or
// after it and a second document are errors; a byte order mark is not.
func Document(b []byte) (json.RawMessage, error) {
	b = bytes.ToValidUTF8(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("\ufffd"))
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return nil, err
	}
	return replaceSurrogates(compact.Bytes()), nil
}

// replaceSurrogates replaces escapes of half a character, which many readers refuse, by U+FFFD. b is
// valid JSON.
func replaceSurrogates(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\ud`)) && !bytes.Contains(b, []byte(`\uD`)) {
		return b
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		high := surrogate(b[i:])
		switch {
		case high == 0:
			i++ // the escaped character
		case high < 0xdc00 && surrogate(b[i+6:]) >= 0xdc00:
			i += 11
		default:
			copy(b[i:], `\ufffd`)
			i += 5
		}
	}
	return b
}

// surrogate returns the half character whose escape b starts with, 0 for anything else.
func surrogate(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2]|0x20 != 'd' {
		return 0
	}
	r := rune(0)
	for _, c := range b[2:6] {
		r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
	}
	if r < 0xd800 || r > 0xdfff {
		return 0
	}
	return r
}

// Said is what a failed script printed: its JSON document, else the beginning of its text.
func Said(out *runner.Output) []byte {
	if len(bytes.TrimSpace(out.Stdout)) == 0 {
		return nil
	}
	if doc, err := Document(out.Stdout); err == nil && !out.Truncated {
		return doc
	}
	return out.Stdout[:min(len(out.Stdout), MaxSaid)]
}

// Both returns the end of stdout, at most MaxSaid bytes, and stderr, with a line feed between them.
func Both(out *runner.Output) []byte {
	return slices.Concat(out.Stdout[max(0, len(out.Stdout)-MaxSaid):], []byte("\n"), out.Stderr)
}

// StderrTail returns the end of stderr as a line of a message, "" if nothing was written there.
func StderrTail(out *runner.Output) string {
	if t := lastBytes(shortTraces(out.Stderr), MaxTail); t != "" {
		return "\nstderr: " + t
	}
	return ""
}

// Tail is StderrTail, or shows stdout if stderr is empty: some scripts print their errors there.
func Tail(out *runner.Output) string {
	if t := StderrTail(out); t != "" {
		return t
	}
	if t := lastBytes(out.Stdout, MaxTail); t != "" {
		return "\nstdout: " + t
	}
	return ""
}

// lastBytes returns the end of b as text, at most n bytes without white space at the end. If it is not all, it begins with a
// line where one begins in its first half, else with a word if there is one, else with a character.
func lastBytes(b []byte, n int) string {
	b = bytes.TrimRight(uncoloured(b), " \t\r\n")
	if len(b) <= n {
		return Text(b)
	}
	before := b[len(b)-n-1]
	b = b[len(b)-n:]
	if before == '\n' {
		return Text(b)
	}
	if line := bytes.IndexByte(b[:n/2], '\n'); line >= 0 {
		return Text(b[line+1:])
	}
	if word := bytes.IndexAny(b[:n/2], " \t"); word >= 0 && before != ' ' && before != '\t' {
		return Text(bytes.TrimLeft(b[word:], " \t\r\n"))
	}
	for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return Text(b)
}

// Text returns the output of a program as valid UTF-8 without colours.
func Text(b []byte) string { return string(bytes.ToValidUTF8(uncoloured(b), []byte("\ufffd"))) }

var colour = lazyregexp.New(`\x1b\[[0-9;:]*m`)

// uncoloured removes colours and the like, which many scripts print although they are told not to.
func uncoloured(b []byte) []byte {
	if bytes.IndexByte(b, '\x1b') < 0 {
		return b
	}
	return colour().ReplaceAll(b, nil)
}

// mostFrames is how many calls are left of a stack trace, the innermost.
const mostFrames = 3

// frame finds a line of a stack trace of JavaScript or Java, inFramework one that is not in the script's own code, and requirers the
// files by which node came to a module that is missing, which it lists twice.
var (
	frame       = lazyregexp.New(`^\s+at \S.*`)
	inFramework = lazyregexp.New(`[( ]node:internal/|^\s+at (java|jdk)\.`)
	requirers   = lazyregexp.New(`(?m)^Require stack:\n(?:- .*\n)+|^ *requireStack: \[[^]]*\],?\n`)
)

// shortTraces leaves calls out of stack traces that begin with the error, as those of JavaScript do: the end of such a text has only
// calls of the runtime. A text that is short enough stays as it is.
func shortTraces(b []byte) []byte {
	if len(b) <= MaxTail || !bytes.Contains(b, []byte(" at ")) {
		return b
	}
	var out []byte
	frames := 0
	for line := range bytes.Lines(requirers().ReplaceAllLiteral(b, nil)) {
		if !frame().Match(line) {
			frames = 0
			out = append(out, line...)
			continue
		}
		if frames == mostFrames || inFramework().Match(line) {
			continue
		}
		frames++
		out = append(out, line...)
	}
	return out
}
