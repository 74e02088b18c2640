package explain

import (
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// Run is what is known about a run that has ended.
type Run struct {
	Skill  *skill.Skill
	Script survey.Script
	Args   []string // of the script, or of the call of a served program
	Cmd    *runner.Command
	Out    *runner.Output

	AddedJSON bool // --json is an argument that the caller did not give
	Serves    bool // it is a program that serves the skill
	Hook      bool // it is a hook, whose exit code is an answer

	Here      []string        // the folders that want.Here stands for
	Workspace string          // "" for none
	Rules     []runner.Denied // which files it does not see and does not change
	Env       []string        // the operator's, as NAME=value
	Home      string          // the operator's; "" for none

	Temp      string // its folder for temporary files, if that stays after the run
	OtherTemp string // that of other commands of the conversation, which it does not see; "" for none

	Seen    func() Seen                // what the texts of the skill's scripts want
	Imports func() []string            // the modules of Python that the script imports, and that are neither part of Python nor of the skill
	Lacking func(python bool) []string // what it imports and is not installed: modules of Python, or else npm packages
}

// Finding is what was found out about a run.
type Finding struct {
	Reason          string   // one of the reasons of package fail, or "" if none holds
	Cause           error    // of that reason; may be nil
	withheld, unset []string // variables that it reads and did not get: those that the operator has, and the others
}

// saysThat begins what only the output of a script shows.
const saysThat = "it says that "
