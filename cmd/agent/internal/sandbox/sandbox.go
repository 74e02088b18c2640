// Package sandbox confines scripts and commands as this machine can and the organisation says.
package sandbox

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/egress"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
)

// Sandbox confines scripts and commands as this machine can.
type Sandbox struct {
	sys      *setup.System
	settings *setup.Settings

	once   sync.Once
	runner confiner
	err    error

	mu    sync.Mutex
	have  runner.Sandbox // what the machine could confine at the time asked
	asked time.Time
}

// fresh is how long the answer about the machine is used again: a command may ask about hundreds of skills.
const fresh = time.Minute

// confiner is a runner.Runner that knows what it can confine.
type confiner interface {
	runner.Runner
	Report(context.Context) runner.Sandbox
}

// Runner returns what runs every script and command: as the organisation says, whoever asks.
func (s *Sandbox) Runner() (runner.Runner, error) {
	next, err := s.open()
	_, limited := s.settings.Policy().Network()
	required := s.settings.Policy().Sandbox(string(runner.ConfineAuto)).Level == policy.Never
	if err != nil || !limited && !required {
		return next, err
	}
	return runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		governed := *c
		governed.Network = *s.settings.Limit(&c.Network)
		if required {
			governed.Confine = runner.ConfineRequired
		}
		return next.Run(ctx, &governed)
	}), nil
}

func (s *Sandbox) open() (confiner, error) {
	s.once.Do(func() { s.runner, s.err = newConfiner(s.proxy) })
	return s.runner, s.err
}

// proxy opens the proxy of one command. It uses the operator's own proxy, if there is one.
func (s *Sandbox) proxy(n *runner.Network, token string) (confine.ProxyRun, error) {
	return egress.Open(n, token, &egress.Options{Upstream: models.Proxy(s.sys.First)})
}

// Network opens what decides about the connections of this program itself, as the proxy of a command does. The caller closes it.
func (s *Sandbox) Network(n *runner.Network) (*egress.Proxy, error) {
	return egress.Open(s.settings.Limit(n), "", &egress.Options{Upstream: models.Proxy(s.sys.First)})
}

// Machine returns what this machine can confine. It starts a process or two, unless it did so within the last minute.
func (s *Sandbox) Machine(ctx context.Context) (*runner.Sandbox, error) {
	runner, err := s.open()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.sys.Now(); s.asked.IsZero() || now.Sub(s.asked) > fresh {
		have := runner.Report(ctx)
		if ctx.Err() != nil {
			return &have, ctx.Err()
		}
		s.have, s.asked = have, now
	}
	have := s.have
	have.Layers, have.Missing = slices.Clone(have.Layers), slices.Clone(have.Missing)
	return &have, nil
}

// State is what confines scripts, for people and programs.
type State struct {
	Setting string   `json:"setting"` // off, auto or required: what holds for scripts
	Tier    string   `json:"tier"`    // A to E of the machine, or "off"
	Layers  []string `json:"layers"`
	Missing []string `json:"missing"`
	OK      bool     `json:"ok"`             // it is what the setting asks for
	Cure    string   `json:"cure,omitempty"` // what would provide the missing layers
}

// State compares what this machine can confine with the setting.
func (s *Sandbox) State(ctx context.Context) (*State, error) {
	state := &State{Setting: s.settings.SandboxMode(), Tier: runner.NoSandbox, Layers: []string{}, Missing: []string{}, OK: true}
	if state.Setting == string(runner.ConfineOff) {
		return state, nil
	}
	have, err := s.Machine(ctx)
	if err != nil {
		return nil, err
	}
	state.Tier, state.Layers, state.Missing = have.Tier, append(state.Layers, have.Layers...), append(state.Missing, have.Missing...)
	state.OK = state.Setting != string(runner.ConfineRequired) || have.ConfinesFiles()
	if len(state.Missing) > 0 {
		state.Cure = sandboxCure(have)
	}
	return state, ctx.Err()
}

// tiers says what each tier confines.
var tiers = map[string]string{
	"A": "files, network and processes, in a view of the system of its own",
	"B": "files, network and processes, by rules of the kernel",
	"C": "network and processes, not files",
	"D": "files and network",
	"E": "processes, not files and network",
}

// Text describes the state in a line: "tier A (files, network and processes, …)".
func (s *State) Text() string {
	text := "off: nothing is confined"
	if s.Tier != runner.NoSandbox {
		text = "tier " + s.Tier + " (" + tiers[s.Tier] + ")"
	}
	if s.Setting == string(runner.ConfineOff) {
		text += ", by the setting sandbox"
	}
	if !s.OK {
		text += ", but one for files and network is required"
	}
	return text
}

// Warning says, for a person, that a script ran with less than the setting asks for; "" if it did not. had is what confined it,
// nil if it did not start.
func (s *Sandbox) Warning(had *runner.Sandbox) string {
	if had == nil || s.settings.SandboxMode() == string(runner.ConfineOff) || had.ConfinesFiles() {
		return ""
	}
	return "scripts can read and change your files here: this machine has no sandbox for them (agent doctor shows why)"
}

// newConfiner returns the sandbox of this machine. Its commands reach hosts through proxy.
func newConfiner(proxy confine.Proxy) (confiner, error) {
	return confine.New(&confine.Options{Proxy: proxy})
}

// sandboxCure says what would provide the layers that a sandbox lacks, "" if nothing is known.
func sandboxCure(have *runner.Sandbox) string {
	lacks := func(layer string) bool {
		return slices.ContainsFunc(have.Missing, func(text string) bool { return strings.HasPrefix(text, layer) })
	}
	switch {
	case runtime.GOOS != "linux":
		return ""
	case lacks(confine.Namespaces):
		return "allow user namespaces: on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0, elsewhere sysctl user.max_user_namespaces=15000; " +
			"in a container run it with a seccomp profile that allows unshare and mount"
	case lacks(confine.Landlock):
		return "use Linux 5.13 or newer, with landlock in the kernel's list of security modules (lsm=)"
	}
	return ""
}

// New returns the sandbox of a run.
func New(sys *setup.System, settings *setup.Settings) *Sandbox {
	return &Sandbox{sys: sys, settings: settings}
}
