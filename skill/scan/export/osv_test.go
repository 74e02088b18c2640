package export

import "testing"

func TestCompareVersions(t *testing.T) {
	ordered := []string{"0.9", "1.0.dev1", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.2", "1.10", "2.0.0-beta.2", "2.0.0-beta.11", "2.0.0", "2025.1"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compareVersions(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"1.0", "1.0.0"}, {"v1.2.3", "1.2.3"}, {"1.0+build", "1.0"}} {
		if got := compareVersions(same[0], same[1]); got != 0 {
			t.Errorf("compareVersions(%q, %q) = %d, want 0", same[0], same[1], got)
		}
	}
}

// FuzzCompareVersions holds that the order does not depend on which version comes first.
func FuzzCompareVersions(f *testing.F) {
	f.Add("1.0rc1", "1.0.post2")
	f.Fuzz(func(t *testing.T, a, b string) {
		if x, y := compareVersions(a, b), compareVersions(b, a); x != -y {
			t.Errorf("%q and %q: %d and %d", a, b, x, y)
		}
	})
}
