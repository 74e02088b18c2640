package hosts

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/obeyed"
)

// Host is another agent that reads skills from folders.
type Host struct {
	ID      string // such as "claude"
	Title   string // such as "Claude Code"
	Project string // slash path below the root of a project
	User    string // slash path below the home folder of a user

	aliases string // other names, separated by spaces
	shared  bool   // other agents read the same folder, too
	habits
}

// habits are what an agent does with a skill besides reading its name and description.
type habits struct {
	acts   string // front matter keys that it acts on, separated by spaces
	ascii  bool   // it loads only skills with a name of a-z, 0-9 and single hyphens
	args   bool   // it fills in $ARGUMENTS and the like in the instructions
	inject bool   // it runs commands that the instructions have in the form !`command`
}

// known has the habits of the agents of which they are known, by ID.
var known = map[string]habits{
	"claude": {args: true, inject: true,
		acts: "when-to-use argument-hint arguments disable-model-invocation user-invocable allowed-tools disallowed-tools model effort context agent background hooks paths shell"},
	"cursor":   {acts: "disable-model-invocation"},
	"opencode": {ascii: true, args: true},
	"copilot":  {ascii: true, acts: "argument-hint user-invocable disable-model-invocation context"},
	"crush":    {acts: "user-invocable disable-model-invocation"},
}

// actedOn reports whether some agent acts on a front matter key.
func actedOn(key string) bool {
	for _, h := range known {
		if slices.Contains(strings.Fields(h.acts), key) {
			return true
		}
	}
	return false
}

// All returns the agents that read skills. The first are the most common ones.
func All() []Host {
	var out []Host
	folders := map[string]int{}
	for _, a := range obeyed.Agents() {
		out = append(out, Host{ID: a.ID, Title: a.Title, Project: a.Project, User: a.User, aliases: a.Aliases, habits: known[a.ID]})
		folders[a.Project]++
	}
	for i := range out {
		out[i].shared = folders[out[i].Project] > 1
	}
	return out
}

// Find returns the host with an ID or another name of it, in any case. It returns false if there is none.
func Find(name string) (Host, bool) {
	name = strings.ToLower(name)
	for _, h := range All() {
		if h.ID == name || slices.Contains(strings.Fields(h.aliases), name) {
			return h, true
		}
	}
	return Host{}, false
}

// Scope is for whom a skill is put into a folder.
type Scope uint8

// The scopes.
const (
	User    Scope = iota + 1 // for all projects of a user
	Project                  // for one project
)

// Folder returns the slash path of the host's skills below the home folder or the root of a project.
func (h Host) Folder(s Scope) string {
	if s == Project {
		return h.Project
	}
	return h.User
}
