package popular

import "testing"

func TestNear(t *testing.T) {
	for _, tt := range []struct{ registry, name, want string }{
		{"pypi", "reqeusts", "requests"},
		{"pypi", "request", "requests"},
		{"pypi", "Requests", ""},
		{"pypi", "python_dateutil", ""},
		{"pypi", "python_dateutils", "python-dateutil"},
		{"pypi", "pypdf2", ""},
		{"pypi", "colourama", "colorama"},
		{"pypi", "numpi", "numpy"},
		{"pypi", "toms", ""},
		{"pypi", "my-own-helpers", ""},
		{"pypi", "", ""},
		{"npm", "expresss", "express"},
		{"npm", "loadsh", "lodash"},
		{"npm", "request", ""},
		{"npm", "preact", ""},
		{"npm", "@modelcontextprotocl/sdk", "@modelcontextprotocol/sdk"},
		{"crates", "serdee", ""},
	} {
		if got := Near(tt.registry, tt.name); got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.registry, tt.name, got, tt.want)
		}
	}
}

// No popular name is taken for another.
func TestPopular(t *testing.T) {
	for registry, list := range names() {
		for _, name := range list {
			if got := Near(registry, name); got != "" {
				t.Errorf("%s %s is near %s", registry, name, got)
			}
		}
	}
}
