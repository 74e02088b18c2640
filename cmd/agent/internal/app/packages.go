package app

import (
	"context"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// ImportsText lists modules with the names of their packages: "requests, yaml (PyYAML), marked, mine (of an unknown package)".
func ImportsText(modules []string) string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = strings.TrimPrefix(m, script.NPM)
		switch p := script.Packages(m)[0]; {
		case p.From == want.Seen:
			out[i] += " (of an unknown package)"
		case p.Name != m:
			out[i] += " (" + p.Name + ")"
		}
	}
	return strings.Join(out, ", ")
}

// EditWith adds packages that the scripts of a skill need in addition to those that it declares, for its present content, and
// removes others.
func (g *Grants) EditWith(ctx context.Context, s *skill.Skill, add, remove []string) error {
	store, err := g.trust.Edit()
	if err != nil {
		return err
	}
	key, err := grantKey(ctx, s)
	if err != nil {
		return err
	}
	err = store.EditGrant(ctx, *key, func(t *trust.Grant) error {
		for _, name := range remove {
			_, t.Given = t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package && script.SamePackage(w.Name, name) })
		}
		t.Given = t.Given.Add(want.Each(want.Package, want.User, add...)...)
		return nil
	})
	if err != nil {
		return err
	}
	return g.trust.reload()
}
