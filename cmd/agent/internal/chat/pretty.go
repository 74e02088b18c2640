package chat

import (
	"bytes"
	"encoding/json"
	"strings"
)

// pretty indents text that is JSON. It shows a string of several lines as these lines, below its name and without quotes,
// so the output of a script is easy to read.
func pretty(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(unfold(line))
	}
	return out.String()
}

// unfold replaces the string at the end of a line of indented JSON by its lines, if there are several.
func unfold(line string) string {
	body := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(body)]
	value := strings.TrimSuffix(body, ",")
	name := ""
	if first := quoted(value); first > 0 && strings.HasPrefix(value[first:], ": ") {
		name, value = value[:first+1], value[first+2:]
	}
	var s string
	if !strings.HasPrefix(value, `"`) || json.Unmarshal([]byte(value), &s) != nil {
		return line
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) < 2 {
		return line
	}
	if name == "" {
		name = "-"
	}
	return indent + name + "\n" + indent + "  " + strings.Join(lines, "\n"+indent+"  ")
}

// quoted returns the length of the JSON string at the beginning of s, or 0 if there is none.
func quoted(s string) int {
	if !strings.HasPrefix(s, `"`) {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
