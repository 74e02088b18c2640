package scanner

import (
	"testing"

	"github.com/agent-base/agent-base/skill/scan"
)

// C65: hosts and files of facts are named as grants name them, and what no grant could name is left out.
func TestFactsAsWants(t *testing.T) {
	for _, tt := range []struct{ name, address, want string }{
		{"192.0.2.7", "http://192.0.2.7:13338/x", "192.0.2.7:13338"},
		{"api.foo.net", "https://api.foo.net:443/x:1", "api.foo.net"},
		{"api.foo.net", "api.foo.net", "api.foo.net"},
		{"*.foo.net", "https://*.foo.net/*", "*.foo.net"},
		{"api.foo.net", "https://a:b@api.foo.net?x", "api.foo.net"},
		{"www.w3.org", "http://www.w3.org/2000/svg", ""},
		{"a.*.net", "https://a.*.net/", ""},
		{"", "", ""},
	} {
		if got := hostIn(&scan.Fact{Name: tt.name, Detail: tt.address}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.address, got, tt.want)
		}
	}
	for name, want := range map[string]string{"~/.ssh/../x": "~/x", "/srv/data/": "/srv/data", "notes.txt": "", "/tmp/x": "", "/dev/null": "", "~/*.key": "", "$HOME/x": ""} {
		if got := placeIn(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if pypi, npm := packageIn("pypi requests"), packageIn("npm left-pad"); pypi != "requests" || npm != "npm:left-pad" {
		t.Error(pypi, npm)
	}
}
