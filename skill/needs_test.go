package skill

import (
	"fmt"
	"testing"
)

// R150: a skill is available only with the skills that it requires.
func TestRequiresSkills(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{
		"pdf/SKILL.md":      "version: 1.10",
		"old/SKILL.md":      "version: 0.9",
		"bare/SKILL.md":     "",
		"good/SKILL.md":     "requires-skills: [PDF >=1.9 <2, old]",
		"newer/SKILL.md":    "requires-skills: old >=1",
		"none/SKILL.md":     "requires-skills: nothing >1",
		"of-bare/SKILL.md":  "requires_skills: bare =1",
		"a/SKILL.md":        "requires-skills: b",
		"b/SKILL.md":        "requires-skills: c",
		"c/SKILL.md":        "requires-skills: a",
		"on-cycle/SKILL.md": "requires-skills: pdf, a",
		"on-none/SKILL.md":  "requires-skills: acme/skills@none",
		"self/SKILL.md":     "requires-skills: self",
		"hidden/SKILL.md":   "disable-model-invocation: true",
		"helped/SKILL.md":   "requires-skills: hidden",
		"late/SKILL.md":     "requires-skills: nothing, late-b",
		"late-b/SKILL.md":   "requires-skills: late",
		"on-late/SKILL.md":  "requires-skills: late",
		"wrong/SKILL.md":    "requires-skills: ['../x', 'pdf ~1']",
	})
	c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(root, nil)}}})
	wantLines(t, "skills", states(c),
		"a p:a unavailable: requires itself: a, b, c, a",
		"b p:b unavailable: requires itself: a, b, c, a",
		"bare p:bare enabled",
		"c p:c unavailable: requires itself: a, b, c, a",
		"good p:good enabled",
		"helped p:helped enabled",
		"hidden p:hidden hidden: disable-model-invocation",
		"late p:late unavailable: missing skill: nothing; requires itself: late, late-b, late",
		"late-b p:late-b unavailable: requires itself: late, late-b, late",
		"newer p:newer unavailable: needs skill old >=1, and the one here is 0.9",
		"none p:none unavailable: missing skill: nothing >1",
		"of-bare p:of-bare unavailable: needs skill bare =1, and the one here has no version",
		"old p:old enabled",
		"on-cycle p:on-cycle unavailable: requires itself: a, b, c, a",
		"on-late p:on-late unavailable: requires itself: late, late-b, late",
		"on-none p:on-none unavailable: skill none is unavailable",
		"pdf p:pdf enabled",
		"self p:self unavailable: requires itself: self, self",
		"wrong p:wrong enabled",
	)
}

// A long chain of skills, each requiring the next, costs no more than their number.
func TestRequiresSkillsInAChain(t *testing.T) {
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("s%d/SKILL.md", i)] = fmt.Sprintf("requires-skills: [s%d, s%d]", i+1, i+2)
	}
	c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(disk(t, t.TempDir(), files), nil)}}})
	for e := range c.All() {
		if e.State() != StateUnavailable || len(e.Reason()) > 200 {
			t.Fatalf("%s is %s: %s", e.Name(), e.State(), e.Reason())
		}
	}
}
