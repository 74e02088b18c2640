package git

import "testing"

// security 2.6 #97: of url.*.insteadOf only what adds a credential to the same address is used.
func TestLeadsElsewhere(t *testing.T) {
	for _, tt := range []struct {
		key, value string
		want       bool
	}{
		{"url.https://u:p@git.example/.insteadof", "https://git.example/", false},
		{"url.https://oauth2:t@git.example/team/.insteadof", "https://git.example/team/", false},
		{"url.https://u:p@git.example.evil.example/.insteadof", "https://git.example/", true},
		{"url.https://u:p@git.example/x/.insteadof", "https://git.example/", true},
		{"url.https://git.example:444/.insteadof", "https://git.example/", true},
		{"url.ssh://git@git.example/.insteadof", "https://git.example/", true},
		{"url.ext::sh -c x.insteadof", "https://git.example/", true},
		{"url.https://u:p@git.example/.insteadof", "gh:", true},
		{"url.https://git.example/.insteadof", "http://git.example/", true},
		{"url.file:///x/.insteadof", "file:///", true},
		{"credential.helper", "store", false},
	} {
		if got := leadsElsewhere(setting{tt.key, tt.value}); got != tt.want {
			t.Errorf("%s = %s: %v", tt.key, tt.value, got)
		}
	}
}
