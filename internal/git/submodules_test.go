package git

import "testing"

// Relative addresses are those that git makes of them.
func TestAbsolute(t *testing.T) {
	tests := []struct{ repository, text, want string }{
		{"https://h.example/o/r.git", "../x.git", "https://h.example/o/x.git"},
		{"https://h.example:8443/o/r/", "../../p/x", "https://h.example:8443/p/x"},
		{"https://h.example/o/r", "./x", "https://h.example/o/r/x"},
		{"https://h.example/o/r", "../../../evil.example/x", ""},
		{"ssh://me@h.example:22/o/r", "../x", "ssh://me@h.example:22/o/x"},
		{"git@h.example:o/r.git", "../x.git", "git@h.example:o/x.git"},
		{"git@h.example:r.git", "../x.git", "git@h.example:x.git"},
		{"git@h.example:/srv/r.git", "../x.git", "git@h.example:/srv/x.git"},
		{"git@h.example:r.git", "../../x.git", ""},
		{"file:///srv/a%20b/r", "../x y", "file:///srv/a%20b/x%20y"},
		{"file:///srv/r", "/home/x", "file:///home/x"},
		{"https://h.example/o/r", "/home/x", "/home/x"},
		{"file:///srv/r", "https://h.example/x", "https://h.example/x"},
		{"https://h.example/o/r", "file:///home/x", "file:///home/x"},
	}
	for _, tt := range tests {
		if got := absolute(tt.repository, tt.text); got != tt.want {
			t.Errorf("%s and %s: got %q, want %q", tt.repository, tt.text, got, tt.want)
		}
	}
}
