package manifest_test

import (
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// A description that YAML ends at a comment is told. In quotes, in a block and repaired it has the sign.
func TestDescriptionComment(t *testing.T) {
	for written, want := range map[string]bool{
		"tags #important for all": true,
		"\n  tags #important":     true,
		"\"tags #important\"":     false,
		">\n  tags #important":    false,
		"C# and F#":               false,
		"one: two #three":         false, // read as text
		"one":                     false,
	} {
		_, problems := manifest.Parse([]byte("---\nname: a\nlicense: MIT # or so\ndescription: "+written+"\n---\n"), nil)
		got := false
		for _, p := range problems {
			got = got || p.Code == "yaml-comment"
		}
		if got != want {
			t.Errorf("%q: told %v, want %v: %v", written, got, want, problems)
		}
	}
}
