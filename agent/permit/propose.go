package permit

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/session/allow"
)

// Proposal is a rule that would allow a call and calls like it.
type Proposal struct {
	Rule  string // Bash(go test:*)
	Reach string // what the rule allows beyond what it seems to, as one clause; "" if it allows what it says
}

// Propose returns a narrow rule that would allow a call, and whether there is one. A change of a file gets the folder
// that the file is in, or the file alone if it is special or at the top of the workspace. A command gets its first two
// words if the second is a subcommand, its first if the program only shows names, or else the whole command. A tool of a server gets
// its name.
func (p *Policy) Propose(c *Call) (Proposal, bool) {
	for _, text := range p.candidates(c) {
		l, problems := newList([]Rule{{Text: text}}, &p.o.Patterns)
		if len(problems) > 0 || !slices.ContainsFunc(c.calls(), func(q allow.Call) bool { return l.parsed.Check(q) == nil }) {
			continue
		}
		reach := l.parsed.Rules()[0].Reach()
		if reach.Code && !strings.Contains(text, " ") {
			continue // such as Bash(python3:*)
		}
		return Proposal{text, reach.Why}, true
	}
	return Proposal{}, false
}

// candidates returns rules for a call, the best first. Some may not be rules, or not allow the call.
func (p *Policy) candidates(c *Call) []string {
	switch c.Kind {
	case Command:
		return commandRules(c.Command)
	case Edit:
		return p.fileRules(c)
	case Server:
		return []string{c.Tool}
	}
	return nil
}

// runners are programs whose second word says what they do.
var runners = []string{"go", "cargo", "npm", "pnpm", "yarn", "make", "mvn", "gradle", "dotnet", "git", "gh", "kubectl", "helm", "terraform", "docker", "uv", "just"}

// readers are programs that only show names and figures, whatever their arguments are: no content of files.
var readers = []string{"ls", "pwd", "stat", "du", "df", "echo", "which", "whoami", "uname", "id"}

func commandRules(command string) []string {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return nil
	case len(words) > 1 && subcommand(words[1]) && slices.Contains(runners, words[0]):
		return []string{"Bash(" + words[0] + " " + words[1] + ":*)", "Bash(" + command + ")"}
	case slices.Contains(readers, words[0]):
		return []string{"Bash(" + words[0] + ":*)", "Bash(" + command + ")"}
	}
	return []string{"Bash(" + command + ")"}
}

// Reach says what a rule allows beyond what it seems to, as Proposal does.
func Reach(rule string) string {
	l, problems := allow.Parse([]string{rule}, nil)
	if len(problems) > 0 {
		return ""
	}
	return l.Rules()[0].Reach().Why
}

// subcommand reports whether a word looks like the name of a subcommand.
func subcommand(word string) bool {
	return word[0] != '-' && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func (p *Policy) fileRules(c *Call) []string {
	for _, root := range p.o.Patterns.Roots {
		rel, err := filepath.Rel(root, c.Path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		rel = filepath.ToSlash(rel)
		if strings.ContainsAny(rel, "*?[]{}()\\,\n") {
			return nil
		}
		if dir := path.Dir(rel); dir != "." && c.Special == "" {
			return []string{"Edit(" + dir + "/**)"}
		}
		return []string{"Edit(" + rel + ")"}
	}
	return nil
}
