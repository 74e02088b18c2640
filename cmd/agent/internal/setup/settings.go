package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/replica"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// Settings are the user's, the project's and the flags'. They are read once, when they are first asked for; that is
// after the flags were parsed.
type Settings struct {
	sys   *System
	flags *Flags

	governing sync.Once
	policy    *policy.Policy

	proposed []config.Server // see Propose

	once     sync.Once
	config   *config.Config
	problems []manifest.Problem

	onPath  sync.Once
	path    []string
	dropped []program.Dropped

	installed registry.Cache

	sharing  sync.Once
	fleet    *replica.Replica
	of       *Settings // whose connection to the fleet is used, too; nil for one of its own
	recorder Recorder
}

// Recorder records decisions.
type Recorder interface {
	Text(context.Context, trace.Event) ([]byte, error) // for the log of a fleet, as replica.Options has it
	Record(context.Context, trace.Event) error
}

// RecordTo sets the Recorder of decisions about what a fleet shares.
func (s *Settings) RecordTo(r Recorder) { s.recorder = r }

// Fleet returns the state that this machine shares with others, nil with the setting state: files.
func (s *Settings) Fleet() *replica.Replica {
	s.sharing.Do(func() {
		if s.Config().Fleet {
			s.fleet = s.Shared()
		}
	})
	return s.fleet
}

// Shared returns what Fleet returns with state: fleet. The caller closes it.
func (s *Settings) Shared() *replica.Replica {
	cfg := s.Config()
	host, _ := os.Hostname()
	o := &replica.Options{Node: s.Node, Tenant: cfg.Tenant, Installed: cfg.PluginsDir, Writer: fmt.Sprintf("%s/%d", host, os.Getpid()), Now: s.sys.Now,
		Record: s.recorder.Text, Done: func(ctx context.Context, e trace.Event) { _ = s.recorder.Record(ctx, e) }} // the fleet has recorded it
	if s.of != nil {
		o.With = s.of.Fleet()
	}
	return replica.New(o)
}

// Close ends the connection to a fleet.
func (s *Settings) Close() {
	if s.fleet != nil {
		s.fleet.Close()
	}
}

// Config returns every setting.
func (s *Settings) Config() *config.Config {
	s.read()
	return s.config
}

// Survey returns how the scripts of a skill are found.
func (s *Settings) Survey() *survey.Options {
	return &survey.Options{Rule: survey.Rule(s.Config().Scripts)}
}

// Problems returns what is wrong with the files and variables that the settings come from.
func (s *Settings) Problems() []manifest.Problem {
	s.read()
	return s.problems
}

func (s *Settings) read() {
	s.once.Do(func() {
		s.config, s.problems = config.Load(s.options())
		s.propose()
		for i, p := range s.problems {
			s.problems[i] = cure.Advised(p)
		}
		if home := s.sys.Getenv("HOME"); home != "" && !filepath.IsAbs(home) {
			s.problems = slices.Insert(s.problems, 0, manifest.Problem{Code: "config-value", Severity: manifest.SeverityError, File: "HOME",
				Message: fmt.Sprintf("%q is not an absolute path: it is ignored", home), Cure: "export HOME with an absolute path"})
		}
	})
}

func (s *Settings) options() *config.Options {
	o := &config.Options{Policy: s.Policy(), Home: s.sys.Home, Dir: s.sys.Dir, Lookup: s.sys.Lookup, Flags: map[string]config.FlagValue{}}
	f := s.flags
	if f.Project != "" {
		o.Project = s.sys.Abs(f.Project)
	}
	if home := s.Home(); home != "" {
		o.Cache = filepath.Join(home, CacheFolder)
	}
	flag := func(key, name string, values ...string) { o.Flags[key] = config.FlagValue{Name: name, Values: values} }
	if f.Profile != "" {
		flag("profile", "--profile", f.Profile)
	}
	if f.Strict {
		flag("profile", "--strict", "spec")
	}
	if len(f.SkillsDir) > 0 {
		dirs := make([]string, len(f.SkillsDir))
		for i, dir := range f.SkillsDir {
			dirs[i] = s.sys.Abs(dir)
		}
		flag("roots", "--skills-dir", dirs...)
	}
	if f.Tenant != "" {
		flag("tenant", "serve.tenants", f.Tenant)
	}
	if f.Plain {
		flag("plain", "--plain", "true")
	}
	if f.NoContext {
		flag("contextFiles", "--no-context", "false")
	}
	if f.Effort != "" {
		flag("effort", "--effort", f.Effort)
	}
	if f.Mode != "" {
		flag("mode", "--mode", f.Mode)
	}
	if len(f.Allow) > 0 {
		flag("permissions.allow", "--allow", f.Allow...)
	}
	if len(f.Deny) > 0 {
		flag("permissions.deny", "--deny", f.Deny...)
	}
	if f.Sandbox != "" {
		flag("sandbox", "--sandbox", f.Sandbox)
		flag("bashSandbox", "--sandbox", f.Sandbox)
	}
	if f.Timeout > 0 {
		flag("scriptTimeout", "--timeout", f.Timeout.String())
	}
	return o
}

// CacheFolder is the folder of the home that holds what can be made again.
const CacheFolder = "cache"

// Home returns $AGENT_HOME, by default ~/.agent, or "" without either. It agrees with config.Paths.Agent.
func (s *Settings) Home() string {
	if dir := s.sys.Getenv("AGENT_HOME"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if s.sys.Home == "" {
		return ""
	}
	return filepath.Join(s.sys.Home, ".agent")
}

// NeedTenant returns an error if it is not known for whom the command works.
func (s *Settings) NeedTenant() error {
	if nobody := s.Config().Nobody; nobody != nil {
		return failure.Usage(fmt.Errorf("%w: nothing is done, because it is not known whose approvals and files to use", nobody),
			"agent doctor shows where it is set; the name has up to 64 of a-z, 0-9, -, _ and ., with a letter or digit at both ends")
	}
	return nil
}

// NeedHome returns an error if there is no home to write to. The error says what to do.
func (s *Settings) NeedHome() error {
	if s.Home() != "" {
		return s.NeedTenant()
	}
	return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Hint: "export AGENT_HOME=DIR", Err: errors.New("no home directory to write to")}
}

// NeedRoom is NeedHome for a file that is about to be written to a folder of the home; "" is the home itself.
func (s *Settings) NeedRoom(folder string) error {
	if err := s.NeedHome(); err != nil {
		return err
	}
	dir := filepath.Join(s.Config().Paths.State(), folder)
	if err := Writable(dir); err != nil {
		return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Hint: failure.OtherHome, Err: fmt.Errorf("nothing can be written to %q: %w", dir, err)}
	}
	return nil
}

// ScriptPath returns the folders in which scripts find programs, and the folders of the operator's PATH that are not used. The
// setting path replaces the operator's.
func (s *Settings) ScriptPath() ([]string, []program.Dropped) {
	s.onPath.Do(func() {
		cfg := s.Config()
		if s.path = cfg.Path; len(s.path) > 0 {
			return
		}
		o := &program.PathOptions{Project: cfg.Paths.Project, Home: cfg.Paths.Home, Own: s.Home()}
		for _, layer := range cfg.Layers() {
			if layer.Dir != "" {
				o.Skills = append(o.Skills, layer.Dir)
			}
		}
		s.path, s.dropped = program.CleanPath(s.sys.Getenv("PATH"), o)
	})
	return s.path, s.dropped
}

// FindProgram returns the path of a program that scripts would find.
func (s *Settings) FindProgram(name string) (string, error) {
	dirs, dropped := s.ScriptPath()
	return program.FindClean(name, dirs, dropped)
}

// Origin returns a setting with where its value came from, for people: "disabled (/home/me/.agent/config.yaml:3)",
// "activation: auto (default)".
func (s *Settings) Origin(key string) string {
	cfg := s.Config()
	for _, one := range cfg.Settings() {
		if one.Key != key {
			continue
		}
		if value, ok := one.Value.(string); ok {
			key += ": " + value
		}
		return fmt.Sprintf("%s (%s)", key, Origins(one.Origins))
	}
	return key
}

// DecidedBy names the setting or the part of the manifest that made a skill's state.
func (s *Settings) DecidedBy(e skill.Entry) string {
	cfg := s.Config()
	disabled := e.State() == skill.StateDisabled
	switch e.Cause() {
	case skill.CauseDuplicate:
		return s.Origin("duplicates")
	case skill.CauseAllow:
		return s.Origin("allow")
	case skill.CauseDeny:
		return s.Origin("deny")
	case skill.CauseAdmit:
		return policy.Layer
	case skill.CauseOnlyBundled:
		return s.Origin("enabledBundled")
	case skill.CauseNotBundled:
		return s.Origin("disabledBundled")
	case skill.CauseWish:
		if disabled {
			return s.Origin("disabled")
		}
		return s.Origin("enabled")
	case skill.CauseManifest:
		if disabled {
			return "default_enabled in its manifest"
		}
		return "its manifest"
	case skill.CauseProblem, skill.CauseRequirement, skill.CauseUnwritten:
		return "its manifest"
	case skill.CauseExample:
		return s.Origin("enabled")
	}
	if cfg.Want.Mode != skill.SelectAuto {
		return s.originOf("enabledSkills", "activation")
	}
	return s.Origin("activation")
}

// originOf returns the origin of the first of two settings, or of the second where the first is not set.
func (s *Settings) originOf(first, second string) string {
	cfg := s.Config()
	for _, one := range cfg.Settings() {
		if one.Key == first && one.Origins[0].Rank != config.Default {
			return s.Origin(first)
		}
	}
	return s.Origin(second)
}

// Wanted reports whether a skill is enabled as far as it can be: what (enabled) means in agent --check.
func (s *Settings) Wanted(e skill.Entry) bool {
	cfg := s.Config()
	name := e.Canonical()
	switch cfg.Want.Mode {
	case skill.SelectNamed:
		return contains(cfg.Want.Names, name) && e.State() != skill.StateDisabled
	case skill.SelectNone:
		return false
	case skill.SelectAll, skill.SelectAllUntrusted:
		return e.State() != skill.StateDisabled
	}
	return e.State() != skill.StateDisabled && !switchedOff(cfg, e)
}

// switchedOff reports whether the settings switch a skill off by its name.
func switchedOff(cfg *config.Config, e skill.Entry) bool {
	name := e.Canonical()
	return contains(cfg.Want.Disabled, name) || e.Layer() == config.Bundled && contains(cfg.Want.NotBundled, name)
}

// Wished reports whether the user's files and the manifest enable a skill. It ignores AGENT_SKILLS.
func (s *Settings) Wished(e skill.Entry) bool {
	cfg := s.Config()
	name := e.Canonical()
	switch {
	case switchedOff(cfg, e):
		return false
	case contains(cfg.Want.Enabled, name):
		return true
	case cfg.Want.Mode == skill.SelectAuto:
		return e.State() != skill.StateDisabled
	}
	return e.DefaultEnabled()
}

func contains(names []string, canonical string) bool {
	for _, n := range names {
		if manifest.Canonical(n) == canonical {
			return true
		}
	}
	return false
}

// Origins returns where a setting came from, for people.
func Origins(all []config.Origin) string {
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = o.String()
	}
	return strings.Join(names, ", ")
}

// NewSettings returns the settings of a run.
func NewSettings(sys *System, flags *Flags) *Settings { return &Settings{sys: sys, flags: flags} }

// For returns Settings for other flags, such as a tenant's, in the same process.
func (s *Settings) For(flags *Flags) *Settings { return &Settings{sys: s.sys, flags: flags, of: s} }

// Private returns what scripts do not see: the engine's home has approvals, conversations and what other skills keep, and a server's
// secrets make them somebody else.
func (s *Settings) Private() []string {
	c := &s.Config().Serve
	return slices.DeleteFunc([]string{s.Home(), c.Key, c.Tokens, c.Secrets, c.CertKey, c.Creds}, func(path string) bool { return path == "" })
}

// Kept returns the folders that scripts do not change: those that decide which content may run, and those of skills.
func (s *Settings) Kept(trusted []string) []string {
	cfg := s.Config()
	dirs := append([]string{cfg.Paths.System, cfg.CoreDir}, trusted...)
	for _, layer := range cfg.Layers() {
		dirs = append(dirs, layer.Dir)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// SandboxMode returns the setting that holds for scripts: where no person approved them, they need a sandbox.
func (s *Settings) SandboxMode() string {
	cfg := s.Config()
	if cfg.Sandbox == string(runner.ConfineAuto) && cfg.Want.Mode == skill.SelectAllUntrusted {
		return string(runner.ConfineRequired)
	}
	return cfg.Sandbox
}

// FindTool finds programs as the settings say: python and uv may be set to a path of the user's.
func (s *Settings) FindTool(name string) (string, error) {
	cfg := s.Config()
	switch {
	case name == "uv" && cfg.UV != "":
		return cfg.UV, nil
	case name == "python3" && cfg.Python != "":
		return cfg.Python, nil
	}
	return s.FindProgram(name)
}

// Registry returns the list of installed skills.
func (s *Settings) Registry() *registry.Store {
	if f := s.Fleet(); f != nil {
		list := f.Skills()
		list.Cache = &s.installed
		return list
	}
	return s.Installed()
}

// OtherSkills returns the list of installed skills in the file of this home if Registry returns that of a fleet. The contents that a fleet has
// come back when they are wanted.
func (s *Settings) OtherSkills(ctx context.Context) ([]*registry.Set, error) {
	if s.Fleet() == nil {
		return nil, nil
	}
	set, err := s.Installed().Load(ctx)
	return []*registry.Set{set}, err
}

// Installed returns the file of installed skills of this machine.
func (s *Settings) Installed() *registry.Store {
	versions := &store.Dir{Root: s.Config().PluginsDir}
	return &registry.Store{Path: filepath.Join(s.Config().Paths.Skills(), "registry.json"), Now: s.sys.Now, Home: s.sys.Home, Cache: &s.installed, Folder: versions.Path}
}
