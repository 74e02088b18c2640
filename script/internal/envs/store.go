package envs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// Options configures a Store.
type Options struct {
	Runner  runner.Runner // executes the commands that prepare
	Guard   runner.Guard  // what these do not see and do not change
	Confine runner.Confinement

	LookPath    func(string) (string, error)
	Env         []string      // the operator's environment, as NAME=value
	Cache       string        // absolute folder
	NPMRC       []byte        // the operator's
	MaxBytes    int64         // of one environment; 0 means the usual
	MaxTime     time.Duration // of one preparation; 0 means the usual
	FetchPython bool          // uv may download a Python
	Hosts       []string      // further hosts that preparing may reach
	Progress    func(string)  // may be nil

	Chosen envstore.Chosen // may be nil; the keys are those of Store.Chosen

	// Making is told that an environment is being made for a script, and the function that it returns how that ended.
	Making func(context.Context, *skill.Skill, survey.Script) func(error)
}

// Store has environments.
type Store struct {
	o       Options
	pythons *pyenv.Store
	nodes   *nodeenv.Store
}

// Of is what packages are wanted for: a script, or a program that serves a skill.
type Of struct {
	Skill  *skill.Skill
	Script survey.Script // of a program its name and its first file
	With   []string      // packages that the user added

	Also []string // the other files of a program, in the language of the first
	Else []string // npm packages for a program that no package.json has dependencies for
}

// file is of with another file of the skill in place of the script.
func (of *Of) file(name string) *Of {
	return &Of{Skill: of.Skill, Script: survey.Script{Name: of.Script.Name, File: name}, With: of.With}
}

// PrepareOptions says how dependencies are prepared.
type PrepareOptions struct {
	Upgrade bool      // choose versions again; otherwise the chosen versions stay
	Since   time.Time // with Upgrade: versions that were chosen then or later stay; zero means that none do
	Build   []string  // packages that may be built from their source, which runs their code
	With    []string  // packages in addition to those that the skill declares and Options.Granted returns

	// Large decides whether more than 200 MB are downloaded; nil means that it is not.
	Large func(context.Context, Download) (bool, error)
}

// Download is what preparing dependencies would download.
type Download = pyenv.Download

// Prepared is what was found or made for scripts that need the same.
type Prepared struct {
	Scripts    []survey.Script
	Needed     bool     // they have dependencies
	Made       bool     // the environment was made by this call; false: it was there
	Packages   []string // those of the environment, as "name==version" or "name@version", sorted
	Unbuilt    []string // npm packages with install scripts, which never run, as "name@version"
	Declared   string   // what declares them, such as "requirements.txt"; "" if nothing does
	Undeclared []string // modules that they import, that are neither part of Python nor files of the skill, and that the environment lacks
	Duration   time.Duration
	Err        error // why they cannot run

	folder string // of npm packages
}

// Dependencies is what some scripts of a skill need, all of them the same.
type Dependencies struct {
	Scripts    []survey.Script
	Declared   string   // what declares them, such as "requirements.txt"; "" if nothing does
	Packages   []string // as they are declared
	Undeclared []string // modules that they import without any declaration, and that are neither part of Python nor files of the skill
	Err        error    // why a declaration cannot be followed
}

// npmPackages returns the npm packages among those that a user added, without the prefix.
func npmPackages(with []string) (out []string) {
	for _, p := range with {
		if name, ok := strings.CutPrefix(p, want.NPM); ok {
			out = append(out, name)
		}
	}
	return out
}

// pythonPackages returns the Python packages among those that a user added.
func pythonPackages(with []string) []string {
	return slices.DeleteFunc(slices.Clone(with), func(p string) bool { return strings.HasPrefix(p, want.NPM) })
}
