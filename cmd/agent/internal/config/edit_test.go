package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// R75: enable and disable are kept in the user's file, and nothing else in it changes.
func TestEnableAndDisable(t *testing.T) {
	tests := []struct{ name, before, disabled, enabled string }{
		{
			"no file", "",
			"skills:\n  disabled:\n    - gh\n",
			"skills:\n  enabled:\n    - gh\n",
		},
		{
			"other settings and comments",
			"# mine\nother: 1\nskills: # below\n\n  # why\n  cwd: skill # because\n",
			"# mine\nother: 1\nskills: # below\n  disabled:\n    - gh\n\n  # why\n  cwd: skill # because\n",
			"# mine\nother: 1\nskills: # below\n  enabled:\n    - gh\n\n  # why\n  cwd: skill # because\n",
		},
		{
			"no section, no end of line",
			"other: 1",
			"other: 1\nskills:\n  disabled:\n    - gh\n",
			"other: 1\nskills:\n  enabled:\n    - gh\n",
		},
		{
			"an empty section",
			"skills:\n",
			"skills:\n  disabled:\n    - gh\n",
			"skills:\n  enabled:\n    - gh\n",
		},
		{
			"block lists",
			"skills:\n    enabled:\n    - a # first\n    - GH\n    # between\n    - b\n    disabled:\n      - c # why\n\n    cwd: skill\n",
			"skills:\n    enabled:\n    - a # first\n    # between\n    - b\n    disabled:\n      - c # why\n      - gh\n\n    cwd: skill\n",
			"skills:\n    enabled:\n    - a # first\n    - GH\n    # between\n    - b\n    disabled:\n      - c # why\n\n    cwd: skill\n",
		},
		{
			"flow lists",
			"skills:\n  enabled: [a, 'gh'] # these\n  disabled: []\n",
			"skills:\n  enabled: [a] # these\n  disabled: [gh]\n",
			"skills:\n  enabled: [a, 'gh'] # these\n  disabled: []\n",
		},
		{
			"the last one goes",
			"skills:\n  disabled: # off\n    - gh\n  enabled:\n    - gh\n",
			"skills:\n  disabled: # off\n    - gh\n  enabled: []\n",
			"skills:\n  disabled: [] # off\n  enabled:\n    - gh\n",
		},
		{
			"002's list of bundled skills, and snake case",
			"skills:\n  disabled_bundled: [gh, x]\n",
			"skills:\n  disabled:\n    - gh\n  disabled_bundled: [gh, x]\n",
			"skills:\n  enabled:\n    - gh\n  disabled_bundled: [x]\n",
		},
		{
			"a list without items",
			"skills:\n  disabled:\n  enabled: # none\n  cwd: skill\n",
			"skills:\n  disabled:\n    - gh\n  enabled: # none\n  cwd: skill\n",
			"skills:\n  disabled:\n  enabled: # none\n    - gh\n  cwd: skill\n",
		},
		{
			"all in one line",
			"skills: {disabled: [x], enabled: [y, z]}\n",
			"skills: {disabled: [x, gh], enabled: [y, z]}\n",
			"skills: {disabled: [x], enabled: [y, z, gh]}\n",
		},
		{
			"lines that end as on Windows",
			"skills:\r\n  disabled:\r\n    - a\r\n",
			"skills:\r\n  disabled:\r\n    - a\r\n    - gh\r\n",
			"skills:\r\n  enabled:\r\n    - gh\r\n  disabled:\r\n    - a\r\n",
		},
		{
			"there already, twice",
			"skills:\n  disabled: [GH, gh]\n",
			"skills:\n  disabled: [GH, gh]\n",
			"skills:\n  enabled:\n    - gh\n  disabled: []\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, do := range []struct {
				verb, want string
				on         bool
			}{{"disable", tt.disabled, false}, {"enable", tt.enabled, true}} {
				path := filepath.Join(t.TempDir(), "config.yaml")
				if tt.before != "" {
					put(t, path, tt.before)
				}
				changed, err := toggle(t, path, "Gh", do.on)
				if err != nil {
					t.Fatalf("%s: %v", do.verb, err)
				}
				got, _ := os.ReadFile(path)
				if string(got) != do.want || changed != (do.want != tt.before) {
					t.Errorf("%s, changed %v:\n%s\nwant:\n%s", do.verb, changed, got, do.want)
				}
				if again, err := toggle(t, path, "gh", do.on); again || err != nil {
					t.Errorf("%s again: changed %v, %v", do.verb, again, err)
				}
			}
		})
	}
}

func toggle(t *testing.T, path, name string, on bool) (bool, error) {
	if on {
		return Enable(t.Context(), path, name)
	}
	return Disable(t.Context(), path, name)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that cannot be changed safely stays as it is, and the error names the line.
func TestEditRefuses(t *testing.T) {
	tests := []struct{ name, before, want string }{
		{"damaged", "skills:\n  cwd: [\n", "3:1: "},
		{"anchors", "skills: &a\n  x: 1\n", "1:9: "},
		{"not a map", "- a\n", "1:1: the file must be a map"},
		{"skills is a text", "skills: no\n", `1: "skills" must be a map of settings, not a text`},
		{"skills twice", "skills:\n  cwd: skill\nskills:\n  cwd: skill\n", `3: duplicate key "skills"`},
		{"the list twice", "skills:\n  disabled: [a]\n  disabled: [b]\n", `3: duplicate key "disabled"`},
		{"one text", "skills:\n  disabled: a, b\n", `2: "disabled" is a text: write a list such as [a, b]`},
		{"one line without the list", "skills: {cwd: skill}\n", `1: the file cannot be changed safely: add gh to "disabled" below "skills:" by hand`},
		{"brackets over lines", "skills:\n  disabled: [a,\n    b]\n", `2: the file cannot be changed safely: add gh to "disabled"`},
		{"null in words", "skills:\n  disabled: null\n", `2: the file cannot be changed safely`},
		{"two documents", "skills: {}\n---\nx: 1\n", "config.yaml:"},
		{"odd items", "skills:\n  disabled: ['a]b', c]\n", `2: the file cannot be changed safely`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			put(t, path, tt.before)
			changed, err := Disable(t.Context(), path, "gh")
			if err == nil || changed || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("changed %v, error %v, want %q in it", changed, err, tt.want)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.before {
				t.Errorf("the file is now %q", got)
			}
		})
	}
	if _, err := Enable(t.Context(), "", "gh"); err == nil {
		t.Error("no error without a path")
	}
	if _, err := Enable(t.Context(), filepath.Join(t.TempDir(), "c"), "../etc"); err == nil {
		t.Error("no error for a name that is none")
	}
}

// Names that YAML would take for something else come back as they were.
func TestEditQuotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	names := []string{"no", "null", "2026-01-01", "1e3", "true"}
	for _, n := range names {
		if _, err := Disable(t.Context(), path, n); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := Load(&Options{Home: "/none", Lookup: func(v string) (string, bool) { return filepath.Dir(path), v == "AGENT_HOME" }})
	var want []string
	for _, n := range names {
		want = append(want, manifest.Canonical(n))
	}
	if !slices.Equal(c.Want.Disabled, want) || len(problems) > 0 {
		t.Errorf("disabled %q, want %q; problems %v", c.Want.Disabled, want, problems)
	}
}

// C44: two commands at once lose nothing.
func TestEditsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	var wg sync.WaitGroup
	for _, n := range strings.Split("abcdefgh", "") {
		wg.Go(func() {
			if _, err := Disable(t.Context(), path, n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text, _ := os.ReadFile(path)
	if got := strings.Count(string(text), "    - "); got != 8 {
		t.Errorf("%d names, want 8:\n%s", got, text)
	}
}

// An edit either fails or does exactly what it says, whatever the file looks like.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		"", "skills:\n  disabled:\n    - a\n    - gh # x\n", "skills: {disabled: [gh, a]}", "a: |\n  text\nskills:\n", "skills:\n  disabled: [\"a\", 'gh']\r\n",
		"---\nskills:\n  disabled:\n  - gh\n...\n", "\"skills\":\n  \"disabled\":\n    - >-\n      gh\n", "\ufeffskills:\n  disabled: [gh]\n",
		"skills:\n disabled: ! []", "skills:\n  disabled: &a []\n", "skills:\n  disabled: !!seq [gh]\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, add bool) {
		s := step{skillsSection, "disabled", add}
		after, err := s.apply("f", text, "gh")
		if err != nil {
			return
		}
		root, err := parse([]byte(after))
		if err != nil {
			t.Fatalf("the file cannot be read any more: %v\n%q", err, after)
		}
		d := &document{root: root, step: s, name: "gh"}
		if err := d.find(); err != nil || d.has() != add {
			t.Errorf("has %v, want %v, %v\n%q", d.has(), add, err, after)
		}
		before, _ := parse([]byte(text))
		if got, want := others(root), others(before); !slices.EqualFunc(got, want, same) {
			t.Errorf("other values changed: %q became %q", text, after)
		}
		if strings.Count(after, "#") < strings.Count(text, "#") && add {
			t.Errorf("a comment went: %q became %q", text, after)
		}
	})
}

// others returns what a file says besides the list.
func others(root *yamlnode.Node) []*yamlnode.Node {
	var out []*yamlnode.Node
	for _, p := range root.Pairs {
		if p.Key.Value != "skills" {
			out = append(out, p.Key, p.Value)
			continue
		}
		for _, q := range p.Value.Pairs {
			if q.Key.Value != "disabled" {
				out = append(out, q.Key, q.Value)
			}
		}
	}
	return out
}
