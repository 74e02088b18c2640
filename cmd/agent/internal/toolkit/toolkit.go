// Package toolkit makes the engine's own tools, and the hosts that run the scripts of skills.
package toolkit

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/want"
)

// Toolkit makes the engine's own tools.
type Toolkit struct {
	Sys      *setup.System
	Settings *setup.Settings
	Grants   *grants.Grants
	Sandbox  *sandbox.Sandbox
	Out      *output.Printer
	Observe  *observe.Observers
	Scanner  *scanner.Scanner

	conversation func(context.Context) (*script.Conversation, error) // nil: none
	hosts        script.HostsFunc                                    // nil: nobody is asked
}

// In returns the same for a conversation: its scripts keep temporary files there, and hosts decides what they reach. See script.Options.
func (k *Toolkit) In(conversation func(context.Context) (*script.Conversation, error), hosts script.HostsFunc) *Toolkit {
	out := *k
	out.conversation, out.hosts = conversation, hosts
	return &out
}

// keepTemp is how long the temporary files of a skill are kept after a run of it outside of conversations.
const keepTemp = 24 * time.Hour

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
	var scripts skilltool.Scripts
	if k.Settings.Config().Paths.Cache != "" {
		host, err := k.Host()
		if err != nil {
			return nil, err
		}
		scripts = host
	}
	return k.OptionsOn(cat, scripts), nil
}

// OptionsOn is Options with what runs scripts, such as a host that several conversations share; nil for none.
func (k *Toolkit) OptionsOn(cat *skill.Catalog, scripts skilltool.Scripts) *skilltool.Options {
	cfg := k.Settings.Config()
	return &skilltool.Options{
		Scripts:     scripts,
		Catalog:     func() *skill.Catalog { return cat },
		Session:     session.New(k.Session()),
		Trace:       k.Observe.Tracer(),
		ScriptRule:  k.Settings.Survey().Rule,
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
			Seals: k.Grants.Seals, Organisation: k.Settings.Policy(), Patterns: k.Settings.Patterns(),
			Advise: func(err error, name string) string { return k.Out.Typed(k.Settings.Cures().Advise(err, name)) },
		},
	}
}

// Session returns the options of a conversation's session.
func (k *Toolkit) Session() *session.Options {
	cfg := k.Settings.Config()
	return &session.Options{Trace: k.Observe.Tracer(), Enforce: session.Enforce(cfg.Enforce), Policy: session.StackPolicy(cfg.StackPolicy),
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

// Apart is Host for callers who do not stand in a folder of the user's: a script starts in a folder of its run and knows no workspace.
func (k *Toolkit) Apart() (*script.Host, error) {
	o, err := k.hostOptions()
	if err != nil {
		return nil, err
	}
	apart(o)
	return script.New(o)
}

func apart(o *script.Options) {
	o.UserDir, o.Workspace, o.Cwd, o.FixedCwd = "", "", script.CwdUser, true
}

// Worker returns the options of a host like Apart that carries out orders. It records nothing: who sends an order does.
func (k *Toolkit) Worker() (*script.Options, error) {
	o, err := k.unobserved()
	if err != nil {
		return nil, err
	}
	apart(o)
	return o, nil
}

// Contents returns what keeps the contents that come with orders.
func (k *Toolkit) Contents() *content.Cache {
	return &content.Cache{Dir: store.Dir{Root: filepath.Join(k.Settings.Config().Paths.Cache, "contents")}}
}

// Sender returns what runs scripts elsewhere: send has an order carried out, after the host has admitted its skill. What is recorded is
// recorded here.
func (k *Toolkit) Sender(host *script.Host, send func(context.Context, *order.Order, *skill.Skill, func(*order.Part) error) (*order.Result, error)) *order.Sender {
	return order.NewSender(&order.SenderOptions{
		Host: host, Granted: k.Grants.Elsewhere, AlwaysHelp: k.Settings.Config().ScriptHelp == "always", Trace: k.Observe.Tracer(),
		Send: func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
			if err := k.Observe.Recording(); err != nil {
				return order.Failed(o, err), nil
			}
			o.For.Tenant = k.Settings.Config().Tenant
			return send(ctx, o, s, out)
		},
	})
}

// TestHosts returns the hosts that run the programs of a skill for its tests. Both start them in a folder of their own instead
// of the user's. probe gives them no network and nothing of the user's, bench what the skill was granted.
func (k *Toolkit) TestHosts(dir string) (probe, bench *script.Host, err error) {
	o, err := k.hostOptions()
	if err != nil {
		return nil, nil, err
	}
	o.UserDir, o.Workspace, o.Cwd, o.FixedCwd, o.KeepTemp = dir, dir, script.CwdUser, true, 0
	if bench, err = script.New(o); err != nil {
		return nil, nil, err
	}
	granted := o.Granted
	o.Granted = func(ctx context.Context, s *skill.Skill) (script.Grant, error) {
		g, err := granted(ctx, s)
		return script.Grant{Given: g.Given.Kind(want.Package).Add(grants.WritesHere()), Confine: g.Confine}, err
	}
	probe, err = script.New(o)
	return probe, bench, err
}

func (k *Toolkit) hostOptions() (*script.Options, error) {
	o, err := k.unobserved()
	if err == nil {
		o.Runner, o.Trace = k.Observe.Runner(o.Runner), k.Observe.Tracer()
	}
	return o, err
}

// unobserved returns options without what records.
func (k *Toolkit) unobserved() (*script.Options, error) {
	cfg := k.Settings.Config()
	path, _ := k.Settings.ScriptPath()
	sandbox, err := k.Sandbox.Runner()
	if err != nil {
		return nil, err
	}
	policy, _ := k.Settings.Permissions()
	read, change := policy.DeniedFiles()
	return &script.Options{
		Denied: runner.Denied{Read: read, Write: change},
		Runner: sandbox, Confine: runner.Confinement(cfg.Sandbox), Memory: uint64(cfg.ScriptMemory), Tasks: uint64(cfg.ScriptProcesses),
		Disk: uint64(cfg.ScriptDisk), Files: uint64(cfg.ScriptFiles),
		Private: k.Settings.Private(), Keep: k.Settings.Kept(k.Grants.Trust.Known().Roots()),
		LookPath: k.Settings.FindTool, Path: strings.Join(path, string(filepath.ListSeparator)), Env: k.Sys.Environ,
		Cache: cfg.Paths.Cache, Homes: cfg.Paths.Homes(), Workspace: cfg.Paths.Project, FormerHome: formerHome(cfg.PluginsDir, cfg.Paths.Served()),
		Conversation: k.conversation, Hosts: k.hosts, KeepTemp: keepTemp, UserDir: k.Sys.Dir, Cwd: cfg.Cwd, FixedCwd: cfg.FixedCwd, JSON: script.JSONMode(cfg.ScriptJSON), AlwaysHelp: cfg.ScriptHelp == "always",
		Timeout: cfg.ScriptTimeout, MaxOutput: cfg.MaxScriptOutput, Granted: k.Grants.Of, Seen: k.Scanner.Glance, Progress: k.Out.Progress,
		PrepareTimeout: cfg.PrepareTimeout, MaxEnvironment: cfg.MaxEnvironment, FetchPython: cfg.PythonDownload == "auto",
		PackageHosts: cfg.PackageHosts, NPMRC: k.npmrc(),
	}, nil
}

const maxNPMRC = 1 << 20 // bytes

// npmrc returns the user's npm settings, which say where packages come from; nil if there are none. The .npmrc of a project
// or a skill is never read.
func (k *Toolkit) npmrc() []byte {
	file := filepath.Join(k.Sys.Home, ".npmrc")
	if set := k.Sys.First([]string{"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}); filepath.IsAbs(set) {
		file = set
	}
	if !filepath.IsAbs(file) {
		return nil
	}
	b, _ := lockfile.Read(file, maxNPMRC) // without it the public registry is asked
	return b
}

// Transport returns a transport with the proxies of the environment: for the keys of an authorization server.
func (k *Toolkit) Transport() http.RoundTripper {
	return models.Transport(k.Sys.First)
}

// formerHome returns a script.Options.FormerHome.
func formerHome(plugins, served string) func(string) string {
	return func(at string) string {
		if path, ok := place.OfServer(at); ok {
			return filepath.Join(served, filepath.FromSlash(path))
		} else if place.IsVersion(at) {
			return plugins
		}
		return ""
	}
}
