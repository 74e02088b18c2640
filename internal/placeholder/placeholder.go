// Package placeholder knows what stands for the folder of a skill in the texts that authors write for this program and for others.
// Every function is safe for concurrent use.
package placeholder

import (
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/naming"
)

// texts stand for the folder, whatever the skill. Those of a shell end where a name of a variable ends.
var texts = [...]string{
	"${CLAUDE_SKILL_DIR}", "${AGENT_SKILL_DIR}", "{baseDir}", // Claude Code, this program, OpenClaw
	"{SKILL_DIR}", "{skill_dir}", "<SKILL_DIR>", "<skill_dir>", "<skill-dir>", // words of authors
	"${SKILL_DIR}", "$SKILL_DIR",
}

// variable is what a text of the body can give a value of its own.
const variable = "SKILL_DIR"

// Folder returns how many bytes at the beginning of s stand for the folder of a skill with that name: one of the words above, or the
// place of the skill in the home of some agent, such as ~/.claude/skills/NAME. It returns 0 if none do.
func Folder(s, name string) int {
	for _, t := range texts {
		if strings.HasPrefix(s, t) && (t[len(t)-1] != 'R' || !wordGoesOn(s[len(t):])) {
			return len(t)
		}
	}
	return inHome(s, name)
}

// Own reports whether a text gives the variable SKILL_DIR a value, so that $SKILL_DIR in it means that value.
func Own(text string) bool { return strings.Contains(text, variable+"=") }

// OfVariable reports whether a placeholder is that of the variable SKILL_DIR.
func OfVariable(text string) bool { return strings.Trim(text, "${}") == variable && text[0] == '$' }

func wordGoesOn(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= '0' && s[0] <= '9' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// homes is how authors write the home of the user.
var homes = [...]string{"~/", "$HOME/", "${HOME}/"}

// maxPart is how many bytes the names in a path have that are compared.
const maxPart = 255

// inHome returns the length of a path such as ~/.openclaw/skills/NAME, or ~/clawd/skills/NAME.
func inHome(s, name string) int {
	for _, home := range homes {
		rest, ok := strings.CutPrefix(s, home)
		if !ok {
			continue
		}
		host, rest, _ := strings.Cut(rest[:min(len(rest), 3*maxPart)], "/")
		below, ok := strings.CutPrefix(rest, "skills/")
		if !ok || host != "clawd" && (len(host) < 2 || host[0] != '.' || strings.ContainsFunc(host[1:], notInPath)) {
			return 0
		}
		end := strings.IndexFunc(below, func(r rune) bool { return r != '.' && notInPath(r) })
		if end < 0 {
			end = len(below)
		}
		found := strings.TrimRight(below[:end], ".") // the end of a sentence
		if name == "" || naming.Canonical(found) != naming.Canonical(name) {
			return 0
		}
		return len(home) + len(host) + len("/skills/") + len(found)
	}
	return 0
}

// notInPath reports whether r is not part of a name in a path that has no quotes.
func notInPath(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.In(r, unicode.M, unicode.N) && r != '-' && r != '_'
}

// Strip removes the placeholders, each with the slash after it, so that paths begin in the folder.
func Strip(text string) string {
	for _, t := range texts {
		text = strings.ReplaceAll(text, t+"/", "")
	}
	return text
}

// Replace puts another text in the place of each placeholder.
func Replace(text, with string) string {
	var out strings.Builder
	for text != "" {
		if n := Folder(text, ""); n > 0 {
			out.WriteString(with)
			text = text[n:]
			continue
		}
		out.WriteByte(text[0])
		text = text[1:]
	}
	return out.String()
}

// Below returns the path below the folder that a text names by a placeholder, and whether it does.
func Below(text, name string) (string, bool) {
	n := Folder(text, name)
	if n == 0 || !strings.HasPrefix(text[n:], "/") {
		return "", false
	}
	return text[n+1:], true
}
