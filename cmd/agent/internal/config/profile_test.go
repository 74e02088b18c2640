package config

import (
	"fmt"
	"testing"
)

// REQUIREMENTS 1.3: a profile that a project chooses sets nothing that the project may not set itself. Every pair of a user's
// profile and a project's is tried, with every key.
func TestProjectsProfile(t *testing.T) { // attacks-two H2
	for _, own := range profiles {
		for _, chosen := range profiles {
			t.Run(own.name+" in a project with "+chosen.name, func(t *testing.T) {
				w := newWorld(t).user("skills: {profile: " + own.name + "}")
				without, _ := w.load()
				with, problems := w.inProject("skills: {profile: " + chosen.name + "}").load()
				before := map[string]any{}
				for _, s := range without.Settings() {
					before[s.Key] = s.Value
				}
				kept := map[string]bool{}
				for _, p := range problems {
					var key string
					_, _ = fmt.Sscanf(p.Message, "a project cannot change %s", &key)
					kept[key] = true
				}
				for _, s := range with.Settings() {
					checkProjectsValue(t, s, before[s.Key], kept)
				}
			})
		}
	}
}

func checkProjectsValue(t *testing.T, s Setting, before any, kept map[string]bool) {
	t.Helper()
	k := lookupKey(s.Key)
	now, same := fmt.Sprint(s.Value), fmt.Sprint(s.Value) == fmt.Sprint(before)
	switch {
	case k.project == never && !same:
		t.Errorf("%s is %s, and %v without the project", k.name, now, before)
	case k.project == tighten && k.kind != choice && k.kind != number && k.kind != duration:
		t.Errorf("%s: nothing says which of its values is stricter", k.name)
	case k.project == tighten && k.kind == choice && k.strictness(entry{value: now}) < k.strictness(entry{value: before}):
		t.Errorf("%s is %s, laxer than %v", k.name, now, before)
	case k.project == tighten && k.kind != choice && s.Value.(int64) > before.(int64):
		t.Errorf("%s is %s, more than %v", k.name, now, before)
	case k.project == ifUnset && before != nil && fmt.Sprint(before) != "[]" && !same:
		t.Errorf("%s is %s, and %v without the project", k.name, now, before)
	case kept[k.name] && !same:
		t.Errorf("%s is %s although a problem says that it stays %v", k.name, now, before)
	}
}

// Without a profile that sets a key that a project may not, the test above would show nothing.
func TestProfileKeysAreTried(t *testing.T) {
	tried := 0
	for _, p := range profiles {
		for name := range p.options {
			if k := lookupKey(name); k.project == never || k.project == tighten {
				tried++
			}
		}
	}
	if tried == 0 {
		t.Error("no profile sets a key that a project may not: the test above shows nothing")
	}
}
