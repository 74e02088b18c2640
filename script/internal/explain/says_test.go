package explain

import (
	"strings"
	"testing"
)

// What only the output of a script shows is told as its words. What the proxy refused is not.
func TestWordsOfTheScriptAreMarked(t *testing.T) {
	for _, tt := range []struct {
		err    error
		marked bool
	}{
		{&refusedHosts{Hosts: []string{"a.example"}}, true},
		{&refusedHosts{Hosts: []string{"a.example"}, recorded: true}, false},
		{&refusedFile{Path: "/data/x", Dir: "/data"}, true},
		{&refusedFile{Path: "/data/x", Dir: "/data", Write: true}, true},
	} {
		if got := tt.err.Error(); strings.HasPrefix(got, "it says that it may not ") != tt.marked {
			t.Errorf("got %q", got)
		}
	}
}
