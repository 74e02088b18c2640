package fetch

import "testing"

// A repository leads nobody to other hosts that are near, nor shows them the user's keys. security 2.6 #98
func TestReachable(t *testing.T) {
	const from = "https://git.corp/team/skills.git"
	for to, want := range map[string]bool{
		"https://github.com/o/r.git": true, "https://git.corp:8443/o/r.git": true, "ssh://git@git.corp/o/r.git": true, "https://[2606:4700::1111]/r.git": true,
		"ssh://git@github.com/o/r.git": false, "http://github.com/o/r.git": false, "https://localhost/r.git": false, "https://127.0.0.1:8080/r.git": false,
		"https://10.1.2.3/r.git": false, "https://169.254.169.254/latest": false, "https://[::1]/r.git": false, "https://wiki/r.git": false, "file:///srv/r.git": false, "https:///r.git": false,
	} {
		if err := reachable(to, from); (err == nil) != want {
			t.Errorf("%s: %v", to, err)
		}
	}
	if reachable("ssh:///r.git", "file:///top.git") == nil {
		t.Error("two repositories without a host are on one")
	}
}

// A repository that was typed as USER@HOST:PATH is on the host of its relative submodules.
func TestSameHost(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"git@h.example:o/x.git", "git@h.example:o/r.git", true},
		{"git@h.example:o/x.git", "ssh://me@h.example/o/r", true},
		{"git@evil.example:o/x.git", "git@h.example:o/r.git", false},
		{"git@h.example:o/x.git", "https://h.example/o/r", false},
		{"https://h.example:8443/o/x", "https://h.example/o/r", false},
		{"file:///a", "file:///b", true},
	}
	for _, tt := range tests {
		if got := sameHost(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}
