package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// Options that are missing or not what they must be are refused before anything is made.
func TestNewRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	tests := []struct {
		name   string
		change func(*Options)
		msg    string
	}{
		{"no cache", func(o *Options) { o.Cache = "" }, `Cache must be an absolute path, not ""`},
		{"relative cache", func(o *Options) { o.Cache = "cache" }, `Cache must be an absolute path, not "cache"`},
		{"relative workspace", func(o *Options) { o.Workspace = "." }, `Workspace must be an absolute path, not "."`},
		{"no LookPath", func(o *Options) { o.LookPath = nil }, "LookPath is missing"},
		{"unknown cwd", func(o *Options) { o.Cwd = "elsewhere" }, `Cwd is "elsewhere"`},
		{"no workspace to start in", func(o *Options) { o.Cwd = "workspace" }, "Cwd is workspace, but Workspace is missing"},
	}
	for _, tt := range tests {
		o := host(t).Options
		tt.change(&o)
		if h, err := New(&o); h != nil || err == nil || !strings.Contains(err.Error(), "script.Options: "+tt.msg) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.msg)
		}
		if left, _ := filepath.Glob("*"); len(left) > 0 {
			t.Errorf("%s: %q were made in the working directory", tt.name, left)
		}
		if filepath.IsAbs(o.Cache) {
			if left, err := os.ReadDir(o.Cache); err != nil || len(left) > 0 {
				t.Errorf("%s: %v were made in the cache", tt.name, left)
			}
		}
	}
}

// Without options New says what is needed, as with empty ones.
func TestNewWithoutOptions(t *testing.T) {
	if h, err := New(nil); h != nil || err == nil || !strings.Contains(err.Error(), "Cache must be") {
		t.Errorf("got %v, %v", h, err)
	}
}

// What a caller does to its options afterwards changes nothing.
func TestNewCopies(t *testing.T) {
	o := host(t).Options
	o.Env = []string{"TZ=one"}
	h, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	o.Env[0], o.Cwd = "TZ=two", "nowhere"
	s := open(t, "", tree{"scripts/a.sh": "echo $TZ\n"})
	res, err := h.Run(t.Context(), s, Script{Name: "a", File: "scripts/a.sh"}, &RunOptions{JSON: JSONNo})
	if err != nil || res.Text != "one\n" {
		t.Errorf("got %v, %v", res, err)
	}
}

// Each function waits for the goroutines that it starts.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
