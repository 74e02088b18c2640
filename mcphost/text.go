package mcphost

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// Plain returns a text of a server as valid UTF-8 without control characters but for tabs and line ends. What is over most bytes is cut.
func Plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

const (
	saidLines = 10
	saidBytes = 2 << 10
	saidWidth = 240 // bytes of a line
)

// LastLines returns the last lines of what a process printed: at most ten of 240 bytes, and 2 KiB in all.
func LastLines(b []byte) string {
	b = bytes.TrimSpace(b[max(0, len(b)-saidBytes):])
	lines := slices.DeleteFunc(strings.Split(Plain(string(b), 2*saidBytes), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	lines = lines[max(0, len(lines)-saidLines):]
	for i, l := range lines {
		if len(l) > saidWidth {
			lines[i] = strings.ToValidUTF8(l[:saidWidth], "") + " …"
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
