package skill

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// A misspelt profile is never the lenient one.
func TestOpenRefusesUnknownProfile(t *testing.T) {
	odd := &manifest.Profile{Name: "harnes"}
	c, err := Open(t.Context(), &Options{Profile: odd})
	if c != nil || err == nil || !strings.Contains(err.Error(), `unknown profile "harnes", did you mean "harness"?`) {
		t.Errorf("Open: %v, %v", c, err)
	}
	if _, err := Open(t.Context(), &Options{Profile: &manifest.Profile{Name: "Harness"}}); err == nil || err.Error() != `profile "Harness" is spelled "harness"` {
		t.Errorf("Open: %v", err)
	}
}

// An option without a meaning is an error, not something milder.
func TestOptionsOutOfRange(t *testing.T) {
	for want, o := range map[string]*Options{
		"invalid Options.Duplicates 2":  {Duplicates: DuplicatesRefuse + 1},
		"invalid Options.Precedence 2":  {Precedence: PrecedencePriority + 1},
		"invalid Options.Want.Mode 5":   {Want: Selection{Mode: SelectNone + 1}},
		`layer "user": invalid Trust 5`: {Layers: []Layer{{Name: "user", Trust: TrustBundled + 1}}},
	} {
		if c, err := Open(t.Context(), o); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want an error with %q", c, err, want)
		}
	}
	if odd := TrustBundled + 1; odd.Runs() || odd.String() != "unknown trust 5" {
		t.Errorf("a trust that does not exist: %s, runs %v", odd, odd.Runs())
	}
}
