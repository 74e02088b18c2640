package skilltool

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// Carry returns the text about the session's active skills, and what they allow, that must survive when the conversation is
// shortened, "" if none is active; see disclose.Carry for the limits. The session itself is unchanged: activating a skill again returns the
// short note.
func (k *Kit) Carry(ctx context.Context) disclose.Text {
	acts := k.o.Session.Active()
	slices.Reverse(acts)
	slices.SortStableFunc(acts, func(a, b session.Activation) int { return b.Told.Compare(a.Told) })
	var list []disclose.Active
	for _, a := range acts {
		s, err := k.reload(ctx, a.Name)
		if err != nil {
			list = append(list, disclose.Active{Name: a.Name})
			continue
		}
		defer s.Close()
		list = append(list, disclose.Active{Name: a.Name, Skill: s, Args: a.Args, Scripts: k.keptFiles(s), Changed: !unchanged(ctx, s, a.Args, a)})
	}
	o := k.o.Show.Carry
	o.Instructions = k.o.Show.Instructions
	text := disclose.Carry(ctx, list, &o)
	if limits := k.carried() + k.limits(); len(list) > 0 && ctx.Err() == nil {
		text.Body, text.Tokens = text.Body+limits, text.Tokens+disclose.Tokens(limits)
	}
	return text
}

// reload opens an active skill, which a person may have activated although it is hidden from models.
func (k *Kit) reload(ctx context.Context, name string) (*skill.Skill, error) {
	e, err := k.o.Catalog().Lookup(name)
	if err != nil {
		return nil, err
	}
	if state := e.State(); state != skill.StateEnabled && state != skill.StateHidden {
		return nil, &skill.NotFoundError{Name: name}
	}
	return e.Load(ctx)
}
