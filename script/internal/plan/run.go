package plan

import (
	"io"
	"maps"
	"time"

	"github.com/agent-base/agent-base/internal/keyagent"
	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// Asked is what the caller of a run asks for.
type Asked struct {
	Skill     *skill.Skill
	Script    survey.Script
	Args      []string
	AddedJSON bool // --json is an argument that the caller did not give
	Timeout   time.Duration
	MaxStdout int64
	StopAtMax bool
	Stdin     []byte // of a hook
	Denied    runner.Denied
}

// Run is one run of a script, a hook or a program that serves a skill, from which its command is made.
type Run struct {
	Asked
	Foreign bool          // it is a hook or a program, not a script
	In      io.ReadCloser // standard input of a script; nil for an empty one

	Grant   *Grant
	Passes  *Passing
	Parent  string            // the span that the run belongs to, as a traceparent; "" for none
	Given   map[string]string // variables of the caller
	Network runner.Network    // what decides about hosts while it runs

	Start
	Folders
	GitConfig string          // a file with the settings of git; "" for none
	Keys      *keyagent.Given // the agents that hold the user's keys, as far as they were granted
}

// Start is what is started for a run.
type Start struct {
	Argv      []string          // up to the script's own arguments
	By        *language.Program // what Argv runs it with; nil if that reads no arguments of the script
	Dir, File string            // the skill's folder, and the script in it
	Cwd       string            // where it starts; "" means where scripts do
	Read      []string          // what it may read in addition
	Packages  string            // the folder of its npm packages; "" for none
	Python    string            // the interpreter that a shell script is to start, with its packages; "" for any
	Uncached  bool              // byte code lies in the skill's folder, which is none of the skill
	Copied    bool              // Dir is a copy of the skill's folder, for this run
}

// Folders are what a run may write to: Root with the folders that go with it, Work and mostly Temp; and those that the skill keeps.
type Folders struct{ Root, Work, Home, Temp, Cache string }

// Own returns the variables that name the folders of a run, and its skill.
func (r *Run) own(o *Operator) map[string]string {
	env := runner.HomeVariables(r.Home, r.Temp)
	maps.Copy(env, map[string]string{
		"AGENT_SKILL_DIR": r.Dir, "AGENT_SKILL_NAME": r.Skill.Canonical(), "AGENT_WORKSPACE": o.Workspace,
		"AGENT_SKILL_WORK_DIR": r.Work, "AGENT_SKILL_CACHE_DIR": r.Cache,
	})
	return env
}

// HookFolders returns the names of the variables by which hooks written for another host find their files.
func HookFolders() []string {
	return []string{"CLAUDE_SKILL_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR"}
}

// parentVariable names the span that a script belongs to, if it has the variable: with it the script's own spans are of the same trace.
const parentVariable = "TRACEPARENT"

// Environment returns the variables of the run that are there before it is known what its caller gives.
func (r *Run) Environment(o *Operator) map[string]string {
	env := Environment(r.Passes, o.Path, o.Env, r.own(o))
	if r.Parent != "" && r.Passes.Allows(parentVariable) {
		env[parentVariable] = r.Parent
	}
	if r.Foreign {
		names := HookFolders()
		maps.Copy(env, map[string]string{names[0]: r.Dir, names[1]: r.Dir, names[2]: o.Workspace})
	}
	return env
}
