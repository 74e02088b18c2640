// Package run runs the scripts of skills, their hooks and the programs that serve them: what Call asks for becomes a plan.Run with what
// interpreter and places have for it, its command is executed, and Done or Served says what became of it.
package run

import (
	"context"
	"sync/atomic"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/interpreter"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Options configures an Engine. The functions and Trace may be nil.
type Options struct {
	Operator *plan.Operator
	Runner   runner.Runner // executes the commands
	Bare     bool          // they run without a sandbox

	Interpreters *interpreter.Chooser
	Envs         *envs.Store
	Places       *places.Store

	// Hosts, Granted and Seen are those of script.Options.
	Hosts   func(ctx context.Context, s *skill.Skill, sc survey.Script, args []string, n *runner.Network) (done func(*runner.Output))
	Granted func(context.Context, *skill.Skill) (plan.Grant, error)
	Seen    func(context.Context, *skill.Skill) explain.Seen

	Trace trace.Tracer
}

// Engine runs scripts. New makes one.
type Engine struct {
	o       Options
	noLayer atomic.Bool // Runner has no private layers
}

// New returns an Engine. It copies o.
func New(o *Options) *Engine {
	e := &Engine{o: *o}
	e.noLayer.Store(o.Bare)
	return e
}

// Granted returns what the user gave a skill, with what its manifest declares.
func (e *Engine) Granted(ctx context.Context, s *skill.Skill) (plan.Grant, error) {
	g := plan.Grant{Declared: true}
	if e.o.Granted != nil {
		var err error
		if g, err = e.o.Granted(ctx, s); err != nil {
			return g, err
		}
	}
	if g.Declared {
		plan.Declare(&g, s.Manifest(), e.o.Operator.Guard.Home)
	}
	return g, nil
}
