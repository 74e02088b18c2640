package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// settings returns every setting, and what is wrong with the files that they come from. They are read once.
func (a *app) settings() (*config.Config, []manifest.Problem) {
	if a.cfg == nil {
		a.cfg, a.cfgProblems = config.Load(a.configOptions())
	}
	return a.cfg, a.cfgProblems
}

func (a *app) configOptions() *config.Options {
	o := &config.Options{Home: a.sys.Home, Dir: a.sys.Dir, Lookup: a.sys.lookup, Flags: map[string]config.FlagValue{}}
	if a.flags.project != "" {
		o.Project = a.abs(a.flags.project)
	}
	if home := a.home(); home != "" {
		o.Cache = filepath.Join(home, cacheFolder)
	}
	flag := func(key, name string, values ...string) { o.Flags[key] = config.FlagValue{Name: name, Values: values} }
	if a.flags.profile != "" {
		flag("profile", "--profile", a.flags.profile)
	}
	if a.flags.strict {
		flag("profile", "--strict", "spec")
	}
	if len(a.flags.skillsDir) > 0 {
		dirs := make([]string, len(a.flags.skillsDir))
		for i, dir := range a.flags.skillsDir {
			dirs[i] = a.abs(dir)
		}
		flag("roots", "--skills-dir", dirs...)
	}
	if a.timeout > 0 {
		flag("scriptTimeout", "--timeout", a.timeout.String())
	}
	return o
}

// cacheFolder is the folder of the home that holds what can be made again.
const cacheFolder = "cache"

// home returns $AGENT_HOME, by default ~/.agent, or "" when there is neither. It agrees with config.Paths.Agent.
func (a *app) home() string {
	if dir := a.sys.getenv("AGENT_HOME"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if a.sys.Home == "" {
		return ""
	}
	return filepath.Join(a.sys.Home, ".agent")
}

// needHome says what to do where something must be kept and there is no place for it.
func (a *app) needHome() error {
	if a.home() != "" {
		return nil
	}
	return &failure{exit: ExitFailure, code: "failed", hint: "export AGENT_HOME=DIR", err: errors.New("there is no home directory to write to")}
}

// otherHome is what to do where the home directory is no place to write to.
const otherHome = "export AGENT_HOME=DIR, a folder that can be written"

// needRoom is needHome for what is about to be written to a folder of the home, "" for the home itself.
func (a *app) needRoom(folder string) error {
	if err := a.needHome(); err != nil {
		return err
	}
	dir := filepath.Join(a.home(), folder)
	if err := writable(dir); err != nil {
		return &failure{exit: ExitFailure, code: "failed", hint: otherHome, err: fmt.Errorf("nothing can be written to %q: %w", dir, err)}
	}
	return nil
}

// checkGlobals refuses global flags that make no sense.
func (a *app) checkGlobals() error {
	g := &a.flags
	if g.strict && g.profile != "" && g.profile != "spec" {
		return usage(fmt.Errorf("--strict and --profile %s at once", g.profile), "--strict is --profile spec")
	}
	if g.profile != "" {
		if err := checkProfile(g.profile); err != nil {
			return err
		}
	}
	if g.project != "" {
		if err := a.checkFolder("--project", g.project); err != nil {
			return err
		}
	}
	for _, dir := range g.skillsDir {
		if err := a.checkFolder("--skills-dir", dir); err != nil {
			return err
		}
	}
	return checkLogFormat(g.logFormat)
}

// checkFolder refuses the value of a flag that names no folder.
func (a *app) checkFolder(flag, dir string) error {
	if info, err := os.Stat(a.abs(dir)); err != nil || !info.IsDir() {
		return usage(fmt.Errorf("%s %q is no folder", flag, dir), "")
	}
	return nil
}

func checkProfile(name string) error {
	var names []string
	for _, p := range config.Profiles() {
		if p.Name == name {
			return nil
		}
		names = append(names, p.Name)
	}
	err := fmt.Errorf("unknown profile %q", name)
	if meant := near.Name(name, names); meant != "" {
		return usage(err, fmt.Sprintf("did you mean %q?", meant))
	}
	return usage(err, fmt.Sprintf("one of %s", strings.Join(names, ", ")))
}

// origin returns a setting with where its value came from, for people: "disabled (/home/me/.agent/config.yaml:3)",
// "activation: auto (default)".
func (a *app) origin(key string) string {
	cfg, _ := a.settings()
	for _, s := range cfg.Settings() {
		if s.Key != key {
			continue
		}
		if value, ok := s.Value.(string); ok {
			key += ": " + value
		}
		return fmt.Sprintf("%s (%s)", key, origins(s.Origins))
	}
	return key
}

// decidedBy names the setting or the part of the manifest that made a skill's state.
func (a *app) decidedBy(e skill.Entry) string {
	cfg, _ := a.settings()
	disabled := e.State() == skill.StateDisabled
	switch e.Cause() {
	case skill.CauseDuplicate:
		return a.origin("duplicates")
	case skill.CauseAllow:
		return a.origin("allow")
	case skill.CauseDeny:
		return a.origin("deny")
	case skill.CauseOnlyBundled:
		return a.origin("enabledBundled")
	case skill.CauseWish:
		if disabled {
			return a.originOf("disabled", "disabledBundled")
		}
		return a.origin("enabled")
	case skill.CauseManifest:
		if disabled {
			return "default_enabled in its manifest"
		}
		return "its manifest"
	case skill.CauseProblem, skill.CauseRequirement:
		return "its manifest"
	}
	if cfg.Want.Mode != skill.SelectAuto {
		return a.originOf("enabledSkills", "activation")
	}
	return a.origin("activation")
}

// originOf returns the origin of the first of two settings, or of the second where the first is not set.
func (a *app) originOf(first, second string) string {
	cfg, _ := a.settings()
	for _, s := range cfg.Settings() {
		if s.Key == first && s.Origins[0].Rank != config.Default {
			return a.origin(first)
		}
	}
	return a.origin(second)
}

// cure is the command that brings back a skill that is not enabled, or that explains why it is not.
func cure(e skill.Entry) string {
	switch {
	case e.Cause() == skill.CauseTrust:
		return "agent skill trust " + e.Canonical()
	case e.State() == skill.StateDisabled && (e.Cause() == skill.CauseWish || e.Cause() == skill.CauseManifest):
		return "agent skill enable " + e.Canonical()
	}
	return "agent skill why " + e.Canonical()
}

// wanted reports whether a skill is enabled as far as it can be: what (enabled) means in agent --check.
func (a *app) wanted(e skill.Entry) bool {
	cfg, _ := a.settings()
	name := e.Canonical()
	switch cfg.Want.Mode {
	case skill.SelectNamed:
		return contains(cfg.Want.Names, name) && e.State() != skill.StateDisabled
	case skill.SelectNone:
		return false
	case skill.SelectAll, skill.SelectAllUntrusted:
		return e.State() != skill.StateDisabled
	}
	return e.State() != skill.StateDisabled && !contains(cfg.Want.Disabled, name)
}

// wished reports what the user's files and the manifest say, whatever AGENT_SKILLS makes of it in this run (C22).
func (a *app) wished(e skill.Entry) bool {
	cfg, _ := a.settings()
	name := e.Canonical()
	switch {
	case contains(cfg.Want.Disabled, name):
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
