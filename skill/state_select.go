package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// wishes is a Selection with its names in canonical form.
type wishes struct {
	mode                                    Mode
	names                                   []string // for SelectNamed, in order, without duplicates
	named, on, off, onlyBundled, notBundled map[string]bool
}

func newWishes(s *Selection) wishes {
	w := wishes{mode: s.Mode, named: nameSet(s.Names), on: nameSet(s.Enabled), off: nameSet(s.Disabled), onlyBundled: nameSet(s.OnlyBundled), notBundled: nameSet(s.NotBundled)}
	for _, n := range s.Names {
		if !slices.Contains(w.names, manifest.Canonical(n)) {
			w.names = append(w.names, manifest.Canonical(n))
		}
	}
	return w
}

func nameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[manifest.Canonical(n)] = true
	}
	return set
}

// wanted returns the ruling of the selection on a skill. Its text is "" if the skill is wanted.
func (j *judge) wanted(ctx context.Context, it *item) ruling {
	if e := (Entry{j.c, it}); j.c.o.Admit != nil {
		j.volatile = true
		if err := e.admitted(ctx, nil); err != nil {
			return ruling{CauseAdmit, err.Error()}
		}
	}
	name := it.r.canonical()
	if why := j.globbed(name); why.text != "" {
		return why
	}
	switch j.want.mode {
	case SelectNone:
		return ruling{CauseSelection, "no skills are selected"}
	case SelectNamed:
		if !j.want.named[name] {
			return ruling{CauseSelection, "not among the selected skills"}
		}
		return j.untrusted(ctx, it)
	case SelectAll:
		return j.untrusted(ctx, it)
	case SelectAllUntrusted:
		return ruling{}
	}
	return j.switched(it, name)
}

// example reports whether a skill is an example that nothing names.
func (j *judge) example(it *item) bool {
	name := it.r.canonical()
	return len(j.examples) > 0 && j.want.mode == SelectAuto && j.bundled(it) && j.examples[name] && !j.want.on[name] && !j.want.onlyBundled[name]
}

func (j *judge) bundled(it *item) bool { return j.c.parts[it.part].layer.Trust == TrustBundled }

// switched is the rule of SelectAuto: the user's wish overrides the manifest.
func (j *judge) switched(it *item, name string) ruling {
	bundled := j.bundled(it)
	switch {
	case j.want.off[name]:
		return ruling{CauseWish, "disabled by the configuration"}
	case bundled && j.want.notBundled[name]:
		return ruling{CauseNotBundled, "disabled by the configuration"}
	case bundled && len(j.want.onlyBundled) > 0 && !j.want.onlyBundled[name]:
		return ruling{CauseOnlyBundled, "not among the enabled bundled skills"}
	case j.want.on[name]:
		return ruling{cause: CauseWish}
	case it.r.flags&isOff != 0:
		return ruling{CauseManifest, "off by default"}
	}
	return ruling{}
}

// untrusted returns the ruling on a skill's trust. If the user asked for the skill by name, it reports a skill that is
// not trusted, with the cure.
func (j *judge) untrusted(ctx context.Context, it *item) ruling {
	e := Entry{j.c, it}
	layer := j.c.parts[it.part].layer
	if layer.Trust == TrustNone && j.c.o.Trust != nil {
		j.volatile = true
	}
	t, err := e.Trust(ctx)
	if err == nil && t.Runs() {
		return ruling{}
	}
	not := ruling{CauseTrust, "not trusted"}
	if j.quiet {
		return not
	}
	p := manifest.Problem{Code: "skill-untrusted", Severity: manifest.SeverityWarning, File: j.c.file(it), Skill: e.Canonical(),
		Message: fmt.Sprintf("skill %q is not trusted, so it is not loaded", e.Name()), Cure: "approve its content"}
	switch {
	case err != nil:
		p.Code, p.Message = "trust-unreadable", fmt.Sprintf("the trust of skill %q is unknown: %v", e.Name(), err)
	case j.want.mode != SelectNamed:
		return not
	case t == TrustChanged:
		p.Message = fmt.Sprintf("skill %q changed since it was trusted, so it is not loaded", e.Name())
	}
	j.problems = append(j.problems, p)
	return not
}

// selected reports the problems of the selection as a whole.
func (j *judge) selected() {
	switch j.want.mode {
	case SelectNamed:
		for _, name := range j.want.names {
			if j.c.find(name) < 0 {
				j.problems = append(j.problems, j.unknown(name))
			}
		}
	case SelectAll:
		if !slices.ContainsFunc(j.c.items, func(it item) bool { return it.state != StateDisabled && it.state != StateBroken }) {
			j.problems = append(j.problems, manifest.Problem{Code: "skills-none-trusted", Severity: manifest.SeverityWarning,
				Message: "no skill is trusted", Cure: "approve the content of a skill, or select untrusted skills too"})
		}
	case SelectAllUntrusted:
		if slices.ContainsFunc(j.c.items, func(it item) bool { return j.c.parts[it.part].layer.Trust == TrustNone }) {
			j.problems = append(j.problems, manifest.Problem{Code: "skills-untrusted-loaded", Severity: manifest.SeverityWarning,
				Message: "all skills are loaded without regard to trust, and their scripts may run",
				Cure:    "select trusted skills only, and approve the content of single skills"})
		}
	}
}

func (j *judge) unknown(name string) manifest.Problem {
	p := manifest.Problem{Code: "skill-unknown", Severity: manifest.SeverityWarning, Message: fmt.Sprintf("Skill '%s' not found", name)}
	var names []string
	for i := range j.c.items {
		names = append(names, j.c.items[i].r.canonical())
	}
	if s := near.Names(name, names); s != nil {
		p.Cure = fmt.Sprintf("did you mean %s?", strings.Join(quoted(s), " or "))
	}
	return p
}
