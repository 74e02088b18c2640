package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill/manifest"
)

// gate decides about calls of tools, and asks the user about those for which the policy says so. It is safe for
// concurrent use.
type gate struct {
	s        *app.Services
	approver *consent.Approver                      // nil: no person can be asked
	problems []manifest.Problem                     // of rules
	note     func(kind, text string, confined bool) // hears what is allowed for the rest of the conversation
	ran      func()                                 // called before each script and each tool of a skill; may be nil

	mu       sync.Mutex
	policy   *permit.Policy // that of the conversation: its mode and rules can change
	chosen   bool           // the mode was chosen since the conversation began or continued
	confined bool           // commands run in a sandbox
}

func newGate(s *app.Services, approver *consent.Approver) *gate {
	g := &gate{s: s, approver: approver}
	g.policy, g.problems = s.Settings.Permissions()
	return g
}

// current returns the policy as it is now.
func (g *gate) current() *permit.Policy {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.policy
}

// mode returns the mode as it is now, and whether the user chose it since the conversation began or continued.
func (g *gate) mode() (now permit.Mode, chosen bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.policy.Mode(), g.chosen
}

func (g *gate) confine(confined bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.confined = confined
}

// errAll says why the mode all is refused.
var errAll = errors.New("the mode all needs a sandbox for commands, and there is none here")

// check refuses the mode all where commands run outside a sandbox, and a flag with a rule that cannot be read. It warns
// of such rules in the settings.
func (g *gate) check() error {
	for _, p := range g.problems {
		if strings.HasPrefix(p.File, "--") {
			return failure.Usage(fmt.Errorf("%s: %s", p.File, strings.TrimSuffix(strings.TrimSuffix(p.Message, ": the rule is dropped"), ": the rule counts for any arguments")), p.Cure)
		}
		g.s.Out.WarnProblem(p)
	}
	if g.current().Mode() == permit.All && !g.mayAll() {
		return failure.Usage(errAll, "choose --mode accept-edits, or add --without-sandbox if the model may do as you")
	}
	return nil
}

func (g *gate) mayAll() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.confined || g.s.Flags.WithoutSandbox
}

// refuseMode returns why a mode cannot be chosen here, nil if it can be.
func (g *gate) refuseMode(m permit.Mode) error {
	if err := g.s.Settings.Policy().Mode(m).Refuse("the mode %s is refused", m); err != nil {
		return err
	}
	if m == permit.All && !g.mayAll() {
		return fmt.Errorf("%w: start the agent with --without-sandbox if the model may do as you", errAll)
	}
	return nil
}

// setMode changes the mode for the rest of the conversation.
func (g *gate) setMode(m permit.Mode) error {
	if err := g.refuseMode(m); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.policy, g.chosen = g.policy.WithMode(m), true
	g.note(allowedMode, string(m), false)
	return nil
}

// add adds a rule for the rest of the conversation.
func (g *gate) add(rule permit.Rule) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, err := g.policy.WithAllow(rule)
	if err == nil {
		g.policy = p
	}
	return err
}

func (g *gate) decide(ctx context.Context, c *permit.Call) permit.Decision {
	if err := g.s.Settings.Policy().Err(); err != nil {
		return permit.Decision{Verdict: permit.Denied, Reason: err.Error()}
	}
	if c.Kind == permit.Command && !c.Confined {
		if d := g.s.Settings.Policy().Sandbox(string(runner.ConfineOff)); d.Level == policy.Never {
			return permit.Decision{Verdict: permit.Denied, Reason: "no command runs outside the sandbox: " + d.Why}
		}
	}
	p := g.current()
	if isTyped(ctx) {
		p = p.WithMode(permit.Ask) // the mode is about what the model does
	}
	d := p.Decide(c)
	if d.Verdict == permit.Denied && d.Rule.Text == "" && p.Mode() == permit.ReadOnly {
		d.Reason += "; " + cure.ReadOnly
	}
	return d
}
