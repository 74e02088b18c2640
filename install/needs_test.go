package install_test

import (
	"slices"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/skill/manifest"
)

func candidate(name, version string, needs ...string) *install.Candidate {
	return &install.Candidate{Path: name, File: "SKILL.md", Manifest: &manifest.Manifest{Name: name, Version: version, RequiresSkills: needs}}
}

// R150: what a skill requires comes with it, from the same place, unless it is there.
func TestNeeded(t *testing.T) {
	all := []*install.Candidate{
		candidate("report", "1.0", "pdf >=1", "csv"), candidate("pdf", "1.4", "fonts"), candidate("fonts", "2"), candidate("csv", "0.3"),
		candidate("a", "", "b"), candidate("b", "", "c"), candidate("c", "", "a"),
		candidate("new", "", "pdf >=2"), candidate("both", "", "report", "strict"), candidate("strict", "", "pdf <1.2"),
		candidate("far", "", "acme/x@remote"), candidate("use-old", "", "old >=2"), candidate("self", "", "self"),
	}
	installed := func(name string) (string, bool) {
		v, ok := map[string]string{"csv": "0.1", "old": "1"}[name]
		return v, ok
	}
	for _, tt := range []struct {
		name string
		want []string
		err  string
	}{
		{"report", []string{"fonts", "pdf", "report"}, ""},
		{"a", nil, "these skills require each other: a, b, c, a"},
		{"self", nil, "these skills require each other: self, self"},
		{"new", nil, `skill "new" requires the skill pdf >=2, and the one there is has version 1.4`},
		{"both", nil, `skill "strict" requires pdf <1.2, and skill "report" requires pdf >=1`},
		{"far", nil, `skill "far" requires the skill remote, which is not installed and not in the same place`},
		{"use-old", nil, `skill "use-old" requires the skill old >=2, and the one there is has version 1`},
	} {
		i := slices.IndexFunc(all, func(c *install.Candidate) bool { return c.Path == tt.name })
		got, err := install.Needed(all[i:i+1], all, installed)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		var names []string
		for _, c := range got {
			names = append(names, c.Path)
		}
		if err != nil || !slices.Equal(names, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, names, err, tt.want)
		}
	}
}

func TestDependents(t *testing.T) { // R150
	needs := map[string][]string{"a": {"pdf"}, "b": {"PDF <2", "csv"}, "c": {"csv"}}
	if got := install.Dependents("pdf", "", needs); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := install.Dependents("pdf", "2.1", needs); !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}
