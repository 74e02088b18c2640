// Package draft has the texts of a SKILL.md that its author is to replace. It recognises them where nobody has, and also texts that the
// templates of other programs mark as such.
package draft

import "strings"

// The texts of a new skill.
const (
	// Description is that of a skill that has nothing but its SKILL.md.
	Description = "Says in one sentence what this skill does. Use when somebody asks for exactly that."
	// Greets begins the description of a skill that has working examples; its name and a full stop follow.
	Greets = "Greets people by name, until it does something else. Use when somebody asks to try "
	// Body stands in place of the instructions.
	Body = "Write here what a capable colleague would have to be told to do this well, and nothing else."
)

// IsDescription reports whether a description is one that nobody has written yet: that of a new skill, or one that is marked so.
func IsDescription(text string) bool {
	return strings.HasPrefix(text, Description) || strings.HasPrefix(text, Greets) || marked(text)
}

// InBody returns the number of the first line of instructions, from 0, that nobody has written yet: the line of a new skill, or the first
// one below headings if it is marked so. It returns -1 if there is none.
func InBody(text string) int {
	n, begun := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == Body || !begun && marked(line) {
			return n
		}
		n, begun = n+1, begun || line != "" && !strings.HasPrefix(line, "#")
	}
	return -1
}

// marked reports whether a text begins with a mark for what is to be written: "TODO: …", "[TODO …", "<TBD>", "Replace with description …".
func marked(text string) bool {
	for _, begin := range []string{"Replace with description", "Replace with a description", "Replace this"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	bare := strings.TrimLeft(text, "[<{(*_")
	for _, mark := range []string{"TODO", "TBD"} {
		if rest, ok := strings.CutPrefix(bare, mark); ok && (len(bare) < len(text) || rest == "" || rest[0] == ':') {
			return true
		}
	}
	return false
}
