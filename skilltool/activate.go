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
	Status       string    `json:"status"`           // activated, already_active or forked
	Origin       string    `json:"origin,omitempty"` // skill.Entry.Origin
	Warnings     []string  `json:"warnings,omitempty"`
}

// deactivation is the result of the skill tool when it took a skill off the stack.
type deactivation struct {
	SkillName string `json:"skill_name"`
	Status    string `json:"status"` // deactivated
}

const skillProperties = `{"type":"object","properties":{` +
	`"skill_name":{"type":"string","description":"Name of the skill to invoke (from available_skills)"},` +
	`"args":{"type":"string","description":"Optional arguments to pass to the skill"},` +
	`"action":{"type":"string","enum":["activate","deactivate","search"`

// The schemas of the tool skill: without and with the action list, which needs no name.
var (
	skillSchema   = json.RawMessage(skillProperties + `],"description":"activate (default), deactivate, or search: skill_name is then the words to look for"}},"required":["skill_name"]}`)
	listingSchema = json.RawMessage(skillProperties + `,"list"],"description":"activate (default), deactivate, search: skill_name is then the words to look for, ` +
		`or list: all skills, or those that follow skill_name"}}}`)
)

func (k *Kit) skillTool() tool.Tool {
	t := tool.Tool{Name: "skill", Description: k.description(), Input: skillSchema, Call: k.wrap(k.skill)}
	if k.o.Show.Listing {
		t.Input = listingSchema
	}
	return t
}

func (k *Kit) description() string {
	if k.o.Show.Unlisted {
		return disclose.Unlisted
	}
	text, err := disclose.ToolList(k.o.Catalog(), &disclose.Options{Budget: k.o.Show.Budget, MaxSkills: k.o.Show.MaxSkills, Search: disclose.SearchTool})
	if err != nil { // the style is ours: only a mistake of this program gets here
		panic(err)
	}
	return text.Body
}

func (k *Kit) skill(ctx context.Context, a *arguments) tool.Result {
	ctx, cancel := timed(ctx)
	defer cancel()
	if a.Action == "list" && k.o.Show.Listing {
		return k.list(ctx, a.SkillName)
	}
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

// Activate activates a skill that a model may use: the tool skill is this call. The name may have any spelling; args is what the user
// or the model wrote after it. The result is an Activation; with Options.Forks that of a skill with context: fork has a tool.Fork
// instead of the instructions.
func (k *Kit) Activate(ctx context.Context, name, args string) tool.Result {
	ctx, cancel := timed(ctx)
	defer cancel()
	return k.activateNamed(ctx, name, args)
}

func (k *Kit) activateNamed(ctx context.Context, name, args string) tool.Result {
	s, err := k.load(ctx, name)
	if err != nil {
		return activationFailure(ctx, name, err)
	}
	defer s.Close()
	if k.forks(s) {
		return k.fork(ctx, s, args)
	}
	return k.activateLoaded(ctx, s, args)
}

// activateLoaded activates a skill for the tool skill, or because its user called for it.
func (k *Kit) activateLoaded(ctx context.Context, s *skill.Skill, args string) tool.Result {
	in, err := k.enter(ctx, s, entry{args: args, strict: k.o.StrictStack})
	if err != nil {
		return enterFailure(ctx, s.Name(), err)
	}
	if in.known {
		return tool.Success(k.activation(ctx, s, args, in.status(), disclose.Text{Body: fmt.Sprintf(
			"Skill '%s' is already active: you were given its instructions in this conversation. Go on with them; skill_read with path %q shows them again.", s.Name(), s.Entry().File())}),
			fmt.Sprintf("Skill '%s' is already active", s.Name()))
	}
	in.text.Body += k.brings(ctx, s)
	return tool.Success(k.activation(ctx, s, args, in.status(), in.text), fmt.Sprintf("Activated skill '%s'", s.Name()))
}

func (k *Kit) activation(ctx context.Context, s *skill.Skill, args, status string, text disclose.Text) Activation {
	dir, err := s.Dir(ctx)
	if err != nil {
		dir = "" // a skill in memory has none
	}
	out := Activation{SkillName: s.Name(), BasePath: dir, Content: text.Body, Args: args, Status: status,
		AllowedTools: allowed(s.Manifest().AllowedTools), Origin: s.Entry().Origin(), Warnings: text.Warnings}
	if !s.Heeded(ctx) {
		out.AllowedTools = nil
	}
	return out
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
	return tool.Success(deactivation{SkillName: a.SkillName, Status: "deactivated"}, text)
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

// enterFailure returns the result for a skill that enter did not activate.
func enterFailure(ctx context.Context, name string, err error) tool.Result {
	if refused, ok := errors.AsType[*tool.Denial](err); ok {
		return refused.Result
	}
	switch {
	case errors.Is(err, session.ErrActive):
		return tool.CauseActivation.Failure(err.Error())
	case isA[*session.Error](err):
		return actionFailure("activate", err)
	}
	return activationFailure(ctx, name, err)
}

// activationFailure returns the result for a skill that was not activated: "Skill 'x' not found. Did you mean 'y'?", the text
// of a *manifest.NameError, or "Failed to load skill: …". Only a timeout of this package is reported as one.
func activationFailure(ctx context.Context, name string, err error) tool.Result {
	var missing *skill.NotFoundError
	var bad *manifest.NameError
	var other *skill.ReplacedError
	switch {
	case errors.As(err, &other), isA[*changedError](err):
		return tool.CauseUntrusted.Failure(err.Error())
	case errors.As(err, &bad):
		return tool.CauseName.Failure(bad.Error() + didYouMean(".", bad.Suggest))
	case isA[*unavailableError](err):
		return tool.CauseNotFound.Failure(err.Error())
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
