package skill

import (
	"strings"
	"testing"
)

// A profile that is misspelt is never the lenient one: Open refuses it, whoever reads a manifest with it is told, and
// nothing counts as mild.
func TestUnknownProfile(t *testing.T) {
	odd := &Profile{Name: "harnes"}
	c, err := Open(t.Context(), &Options{Profile: odd})
	if c != nil || err == nil || !strings.Contains(err.Error(), `unknown profile "harnes", did you mean "harness"?`) {
		t.Errorf("Open: %v, %v", c, err)
	}
	if _, err := Open(t.Context(), &Options{Profile: &Profile{Name: "Harness"}}); err == nil || err.Error() != `profile "Harness" is spelled "harness"` {
		t.Errorf("Open: %v", err)
	}
	if !odd.Strict() || odd.Severity("name-reserved") != Error || odd.Severity("frontmatter-blanks") != Error {
		t.Errorf("strict %v, a mild rule is %v", odd.Strict(), odd.Severity("name-reserved"))
	}
	src := []byte(manifest("a", ""))
	_, parsed := Parse(src, &ParseOptions{Dir: "a", Profile: odd})
	_, validated := Validate(folder(map[string]string{"SKILL.md": string(src)}), "a", &ValidateOptions{Profile: odd})
	_, checked := Check(folder(map[string]string{"SKILL.md": string(src)}), "a", &ValidateOptions{Profile: odd})
	for what, problems := range map[string][]Problem{"Parse": parsed, "Validate": validated, "Check": checked} {
		if len(problems) != 1 || problems[0].Code != "profile-unknown" || !problems[0].Fatal || !strings.Contains(problems[0].Message, "did you mean") {
			t.Errorf("%s finds %v", what, problems)
		}
	}
	for _, sound := range []*Profile{nil, {}} {
		if _, problems := Parse(src, &ParseOptions{Dir: "a", Profile: sound}); problems != nil || sound.Strict() {
			t.Errorf("the default profile: %v", problems)
		}
	}
}

// An option without a meaning is an error, not something milder.
func TestOptionsOutOfRange(t *testing.T) {
	for want, o := range map[string]*Options{
		"Options.Duplicates is 2":            {Duplicates: Refuse + 1},
		"Options.Precedence is 2":            {Precedence: ByPriority + 1},
		"Options.Want.Mode is 5":             {Want: Selection{Mode: None + 1}},
		`the Trust of layer "user" is 5, it`: {Layers: []Layer{{Name: "user", Trust: Bundled + 1}}},
	} {
		if c, err := Open(t.Context(), o); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want an error with %q", c, err, want)
		}
	}
	if odd := Bundled + 1; odd.Runs() || odd.String() != "unknown trust 5" {
		t.Errorf("a trust that there is not: %s, runs %v", odd, odd.Runs())
	}
}
