package script

import (
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Seen is what the texts of a skill's scripts show of what they want: the variables that each script reads and the hosts that it contacts,
// by its slash path below the skill. The application finds it out, as package skill/scan does.
type Seen = explain.Seen

// Lacks returns what a command that is not a script of a skill lacked in the sandbox when it failed, by what it wrote and was refused,
// and says so in clauses. Both are empty if that is not known. It runs nothing.
func Lacks(cmd *runner.Command, out *runner.Output) (want.Set, []string) {
	return explain.Lacks(cmd, out)
}

// Packages returns the packages of modules that scripts import: those of Python by the names of the modules, and npm packages with the
// prefix NPM. A package that is only a guess by the name of its module is from want.Seen: anybody may have published it.
func Packages(modules ...string) want.Set { return explain.Packages(modules...) }
