package worker

import "testing"

func TestCrops(t *testing.T) {
	for _, c := range []struct {
		terminal string
		env      map[string]string
		want     bool
	}{
		{"xterm", map[string]string{"XTERM_VERSION": "XTerm(390)"}, true},
		{"screen", map[string]string{"STY": "1.pts-0.host"}, true},
		{"screen in another terminal", map[string]string{"STY": "1.pts-0.host", "TERM_PROGRAM": "vscode"}, true},
		{"tmux in xterm", map[string]string{"XTERM_VERSION": "XTerm(390)", "TERM_PROGRAM": "tmux"}, false},
		{"another", map[string]string{"TERM_PROGRAM": "ghostty"}, false},
		{"one without a name", nil, false},
	} {
		if got := crops(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %v, want %v", c.terminal, got, c.want)
		}
	}
}
