package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// world is a home, a project inside it, and what the rest of the system says.
type world struct {
	t             *testing.T
	home, project string
	env           map[string]string
	flags         map[string]FlagValue
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: home, project: filepath.Join(home, "work", "project"), env: map[string]string{}, flags: map[string]FlagValue{}}
	w.mkdir(filepath.Join(w.project, ".git"))
	return w
}

func (w *world) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) user(text string) *world      { return w.put(filepath.Join(w.home, ".agent"), text) }
func (w *world) inProject(text string) *world { return w.put(filepath.Join(w.project, ".agent"), text) }

func (w *world) put(dir, text string) *world {
	w.t.Helper()
	w.mkdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *world) options() *Options {
	return &Options{
		Home: w.home, Dir: filepath.Join(w.project), Cache: filepath.Join(w.home, ".cache", "agent"), Flags: w.flags,
		Lookup: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
	}
}

func (w *world) load() (*Config, []manifest.Problem) { return Load(w.options()) }

// tidy replaces the folders of the test by words.
func (w *world) tidy(s string) string {
	return strings.NewReplacer(w.project, "PROJECT", w.home, "HOME").Replace(s)
}

// lines returns problems as a person sees them, each with its cure.
func (w *world) lines(problems []manifest.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, w.tidy(fmt.Sprintf("%s → %s", p.Error(), p.Cure)))
	}
	return out
}

func (w *world) setting(c *Config, key string) string {
	w.t.Helper()
	for _, s := range c.Settings() {
		if s.Key == key {
			var from []string
			for _, o := range s.Origins {
				from = append(from, o.String())
			}
			return w.tidy(fmt.Sprintf("%s from %s", fields(s.Value), strings.Join(from, ", ")))
		}
	}
	w.t.Fatalf("no setting %q", key)
	return ""
}

func checkLines(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// fields returns every field of roots, including those that their text for people leaves out.
func fields(v any) string {
	type root Root
	switch v := v.(type) {
	case []Root:
		out := make([]root, len(v))
		for i, r := range v {
			out[i] = root(r)
		}
		return fmt.Sprint(out)
	}
	return fmt.Sprint(v)
}

// file puts a file into the project.
func (w *world) file(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
