package skill

import (
	"context"
	"io"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// R134, R185: the types of the errors and their texts.
func TestErrorTexts(t *testing.T) {
	rows := []struct {
		err  error
		want string
	}{
		{&NotFoundError{Name: "x"}, "Skill 'x' not found"},
		{&NotFoundError{Name: "x", Suggest: []string{"y", "z"}}, "Skill 'x' not found (did you mean 'y' or 'z'?)"},
		{&BrokenError{Name: "x"}, `skill "x" cannot be loaded`},
		{&BrokenError{Name: "x", Problems: []manifest.Problem{{Code: "c", Severity: manifest.SeverityError, File: "f", Message: "m"}}}, `skill "x" cannot be loaded: f: error[c] m`},
		{&manifest.NameError{Kind: "skill", Name: "../etc"}, "Invalid skill name: '../etc'"}, // R46
		{&ResourceError{Path: "a", Suggest: []string{"b"}, Err: io.EOF}, `resource "a": EOF (did you mean 'b'?)`},
	}
	for _, r := range rows {
		if got := r.err.Error(); got != r.want {
			t.Errorf("got %s, want %s", got, r.want)
		}
	}
}

// C26, C57: which trust lets scripts run.
func TestTrustRuns(t *testing.T) {
	for trust, want := range map[Trust]string{TrustNone: "untrusted", TrustChanged: "changed", TrustApproved: "approved", TrustRoot: "trusted-root", TrustBundled: "bundled"} {
		if trust.String() != want || trust.Runs() != (trust >= TrustApproved) {
			t.Errorf("%d: %s runs %v", trust, trust, trust.Runs())
		}
	}
}

// The digest is of all files, links among them, and the same through every source.
func TestDigest(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "a/f": "x", "a/l": "-> f"})
	c := onDir(t, root)
	s := loaded(t, c, "a")
	first, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := opened(t, &Options{Layers: []Layer{{Name: "p", Source: SourceFunc(Dir(root, nil).Skills)}}})
	second, err := find(t, own, "a").Digest(context.WithoutCancel(t.Context()))
	if first != second || err != nil {
		t.Errorf("got %q and %q, %v", first, second, err)
	}
	if got, want := locationOf(t, find(t, own, "a")), locationOf(t, find(t, c, "a")); got != want {
		t.Errorf("location %q, want %q", got, want)
	}
	disk(t, root, map[string]string{"a/f": "y"})
	if third, _ := loaded(t, c, "a").Digest(t.Context()); third == first {
		t.Error("a changed file does not change the digest")
	}
}
