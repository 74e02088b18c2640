package skilltool

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// forks reports whether a skill is carried out by a sub-agent.
func (k *Kit) forks(s *skill.Skill) bool { return k.o.Forks && s.Manifest().Context == "fork" }

// fork asks for a sub-agent that carries out s. The skill is active there, not here: see Sub.
func (k *Kit) fork(ctx context.Context, s *skill.Skill, args string) tool.Result {
	text, err := k.instructions(ctx, s, entry{args: args})
	if err != nil {
		return activationFailure(ctx, s.Name(), err)
	}
	task := args
	if task == "" {
		task = "carry out these instructions."
	}
	m := s.Manifest()
	model := m.Model
	if model == "inherit" {
		model = ""
	}
	out := k.activation(ctx, s, args, "forked", text)
	out.Content = "" // the sub-agent's answer comes in its place
	r := tool.Success(out, fmt.Sprintf("Skill '%s' is carried out by a sub-agent", s.Name()))
	r.Fork = &tool.Fork{Skill: s.Canonical(), Args: args, Model: model, Agent: m.Agent, Prompt: fmt.Sprintf(
		"You were started for one task with the skill '%s'. It is active. Follow its instructions and answer with the result: your last message is all that comes back.\n\n%s\n\nTask: %s",
		s.Name(), text.Body, task)}
	return r
}

// Sub returns the kit of the sub-agent that f asks for: the same skills, scripts and approvals, a session of its own
// in which f's skill is active, if it has one, and which allows no more than k's does now, the same guards, and no further forks. The skill's
// instructions are in f.Prompt, which the caller gives the sub-agent, after Opening. The caller calls End when the sub-agent has finished. With an
// error Sub returns no kit. The error is about a skill that cannot be loaded or was refused by its own hook, or ctx's.
func (k *Kit) Sub(ctx context.Context, f tool.Fork) (*Kit, error) {
	ctx, cancel := timed(ctx)
	defer cancel()
	o := k.o
	o.Forks = false
	o.Session = k.o.Session.Sub()
	sub := New(&o)
	sub.outer = k
	if k.wasCalled(f.Skill) {
		sub.called = map[string]bool{f.Skill: true}
	}
	if f.Skill == "" {
		return sub, nil
	}
	s, err := sub.load(ctx, f.Skill)
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer s.Close()
	in, err := sub.enter(ctx, s, entry{args: f.Args, told: true})
	if err != nil {
		return nil, cause(ctx, err)
	}
	if o.Hold {
		o.Session.Hold(in.token)
	}
	sub.opening = strings.TrimSpace(in.text.Body)
	return sub, nil
}

// Opening returns what the SessionStart hooks of a sub-agent's skill said, for the model that reads the prompt of the fork. It is
// "" if they said nothing, and for a kit that Sub has not made.
func (k *Kit) Opening() string { return k.opening }
