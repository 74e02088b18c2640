package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Host that is not filled in as it says refuses everything, and makes nothing in the working directory.
func TestHostThatIsNotFilledIn(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": "echo '{}'\n", "scripts/a.py": needs(printsDep, "dep")})
	t.Chdir(t.TempDir())
	tests := []struct {
		name   string
		change func(*Host)
		msg    string
		cache  bool // it is what is wrong
	}{
		{"no cache", func(h *Host) { h.Cache = "" }, `Cache must be an absolute path, not ""`, true},
		{"relative cache", func(h *Host) { h.Cache = "cache" }, `Cache must be an absolute path, not "cache"`, true},
		{"relative temp", func(h *Host) { h.Temp = "temp" }, `Temp must be an absolute path, not "temp"`, false},
		{"relative workspace", func(h *Host) { h.Workspace = "." }, `Workspace must be an absolute path, not "."`, false},
		{"no LookPath", func(h *Host) { h.LookPath = nil }, "LookPath is missing", false},
	}
	for _, tt := range tests {
		h := host(t)
		tt.change(h)
		sc := Script{Name: "a.py", File: "scripts/a.py"}
		_, runErr := h.Run(t.Context(), s, Script{Name: "a.sh", File: "scripts/a.sh"}, nil)
		_, helpErr := h.Help(t.Context(), s, sc)
		p, prepareErr := h.Prepare(t.Context(), s, sc, nil)
		calls := map[string]error{"run": runErr, "help": helpErr, "prepare": prepareErr}
		if tt.cache {
			_, calls["use"] = h.Use(t.Context())
			_, calls["sweep"] = h.Sweep(t.Context(), &SweepOptions{})
		}
		for way, err := range calls {
			var e *Error
			if !errors.As(err, &e) || e.Code != ExecutionFailed || !strings.Contains(e.Message, "script.Host: "+tt.msg) {
				t.Errorf("%s, %s: got %v, want %q", tt.name, way, err, tt.msg)
			}
		}
		if p == nil {
			t.Errorf("%s: Prepare returned no result", tt.name)
		}
		if left, _ := filepath.Glob("*"); len(left) > 0 {
			t.Errorf("%s: %q were made in the working directory", tt.name, left)
		}
		if filepath.IsAbs(h.Cache) {
			if left, err := os.ReadDir(h.Cache); err != nil || len(left) > 0 {
				t.Errorf("%s: %v were made in the cache", tt.name, left)
			}
		}
	}
}
