package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/nodeenv"
	"github.com/agent-base/agent-base/script/pyenv"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
)

// Toolkit makes the engine's own tools.
type Toolkit struct {
	sys      *System
	settings *Settings
	grants   *Grants
	out      *Printer
}

// Kit returns the tools over one catalogue. It asks approve about content that is not approved, unless approve is nil.
func (k *Toolkit) Kit(cat *skill.Catalog, approve func(context.Context, *skill.Skill) (bool, error)) (*skilltool.Kit, error) {
	o, err := k.Options(cat)
	if err != nil {
		return nil, err
	}
	o.Approve = approve
	return skilltool.New(o), nil
}

// Options returns the options of the tools over one catalogue. Without a home no script is run.
func (k *Toolkit) Options(cat *skill.Catalog) (*skilltool.Options, error) {
	cfg := k.settings.Config()
	o := &skilltool.Options{
		Catalog:      func() *skill.Catalog { return cat },
		Session:      session.New(&session.Options{Trace: k.out.Tracer()}),
		Advise:       Advice,
		Instructions: disclose.InstructionOptions{ProjectDir: cfg.Paths.Project},
		ScriptRule:   k.settings.Survey().Rule,
		ReadScripts:  cfg.ScriptRead == "allow",
		StrictStack:  cfg.StrictStack,
		ErrorText:    cfg.ErrorText,
		Trace:        k.out.Tracer(),
	}
	var err error
	if cfg.Paths.Cache != "" {
		o.Scripts, err = k.Host()
	}
	return o, err
}

// Host returns the host that runs scripts. It needs a home, see Settings.NeedHome.
func (k *Toolkit) Host() (*script.Host, error) {
	cfg := k.settings.Config()
	path, _ := k.settings.ScriptPath()
	return script.New(&script.Options{
		LookPath: k.lookPath(cfg, path), Path: strings.Join(path, string(filepath.ListSeparator)), Env: k.sys.Environ,
		Cache: cfg.Paths.Cache, Homes: cfg.Paths.Homes(), Workspace: cfg.Paths.Project,
		UserDir: k.sys.Dir, Cwd: cfg.Cwd, FixedCwd: cfg.FixedCwd, JSON: script.JSONMode(cfg.ScriptJSON), AlwaysHelp: cfg.ScriptHelp == "always",
		Timeout: cfg.ScriptTimeout, MaxOutput: cfg.MaxScriptOutput, Granted: k.grants.Of, Trace: k.out.Tracer(), Progress: k.out.Progress,
		PrepareTimeout: cfg.PrepareTimeout, MaxEnvironment: cfg.MaxEnvironment, FetchPython: cfg.PythonDownload == "auto",
		NPMRC: k.npmrc(), Transport: k.transport(),
	})
}

// Advice returns, as a sentence for a model, what it or a person can do about the error of a call of a skill's script, or "".
func Advice(err error, skillName string) string {
	switch command := ScriptCure(err, skillName); {
	case RefusesJSON(err):
		return "Call it again with json: false."
	case command == "":
		return ""
	case IsUntrusted(err), len(withheld(err)) > 0:
		return "A person can allow it with: " + command
	case errors.As(err, new(*script.MissingModule)):
		return "A person can add it with: " + command
	default:
		return "A person can prepare them with: " + command
	}
}

// IsUntrusted reports whether a script was not run because the content of its skill is not approved.
func IsUntrusted(err error) bool {
	var u *skilltool.UntrustedError
	return errors.As(err, &u) && u.Err == nil
}

// RefusesJSON reports whether a script does not know --json, which its caller did not give.
func RefusesJSON(err error) bool {
	var e *script.Error
	return errors.As(err, &e) && e.Reason == script.ReasonJSON
}

// ScriptCure returns the command that may fix the error of a call of a skill's script, or "".
func ScriptCure(err error, skillName string) string {
	var e *script.Error
	var missing *script.MissingModule
	var source *pyenv.NoWheelError
	name := manifest.Canonical(skillName)
	switch {
	case IsUntrusted(err):
		return TrustCure(name)
	case errors.As(err, &missing) && missing.Python && missing.Package != "":
		return WithCure(name, missing.Module)
	case errors.As(err, &missing) && missing.Package != "":
		return WithCure(name, script.NPM+missing.Package)
	case len(withheld(err)) > 0:
		return GrantCure(name, withheld(err))
	case !errors.As(err, &e) || e.Reason != script.ReasonDependencies || errors.Is(err, pyenv.ErrTooLarge), errors.Is(err, nodeenv.ErrTooLarge):
		return ""
	case errors.As(err, &source):
		return "agent skill prepare " + name + " --build " + source.Package
	case errors.Is(err, pyenv.ErrLargeDownload), errors.Is(err, nodeenv.ErrLargeDownload):
		return "agent skill prepare " + name + " --large"
	}
	return "agent skill prepare " + name
}

// withheld returns the variables that a failed script lacked and the operator has.
func withheld(err error) []string {
	var e *script.Error
	if errors.As(err, &e) {
		return e.Withheld
	}
	return nil
}

// lookPath finds programs as the settings say: python and uv may be set to a path of the user's.
func (k *Toolkit) lookPath(cfg *config.Config, path []string) func(string) (string, error) {
	return func(name string) (string, error) {
		switch {
		case name == "uv" && cfg.UV != "":
			return cfg.UV, nil
		case name == "python3" && cfg.Python != "":
			return cfg.Python, nil
		}
		return program.Find(name, path)
	}
}
