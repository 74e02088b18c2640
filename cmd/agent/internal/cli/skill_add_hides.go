package cli

import (
	"context"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/skill"
)

// hiding is what an installed skill hides, or is hidden by: of several skills of one name only one is used.
type hiding struct {
	hides []shadow
	by    *shadow // nil for none
}

// hidingOf returns what the skill of a name that lies in a folder hides in a catalogue, or is hidden by.
func hidingOf(ctx context.Context, cat *skill.Catalog, name, folder string) hiding {
	h := hiding{hides: []shadow{}}
	e, err := cat.Lookup(name)
	if err != nil {
		return h
	}
	if at := location(ctx, e); at == "" || paths.Real(filepath.Dir(at)) != paths.Real(folder) {
		by := shadowOf(ctx, e)
		h.by = &by
		return h
	}
	for _, s := range e.Shadows() {
		h.hides = append(h.hides, shadowOf(ctx, s))
	}
	return h
}

// say warns of it.
func (h *hiding) say(warn func(string), name string) {
	if h.by != nil {
		warn(name + " will be hidden by another skill of that name: " + h.by.text())
	}
	for _, s := range h.hides {
		warn(name + " will hide another skill of that name: " + s.text())
	}
}

// hiding finds out what the new skills hide, or are hidden by, and says so.
func (a *adding) hiding(ctx context.Context) {
	folders := map[string]string{}
	for _, k := range a.packages {
		if dir, err := k.Skill.Dir(ctx); err == nil { // what asks about the skill says why
			folders[k.Name] = dir
		}
	}
	cat, err := a.services.Skills.OpenWith(ctx, folders)
	if err != nil {
		return // the commands that use the skills say why
	}
	a.hides = map[string]hiding{}
	for _, k := range a.packages {
		h := hidingOf(ctx, cat, k.Name, folders[k.Name])
		h.say(a.out.Warn, k.Name)
		a.hides[k.Name] = h
	}
}
