package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/nodeenv"
	"github.com/agent-base/agent-base/script/pyenv"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/want"
)

// Toolkit makes the engine's own tools.
type Toolkit struct {
	sys      *System
	settings *Settings
	grants   *Grants
	sandbox  *Sandbox
	out      *Printer
	observe  *Observers
}

// Kit returns the tools over one catalogue, for the user's own calls. It asks approve about content that is not approved, unless approve is nil.
func (k *Toolkit) Kit(cat *skill.Catalog, approve func(context.Context, *skill.Skill) (bool, error)) (*skilltool.Kit, error) {
	o, err := k.Options(cat)
	if err != nil {
		return nil, err
	}
	o.Policy.Approve, o.ByUser = approve, true
	return skilltool.New(o), nil
}

// Options returns the options of the tools over one catalogue. Without a home no script is run.
func (k *Toolkit) Options(cat *skill.Catalog) (*skilltool.Options, error) {
	cfg := k.settings.Config()
	o := &skilltool.Options{
		Catalog:     func() *skill.Catalog { return cat },
		Session:     session.New(k.Session()),
		Trace:       k.observe.Tracer(),
		ScriptRule:  k.settings.Survey().Rule,
		Hooks:       cfg.Hooks,
		Hold:        cfg.Lock != "off",
		StrictStack: cfg.StrictStack,
		Show: skilltool.Show{
			Instructions: disclose.InstructionOptions{ProjectDir: cfg.Paths.Project},
			ReadScripts:  cfg.ScriptRead == "allow",
			CallOnly:     cfg.ToolsetTools == "call",
			Prefix:       cfg.AutoPrefix,
		},
		Policy: skilltool.Policy{
			Seals:  k.grants.seals,
			Advise: func(err error, name string) string { return k.out.Typed(advice(err, name)) },
		},
	}
	var err error
	if cfg.Paths.Cache != "" {
		o.Scripts, err = k.Host()
	}
	return o, err
}

// Session returns the options of a conversation's session.
func (k *Toolkit) Session() *session.Options {
	cfg := k.settings.Config()
	return &session.Options{Trace: k.observe.Tracer(), Enforce: session.Enforce(cfg.Enforce), Policy: session.StackPolicy(cfg.StackPolicy),
		HoldAll: cfg.Lock == "all"}
}

// Host returns the host that runs scripts. It needs a home, see Settings.NeedHome.
func (k *Toolkit) Host() (*script.Host, error) {
	o, err := k.hostOptions()
	if err != nil {
		return nil, err
	}
	return script.New(o)
}

// TestHosts returns the hosts that run the programs of a skill for its tests. Both start them in a folder of their own instead
// of the user's. probe gives them no network and nothing of the user's, bench what the skill was granted.
func (k *Toolkit) TestHosts(dir string) (probe, bench *script.Host, err error) {
	o, err := k.hostOptions()
	if err != nil {
		return nil, nil, err
	}
	o.UserDir, o.Workspace, o.Cwd, o.FixedCwd = dir, dir, script.CwdUser, true
	if bench, err = script.New(o); err != nil {
		return nil, nil, err
	}
	granted := o.Granted
	o.Granted = func(ctx context.Context, s *skill.Skill) (script.Grant, error) {
		g, err := granted(ctx, s)
		return script.Grant{Given: g.Given.Kind(want.Package).Add(ownWords["write"]), Confine: g.Confine}, err
	}
	probe, err = script.New(o)
	return probe, bench, err
}

func (k *Toolkit) hostOptions() (*script.Options, error) {
	cfg := k.settings.Config()
	path, _ := k.settings.ScriptPath()
	sandbox, err := k.sandbox.Runner()
	if err != nil {
		return nil, err
	}
	policy, _ := k.settings.Permissions()
	read, change := policy.DeniedFiles()
	return &script.Options{
		Denied: runner.Denied{Read: read, Write: change},
		Runner: k.observe.runner(sandbox), Confine: runner.Confinement(cfg.Sandbox), Memory: uint64(cfg.ScriptMemory), Tasks: uint64(cfg.ScriptProcesses),
		Disk: uint64(cfg.ScriptDisk), Files: uint64(cfg.ScriptFiles),
		Private: k.settings.private(), Keep: k.settings.kept(k.grants.trust.Known().Roots()),
		LookPath: k.lookPath(cfg), Path: strings.Join(path, string(filepath.ListSeparator)), Env: k.sys.Environ,
		Cache: cfg.Paths.Cache, Homes: cfg.Paths.Homes(), Workspace: cfg.Paths.Project, Place: placeOfVersion(cfg.PluginsDir),
		UserDir: k.sys.Dir, Cwd: cfg.Cwd, FixedCwd: cfg.FixedCwd, JSON: script.JSONMode(cfg.ScriptJSON), AlwaysHelp: cfg.ScriptHelp == "always",
		Timeout: cfg.ScriptTimeout, MaxOutput: cfg.MaxScriptOutput, Granted: k.grants.of, Trace: k.observe.Tracer(), Progress: k.out.progress,
		PrepareTimeout: cfg.PrepareTimeout, MaxEnvironment: cfg.MaxEnvironment, FetchPython: cfg.PythonDownload == "auto",
		PackageHosts: cfg.PackageHosts, NPMRC: k.npmrc(), Transport: k.transport(),
	}, nil
}

// trustRoot is the command that trusts a folder, up to its path.
const trustRoot = "agent skill trust --root "

// advice returns, as a sentence for a model, what it or a person can do about the error of a call of a skill's script, or "".
func advice(err error, skillName string) string {
	switch command := ScriptCure(err, skillName); {
	case RefusesJSON(err):
		return "Call it again with json: false."
	case strings.HasPrefix(command, trustRoot):
		return "A person whose folder this is can allow it with: " + command
	case command == "":
		return ""
	case IsUntrusted(err), len(withheld(err)) > 0, errors.As(err, new(*script.Blocked)), errors.As(err, new(*script.Unreached)):
		return "A person can allow it with: " + command
	case toolChanged(err):
		return "A person can look at the tools as they are now, and accept them, with: " + command
	case errors.As(err, new(*script.MissingModule)), toolsetCure(err, skillName) != "":
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
	var above *script.Above
	var source *pyenv.NoWheelError
	var blocked *script.Blocked
	var elsewhere *pyenv.HostError
	var apart *script.Unreached
	var size *pyenv.SizeError
	var dropped *program.DroppedError
	name := manifest.Canonical(skillName)
	switch {
	case IsUntrusted(err):
		return TrustCure(name)
	case toolsetCure(err, name) != "":
		return toolsetCure(err, name)
	case errors.As(err, &missing) && missing.Outside != "":
		return trustRoot + ShellWord(missing.Around)
	case errors.As(err, &above) && above.Dir != "":
		return trustRoot + ShellWord(above.Dir)
	case errors.As(err, &missing) && missing.Python && missing.Package != "":
		var modules []string
		if !missing.Guess {
			modules = append(modules, missing.Package)
		}
		return WithCure(name, append(modules, missing.Others...)...)
	case errors.As(err, &missing) && missing.Package != "":
		packages := []string{script.NPM + missing.Package}
		for _, p := range missing.Others {
			packages = append(packages, script.NPM+p)
		}
		return WithCure(name, packages...)
	case errors.As(err, &blocked) && blocked.Here:
		return "agent skill grant " + name + " --write " + want.Here
	case errors.As(err, &blocked) && blocked.Dir != "" && (!blocked.Write || (&policy.Policy{}).Decide(want.WriteOf(blocked.Dir)).Level == policy.Free):
		return blockedCure(name, blocked)
	case errors.As(err, &apart):
		return netCure(name, joined(apart, err), withheld(err))
	case len(withheld(err)) > 0:
		return grantCure(name, withheld(err))
	case errors.As(err, &size):
		return "AGENT_MAX_ENVIRONMENT=" + strconv.FormatInt(4*size.MaxBytes, 10) + " agent skill prepare " + name
	case !errors.As(err, &e) || e.Reason != script.ReasonDependencies || errors.Is(err, pyenv.ErrTooLarge), errors.Is(err, nodeenv.ErrTooLarge),
		errors.Is(err, pyenv.ErrNoUV), errors.Is(err, nodeenv.ErrNoNPM), errors.As(err, &dropped): // preparing lacks the same program
		return ""
	case errors.As(err, &elsewhere):
		return "AGENT_PACKAGE_HOSTS=" + ShellWord(strings.Join(elsewhere.Hosts, ",")) + " agent skill prepare " + name
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
func (k *Toolkit) lookPath(cfg *config.Config) func(string) (string, error) {
	return func(name string) (string, error) {
		switch {
		case name == "uv" && cfg.UV != "":
			return cfg.UV, nil
		case name == "python3" && cfg.Python != "":
			return cfg.Python, nil
		}
		return k.settings.FindProgram(name)
	}
}

const maxNPMRC = 1 << 20 // bytes

// npmrc returns the user's npm settings, which say where packages come from; nil if there are none. The .npmrc of a project
// or a skill is never read.
func (k *Toolkit) npmrc() []byte {
	file := filepath.Join(k.sys.Home, ".npmrc")
	if set := k.sys.first([]string{"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}); filepath.IsAbs(set) {
		file = set
	}
	if !filepath.IsAbs(file) {
		return nil
	}
	b, _ := lockfile.Read(file, maxNPMRC) // without it the public registry is asked
	return b
}

// transport returns the transport that fetches npm packages, with the proxies of the environment.
func (k *Toolkit) transport() http.RoundTripper { return models.Transport(k.sys.first) }
