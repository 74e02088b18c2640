package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// Activation is the result of the skill tool, except for a deactivation.
type Activation struct {
	SkillName    string    `json:"skill_name"`
	BasePath     string    `json:"base_path,omitempty"` // absolute directory; "" for a skill that is on no disk
	Content      string    `json:"content"`             // "" with forked; a short note when nothing is new since an earlier call
	AllowedTools *[]string `json:"allowed_tools"`       // null: unrestricted
	Args         string    `json:"args"`
	Status       string    `json:"status"` // activated, already_active or forked
	Warnings     []string  `json:"warnings,omitempty"`
}

// Deactivation is the result of the skill tool when it took a skill off the stack.
type Deactivation struct {
	SkillName string `json:"skill_name"`
	Status    string `json:"status"` // deactivated
}

var skillSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"skill_name":{"type":"string","description":"Name of the skill to invoke (from available_skills)"},` +
	`"args":{"type":"string","description":"Optional arguments to pass to the skill"},` +
	`"action":{"type":"string","enum":["activate","deactivate","search"],"description":"activate (default), deactivate, or search: skill_name is then the words to look for"}},` +
	`"required":["skill_name"]}`)

func (k *Kit) skillTool() tool.Tool {
	return tool.Tool{Name: "skill", Description: k.description(), Input: skillSchema, Call: k.wrap(k.skill)}
}

func (k *Kit) description() string {
	if k.o.Unlisted {
		return disclose.Unlisted
	}
	text, err := disclose.ToolList(k.o.Catalog(), &disclose.Options{Budget: k.o.Budget, MaxSkills: k.o.MaxSkills, Search: k.o.Search})
	if err != nil { // the style is ours: only a mistake of this program gets here
		panic(err)
	}
	return text.Body
}

func (k *Kit) skill(ctx context.Context, a *arguments) tool.Result {
	ctx, cancel := timed(ctx)
	defer cancel()
	if a.SkillName == "" {
		return tool.CauseName.Failure("skill_name is required")
	}
	switch a.Action {
	case "", "activate":
		return k.activate(ctx, a)
	case "deactivate":
		return k.deactivate(ctx, a)
	case "search":
		return k.search(ctx, a.SkillName)
	}
	return tool.CauseArguments.Failure(fmt.Sprintf("Unknown action '%s'. Use 'activate' or 'deactivate'.", a.Action))
}

func (k *Kit) activate(ctx context.Context, a *arguments) tool.Result {
	args, err := a.text()
	if err != nil {
		return tool.CauseArguments.Failure(err.Error())
	}
	return k.activateNamed(ctx, a.SkillName, args)
}

// Activate activates a skill that a model may use. The tool skill calls it.
func (k *Kit) Activate(ctx context.Context, name, args string) tool.Result {
	ctx, cancel := timed(ctx)
	defer cancel()
	return k.finish(k.activateNamed(ctx, name, args))
}

func (k *Kit) activateNamed(ctx context.Context, name, args string) tool.Result {
	s, err := k.load(ctx, name)
	if err != nil {
		return activationFailure(ctx, name, err)
	}
	defer s.Close()
	if k.o.Forks && s.Manifest().Context == "fork" {
		return k.fork(ctx, s, args)
	}
	return k.activateLoaded(ctx, s, args)
}

func (k *Kit) activateLoaded(ctx context.Context, s *skill.Skill, args string) tool.Result {
	if now, active := k.o.Session.Lookup(s.Canonical()); active && !k.o.StrictStack && unchanged(ctx, s, args, now) {
		return tool.Success(k.activation(ctx, s, args, "already_active", disclose.Text{Body: fmt.Sprintf(
			"Skill '%s' is already active: you were given its instructions in this conversation. Go on with them; skill_read with path %q shows them again.", s.Name(), s.Entry().File())}),
			fmt.Sprintf("Skill '%s' is already active", s.Name()))
	}
	text, err := k.instructions(ctx, s, args)
	if err != nil { // before it is on the stack: a failure leaves nothing active
		return activationFailure(ctx, s.Name(), err)
	}
	status, said, err := k.push(ctx, s, args)
	text.Body += said
	if err == nil {
		text.Body += k.brings(ctx, s)
	}
	var refused *hookDenial
	switch {
	case errors.As(err, &refused):
		return refused.Denied()
	case errors.Is(err, session.ErrActive):
		return tool.CauseActivation.Failure(err.Error())
	case ended(err):
		return activationFailure(ctx, s.Name(), err)
	case err != nil:
		return actionFailure("activate", err)
	}
	return tool.Success(k.activation(ctx, s, args, status, text), fmt.Sprintf("Activated skill '%s'", s.Name()))
}

// unchanged reports whether the model already has the text that an activation of s with args would return.
func unchanged(ctx context.Context, s *skill.Skill, args string, now session.Activation) bool {
	digest, err := s.Digest(ctx)
	return err == nil && digest == now.Digest && args == now.Args
}

// push puts s on the session's stack, or renews its activation. It returns the status for it, and what its hooks say.
func (k *Kit) push(ctx context.Context, s *skill.Skill, args string) (status, said string, err error) {
	token, said, err := k.enter(ctx, s, args)
	if errors.Is(err, session.ErrActive) && !k.o.StrictStack {
		return "already_active", "", k.o.Session.Renew(ctx, token, s, args)
	}
	return "activated", said, err
}

// ReplacedError says that the content of an installed skill is neither what was installed nor approved: a model gets nothing of it.
type ReplacedError struct {
	Skill     string // its name
	Installed string // digest
	Now       string // digest
}

// Error returns the text for a model.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("Skill '%s' has changed since it was installed, so nothing of it is used.", e.Skill)
}

// replaced returns an error if s was installed and has another content now, which nobody approved.
func replaced(ctx context.Context, s *skill.Skill) error {
	installed := s.Entry().Installed()
	if installed == "" {
		return nil
	}
	now, err := s.Digest(ctx)
	if err != nil || now == installed {
		return err
	}
	if t, err := s.Trust(ctx); err != nil || t.Runs() {
		return err
	}
	return &ReplacedError{Skill: s.Name(), Installed: installed, Now: now}
}

// instructions renders what a model gets for an activation of s.
func (k *Kit) instructions(ctx context.Context, s *skill.Skill, args string) (disclose.Text, error) {
	if err := replaced(ctx, s); err != nil {
		return disclose.Text{}, err
	}
	o := k.o.Instructions
	o.Args, o.Wrap, o.Scripts = args, true, k.keptFiles(s)
	return disclose.Instructions(ctx, s, &o)
}

func (k *Kit) activation(ctx context.Context, s *skill.Skill, args, status string, text disclose.Text) Activation {
	dir, err := s.Dir(ctx)
	if err != nil {
		dir = "" // a skill in memory has none
	}
	return Activation{SkillName: s.Name(), BasePath: dir, Content: text.Body, Args: args, Status: status,
		AllowedTools: allowed(s.Manifest().AllowedTools), Warnings: text.Warnings}
}

func (k *Kit) deactivate(ctx context.Context, a *arguments) tool.Result {
	was, err := k.o.Session.DeactivateName(ctx, a.SkillName)
	if err != nil {
		if errors.Is(err, session.ErrNoneActive) || errors.Is(err, session.ErrNotTop) {
			return tool.CauseActivation.Failure(err.Error())
		}
		return actionFailure("deactivate", err)
	}
	k.left(ctx, was)
	text := fmt.Sprintf("Deactivated skill '%s'", a.SkillName)
	if slices.Contains(k.o.Session.Restriction().Skills(), manifest.Canonical(a.SkillName)) {
		text += ", but what it allows holds until the prompt is answered"
	}
	return tool.Success(Deactivation{SkillName: a.SkillName, Status: "deactivated"}, text)
}

// actionFailure returns the result of an action that the session refused: "Skill activate failed: …".
func actionFailure(action string, err error) tool.Result {
	var refused *session.Error
	if errors.As(err, &refused) && errors.Is(err, session.ErrTooMany) {
		err = refused.Err // the rest of the text would say the action again
	}
	return tool.CauseActivation.Failure(fmt.Sprintf("Skill %s failed: %v", action, err))
}

func allowed(t manifest.Tools) *[]string {
	if !t.Declared {
		return nil
	}
	rules := append([]string{}, t.Rules...)
	return &rules
}

// activationFailure returns the result for a skill that was not activated: "Skill 'x' not found. Did you mean 'y'?", the text
// of a *manifest.NameError, or "Failed to load skill: …". Only a timeout of this package is reported as one.
func activationFailure(ctx context.Context, name string, err error) tool.Result {
	var missing *skill.NotFoundError
	var bad *manifest.NameError
	var other *ReplacedError
	switch {
	case errors.As(err, &other):
		return tool.CauseUntrusted.Failure(other.Error())
	case errors.As(err, &bad):
		return tool.CauseName.Failure(bad.Error() + didYouMean(".", bad.Suggest))
	case errors.As(err, &missing):
		return tool.CauseNotFound.Failure(fmt.Sprintf("Skill '%s' not found.", name) + didYouMean("", missing.Suggest))
	}
	err = cause(ctx, err)
	return failureCause(err).Failure(fmt.Sprintf("Failed to load skill: %v", err))
}

// didYouMean returns a question about the first of some names, after the end of a sentence, or "" without names.
func didYouMean(end string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s Did you mean '%s'?", end, names[0])
}
