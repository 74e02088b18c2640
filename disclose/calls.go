package disclose

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/placeholder"
)

// shellCall is a command of a body that runs a script of the skill.
type shellCall struct {
	command string // as the body has it
	script  string // slash path below the skill
	args    []string
	long    bool // command and args are only the beginning of it
}

// maxCall is how many bytes a command may have that is shown as an example.
const maxCall = 200

// findCall returns a command in a body that runs one of scripts: the first with arguments, or the first. Commands are lines of code blocks and code spans.
// name is the skill's, and dir its folder or "".
func findCall(body, name, dir string, scripts []string) (shellCall, bool) {
	if len(scripts) == 0 {
		return shellCall{}, false
	}
	var first shellCall
	block, found := false, false
	for line := range strings.SplitSeq(strings.ReplaceAll(body, "\\\n", " "), "\n") {
		text := strings.TrimLeft(line, " \t>-*")
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			block = !block
			continue
		}
		spans := []string{text}
		if !block {
			spans = codeIn(line)
		}
		for _, span := range spans {
			c, ok := readCall(span, name, dir, scripts)
			if ok && len(c.args) > 0 {
				return c, true
			}
			if ok && !found {
				first, found = c, true
			}
		}
	}
	return first, found
}

// codeIn returns the code spans of a line that is not in a code block.
func codeIn(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 && strings.Contains(part, ".") {
			out = append(out, part)
		}
	}
	return out
}

// readCall reads a command.
func readCall(text, name, dir string, scripts []string) (shellCall, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "$ "))
	if dir, after, more := strings.Cut(text, "&&"); more && strings.HasPrefix(dir, "cd ") {
		text = strings.TrimSpace(after)
	}
	for _, end := range []string{"\n", "|", ";", "&&", " >", " 2>", " #"} {
		text, _, _ = strings.Cut(text, end)
	}
	text = strings.TrimSpace(text)
	if len(text) > 20*maxCall {
		return shellCall{}, false
	}
	words := splitArgs(slashed(text))
	for i, word := range words {
		if script := scriptAt(ownPath(word, name, dir), scripts); script != "" {
			c := shellCall{command: text, script: script, args: words[i+1:]}
			c.shorten(word)
			// A path alone may only name the file.
			return c, i > 0 || i+1 < len(words) && strings.Contains(word, "/")
		}
		if !beforeScript(words[:i], word) {
			break
		}
	}
	return shellCall{}, false
}

// slashed returns a command with slashes in the first word that has backslashes, unless that is quoted: a path of Windows, which a
// shell would read as another one.
func slashed(command string) string {
	at := strings.IndexByte(command, '\\')
	if at < 0 || strings.ContainsAny(command[:at], `'"`) {
		return command
	}
	begin := strings.LastIndexByte(command[:at], ' ') + 1
	word, rest, _ := strings.Cut(command[begin:], " ")
	return command[:begin] + strings.ReplaceAll(word, `\`, "/") + " " + rest
}

// shorten leaves the beginning of a long command: up to the word that names the script.
func (c *shellCall) shorten(word string) {
	if len(c.command) <= maxCall {
		return
	}
	c.long = true
	end := strings.Index(c.command, word) + len(word)
	c.command = c.command[:min(end, maxCall)]
}

// scriptAt returns which of scripts a path means, "" if none: it, or the one of that name directly in scripts/.
func scriptAt(p string, scripts []string) string {
	for _, at := range []string{p, "scripts/" + p} {
		if slices.Contains(scripts, at) {
			return at
		}
	}
	return ""
}

// beforeScript reports whether a word of a command may stand before the script that it runs: a variable, an interpreter or one
// of its options. earlier has the words before it.
func beforeScript(earlier []string, word string) bool {
	switch {
	case word == "run", language.Starts(path.Base(word)):
		return true
	case word == "-c", word == "-e", word == "-m":
		return false
	}
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return true
	}
	return len(earlier) > 0 && strings.HasPrefix(earlier[len(earlier)-1], "--") // the value of an option
}

// ownPath returns the part of a path below the skill's folder, as far as the beginning says that it is one.
func ownPath(p, name, dir string) string {
	if rest, ok := placeholder.Below(p, name); ok {
		return path.Clean(rest)
	}
	for _, prefix := range []string{"$CLAUDE_SKILL_DIR/", dir + "/"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok && prefix != "/" {
			return path.Clean(rest)
		}
	}
	if i := strings.LastIndex("/"+p, "/"+name+"/"); i >= 0 && name != "" {
		return path.Clean(p[i+len(name)+1:])
	}
	if first, rest, ok := strings.Cut(p, "/"); ok && standsForSkill(first) {
		p = rest
	}
	return path.Clean(p)
}

// standsForSkill reports whether the first part of a path stands for the skill's folder: "<skill-path>", "$SKILL_DIR",
// "SKILL_DIR". One that names something else, as a plugin or a project, does not.
func standsForSkill(part string) bool {
	name := strings.ToLower(strings.Trim(part, "<>${}"))
	return (name != strings.ToLower(part) || part == strings.ToUpper(part)) && strings.Contains(name, "skill") && !strings.Contains(name, "skills")
}

// scriptName returns the name by which a script is run: its file name if it lies directly in scripts, else its path.
func (c *shellCall) scriptName() string {
	if path.Dir(c.script) == "scripts" {
		return path.Base(c.script)
	}
	return c.script
}

// asToolCall says which call of script_run the command stands for, on one line.
func (c *shellCall) asToolCall(skillName string) string {
	in := fmt.Sprintf(" In place of `%s` call it with skill_name %q, script_name %q, ", appendLine(nil, c.command, escapeNone), skillName, c.scriptName())
	if c.long {
		return in + "and the words that follow as args."
	}
	var args strings.Builder
	enc := json.NewEncoder(&args)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(append([]string{}, c.args...)); err != nil {
		return ""
	}
	return in + "args " + strings.TrimSpace(args.String()) + "."
}
