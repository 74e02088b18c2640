package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/want"
)

// C65: a script that fails for want of a variable says which: those that are set, and those that are not. No value is shown.
func TestLacking(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.py": ""})
	for _, tt := range []struct {
		name, reads, granted, stderr string
		want                         string
		lacks                        []string
	}{
		{"named", "SET_OTHER SET_TOKEN", "", "KeyError: 'SET_TOKEN'", " (it reads SET_TOKEN, which is set but not granted to it)", []string{"SET_TOKEN"}},
		{"unset", "GONE", "", "KeyError: 'GONE'", " (it reads GONE, which is not set)", []string{"GONE"}},
		{"both", "GONE SET_TOKEN", "", "need GONE and SET_TOKEN", " (it reads SET_TOKEN, which is set but not granted to it; it reads GONE, which is not set)", []string{"GONE", "SET_TOKEN"}},
		{"several", "SET_OTHER SET_TOKEN GONE LOST", "", "SET_OTHER, SET_TOKEN, GONE, LOST", " (it reads SET_OTHER, SET_TOKEN, which are set but not granted to it; it reads GONE, LOST, which are not set)", []string{"GONE", "LOST", "SET_OTHER", "SET_TOKEN"}},
		{"a key that it does not name", "SET_TOKEN DEBUG", "", "error: the following arguments are required: query", "", nil},
		{"anything else is not", "SET_OTHER", "", "", "", nil},
		{"it has it", "SET_TOKEN", "SET_TOKEN=hidden-value", "SET_TOKEN is bad", "", nil},
		{"only a part of the name", "SET_OTHER", "", "MY_SET_OTHER_X", "", nil},
	} {
		r := ran(s, "scripts/a.py", tt.stderr)
		r.Env = []string{"SET_TOKEN=hidden-value", "SET_OTHER=y"}
		if tt.granted != "" {
			r.Cmd.Env = []string{tt.granted}
		}
		r.Seen = func() Seen {
			return Seen{Files: map[string]want.Set{"scripts/a.py": want.Each(want.Variable, want.Seen, strings.Fields(tt.reads)...)}}
		}
		f := Explain(t.Context(), r)
		if lacks := f.Wants().Named(want.Variable); f.Text() != tt.want || f.Reason != "" || !slices.Equal(lacks, tt.lacks) {
			t.Errorf("%s: got %q, %q, lacks %q", tt.name, f.Text(), f.Reason, lacks)
		}
		r.Hook = true // its exit code is an answer, and its own words count
		if f := Missed(r); (f == nil) != (len(tt.lacks) == 0) {
			t.Errorf("%s: a hook was kept from %+v", tt.name, f)
		}
	}
}
