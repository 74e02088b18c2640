package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/script/runner"
)

// saidMax is the most bytes of text that an Error keeps of stdout.
const saidMax = 4096

// answer returns stdout as one JSON document.
func answer(out *runner.Output, limit int64) (json.RawMessage, error) {
	if out.Truncated {
		return nil, &Error{Code: ParseError, Stdout: said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, but it was truncated at %d bytes%s", limit, stderrTail(out))}
	}
	doc, err := document(out.Stdout)
	if err != nil {
		return nil, &Error{Code: ParseError, Err: err, Stdout: said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, got: %s%s", firstRunes(text(out.Stdout), 200), stderrTail(out))}
	}
	return doc, nil
}

// document returns the one JSON document that b is, compact and in valid UTF-8. NaN, text before or
// after it and a second document are errors; a byte order mark is not.
func document(b []byte) (json.RawMessage, error) {
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

// said is what a failed script printed: its JSON document, else the beginning of its text.
func said(out *runner.Output) []byte {
	if len(bytes.TrimSpace(out.Stdout)) == 0 {
		return nil
	}
	if doc, err := document(out.Stdout); err == nil && !out.Truncated {
		return doc
	}
	return out.Stdout[:min(len(out.Stdout), saidMax)]
}

func stderrTail(out *runner.Output) string {
	if t := lastBytes(shortTraces(out.Stderr), StderrTail); t != "" {
		return "\nstderr: " + t
	}
	return ""
}

// failureTail shows stdout if stderr is empty: some scripts print their errors there.
func failureTail(out *runner.Output) string {
	if t := stderrTail(out); t != "" {
		return t
	}
	if t := lastBytes(out.Stdout, StderrTail); t != "" {
		return "\nstdout: " + t
	}
	return ""
}

// signalHint names the limit that a script passed, or the signal that ended it.
func signalHint(out *runner.Output, cmd *runner.Command) string {
	if hint := passed(out, cmd); hint != "" || out.Signal == "" {
		return hint
	}
	return fmt.Sprintf(" (signal: %s)", out.Signal)
}

// passed names the limit that a script passed.
func passed(out *runner.Output, cmd *runner.Command) string {
	if limit := out.Passed(&cmd.Limits); limit != "" {
		return " (" + limit + ")"
	}
	return ""
}

// lastBytes returns the end of b as text, at most n bytes without white space at the end. If it is not all, it begins with a
// line where one begins in its first half, else with a word if there is one, else with a character.
func lastBytes(b []byte, n int) string {
	b = bytes.TrimRight(uncoloured(b), " \t\r\n")
	if len(b) <= n {
		return text(b)
	}
	before := b[len(b)-n-1]
	b = b[len(b)-n:]
	if before == '\n' {
		return text(b)
	}
	if line := bytes.IndexByte(b[:n/2], '\n'); line >= 0 {
		return text(b[line+1:])
	}
	if word := bytes.IndexAny(b[:n/2], " \t"); word >= 0 && before != ' ' && before != '\t' {
		return text(bytes.TrimLeft(b[word:], " \t\r\n"))
	}
	for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return text(b)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// text returns the output of a program as valid UTF-8 without colours.
func text(b []byte) string { return string(bytes.ToValidUTF8(uncoloured(b), []byte("\ufffd"))) }

var colour = lazyregexp.New(`\x1b\[[0-9;:]*m`)

// uncoloured removes colours and the like, which many scripts print although they are told not to.
func uncoloured(b []byte) []byte {
	if bytes.IndexByte(b, '\x1b') < 0 {
		return b
	}
	return colour().ReplaceAll(b, nil)
}

// seconds writes a duration as "60s", "1.5s".
func seconds(d time.Duration) string {
	return fmt.Sprintf("%gs", d.Seconds())
}
