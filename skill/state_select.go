package skill

import (
	"fmt"
	"slices"
	"strings"
)

// wishes is a Selection with its names in canonical form.
type wishes struct {
	mode                        Mode
	names                       []string // with Named, in order, once each
	named, on, off, onlyBundled map[string]bool
}

func newWishes(s *Selection) wishes {
	w := wishes{mode: s.Mode, named: nameSet(s.Names), on: nameSet(s.Enabled), off: nameSet(s.Disabled), onlyBundled: nameSet(s.OnlyBundled)}
	for _, n := range s.Names {
		if !slices.Contains(w.names, Canonical(n)) {
			w.names = append(w.names, Canonical(n))
		}
	}
	return w
}

func nameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[Canonical(n)] = true
	}
	return set
}

// wanted says why a skill is not wanted; the text is "" when it is.
func (j *judge) wanted(it *item) ruling {
	name := it.r.canonical()
	if why := j.globbed(name); why.text != "" {
		return why
	}
	switch j.want.mode {
	case None:
		return ruling{BySelection, "no skills are selected"}
	case Named:
		if !j.want.named[name] {
			return ruling{BySelection, "not among the selected skills"}
		}
		return j.untrusted(it)
	case All:
		return j.untrusted(it)
	case AllUntrusted:
		return ruling{}
	}
	return j.switched(it, name)
}

// switched is the rule of Auto: the user's wish beats the manifest (R74-R76).
func (j *judge) switched(it *item, name string) ruling {
	bundled := j.c.parts[it.part].layer.Trust == Bundled
	switch {
	case j.want.off[name]:
		return ruling{ByWish, "disabled by the configuration"}
	case bundled && len(j.want.onlyBundled) > 0 && !j.want.onlyBundled[name]:
		return ruling{ByOnlyBundled, "not among the enabled bundled skills"}
	case j.want.on[name]:
		return ruling{cause: ByWish}
	case !it.r.plain() && !it.r.more.m.DefaultEnabled:
		return ruling{ByManifest, "off by default"}
	}
	return ruling{}
}

// untrusted says that a skill may not load for want of trust, and tells the cure when the skill
// was asked for by name (C21).
func (j *judge) untrusted(it *item) ruling {
	e := Entry{j.c, it}
	layer := j.c.parts[it.part].layer
	if layer.Trust == Untrusted && j.c.o.Trust != nil {
		j.volatile = true
	}
	t, err := e.Trust(j.ctx)
	if err == nil && t.Runs() {
		return ruling{}
	}
	not := ruling{ByTrust, "not trusted"}
	if j.quiet {
		return not
	}
	p := Problem{Code: "skill-untrusted", Severity: Warning, File: j.c.file(it),
		Message: fmt.Sprintf("skill %q is not trusted, so it is not loaded", e.Name()),
		Cure:    "agent skill trust " + e.Canonical()}
	switch {
	case err != nil:
		p.Code, p.Message = "trust-unreadable", fmt.Sprintf("trust of skill %q cannot be told: %v", e.Name(), err)
	case j.want.mode != Named:
		return not
	case t == Changed:
		p.Message = fmt.Sprintf("skill %q changed since it was trusted, so it is not loaded", e.Name())
	}
	j.problems = append(j.problems, p)
	return not
}

// selected reports what the selection as a whole gets wrong.
func (j *judge) selected() {
	switch j.want.mode {
	case Named:
		for _, name := range j.want.names {
			if j.c.find(name) < 0 {
				j.problems = append(j.problems, j.unknown(name))
			}
		}
	case All:
		if !slices.ContainsFunc(j.c.items, func(it item) bool { return it.state != Disabled && it.state != Broken }) {
			// R72
			j.problems = append(j.problems, Problem{Code: "skills-none-trusted", Severity: Warning,
				Message: "No trusted skills installed. Install skills with 'agent skill add' or use AGENT_SKILLS=all-untrusted",
				Cure:    "agent skill trust NAME"})
		}
	case AllUntrusted:
		if slices.ContainsFunc(j.c.items, func(it item) bool { return j.c.parts[it.part].layer.Trust == Untrusted }) {
			j.problems = append(j.problems, Problem{Code: "skills-untrusted-loaded", Severity: Warning,
				Message: "all skills are loaded without regard to trust, and their scripts may run",
				Cure:    "use AGENT_SKILLS=all, or trust single skills: agent skill trust NAME"})
		}
	}
}

func (j *judge) unknown(name string) Problem {
	p := Problem{Code: "skill-unknown", Severity: Warning, Message: fmt.Sprintf("Skill '%s' not found", name), Cure: "agent skill list --all"}
	var names []string
	for i := range j.c.items {
		names = append(names, j.c.items[i].r.canonical())
	}
	if s := near(name, names); s != nil {
		p.Cure = fmt.Sprintf("did you mean %s?", strings.Join(quoted(s), " or "))
	}
	return p
}
