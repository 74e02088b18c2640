package manifest

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// parseVersion returns text in the form in which versions are compared: "1.2" and "v1.2.0" are equal.
func parseVersion(text string) (string, bool) {
	v := "v" + strings.TrimPrefix(text, "v")
	return v, semver.IsValid(v)
}

// strictVersion reports whether text is a semantic version with all three numbers.
func strictVersion(text string) bool {
	core := text
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		core = text[:i]
	}
	return strings.Count(core, ".") == 2 && semver.IsValid("v"+text)
}

// CheckVersion returns an error if min_agent_base_version or max_agent_base_version excludes this version of the
// engine. A text that is not a version limits nothing.
func (m *Manifest) CheckVersion(engine string) error {
	switch {
	case older(engine, m.MinVersion):
		return fmt.Errorf("needs agent-base %s or newer, this is %s", m.MinVersion, engine)
	case older(m.MaxVersion, engine):
		return fmt.Errorf("needs agent-base %s or older, this is %s", m.MaxVersion, engine)
	}
	return nil
}

// older reports whether version a comes before b. It returns false if either is not a version.
func older(a, b string) bool {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	return okX && okY && semver.Compare(x, y) < 0
}
