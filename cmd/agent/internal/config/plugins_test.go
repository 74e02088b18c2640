package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

var wish = Plugin{URL: "https://example.com/it's.git", Ref: "v1", Name: "csv", InstalledAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// R74, R147, C19: the list changes, and nothing else.
func TestEditPlugins(t *testing.T) { // R74, R147, C19
	const item = "    - url: 'https://example.com/it''s.git'\n      ref: 'v1'\n      name: 'csv'\n      installedAt: '2026-01-02T03:04:05Z'\n"
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "skills:\n  plugins:\n" + item},
		{"other settings", "agent:\n  model: x # mine\n", "agent:\n  model: x # mine\nskills:\n  plugins:\n" + item},
		{"other keys", "skills:\n  cwd: skill\n", "skills:\n  plugins:\n" + item + "  cwd: skill\n"},
		{"null", "skills:\n  plugins:\n  cwd: skill\n", "skills:\n  plugins:\n" + item + "  cwd: skill\n"},
		{"empty", "skills:\n  plugins: [] # none\n", "skills:\n  plugins: # none\n" + item},
		{"another", "skills:\n  plugins:\n    - {url: a, name: b}\n    - url: c # d\n      name: e\n# end\n",
			"skills:\n  plugins:\n    - {url: a, name: b}\n    - url: c # d\n      name: e\n" + item + "# end\n"},
		{"the same name", "skills:\n  plugins:\n    - url: c\n      name: CSV\n    - url: d\n", "skills:\n  plugins:\n    - url: d\n" + item},
		{"line ends", "skills:\r\n  cwd: skill\r\n", strings.ReplaceAll("skills:\n  plugins:\n"+item+"  cwd: skill\n", "\n", "\r\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := setPlugins("f", tt.before, nil, []Plugin{wish})
			if err != nil || got != tt.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, tt.after)
			}
			if again, _, err := setPlugins("f", got, nil, []Plugin{wish}); again != got || err != nil {
				t.Errorf("again: %v\n%s", err, again)
			}
			gone, names, err := setPlugins("f", got, []string{"none", "Csv"}, nil)
			if err != nil || strings.Contains(gone, "csv") || !slices.Equal(names, []string{"csv"}) {
				t.Errorf("removed: %v\n%s", err, gone)
			}
		})
	}
}

func TestEditPluginsRefuses(t *testing.T) {
	for _, tt := range []struct{ name, before, want string }{
		{"on one line", "skills:\n  plugins: [{url: a, name: b}]\n", `2: the file cannot be changed safely: add`},
		{"a text", "skills:\n  plugins: a\n", `2: "plugins" is a text`},
		{"a block", "skills:\n  plugins:\n    - url: c\n      name: >-\n        x\n", `2: the file cannot be changed safely`},
		{"damaged", "skills: [\n", "fix the file first"},
		{"one line for all", "skills: {cwd: skill}\n", `1: the file cannot be changed safely`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			put(t, path, tt.before)
			other := wish
			other.Name = "other"
			changed, err := AddPlugins(t.Context(), path, other, wish)
			if changed || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("changed %v, error %v, want %q", changed, err, tt.want)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.before {
				t.Errorf("the file is now %q", got)
			}
		})
	}
	if _, err := AddPlugins(t.Context(), filepath.Join(t.TempDir(), "c"), Plugin{Name: "x", URL: "a\nb: c"}); err == nil {
		t.Error("no error for a URL of two lines")
	}
}

// Several skills change in one step, and what is already so stays in its place.
func TestEditManyPlugins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	put(t, path, "skills:\n  plugins:\n    - {url: a, name: a}\n    - {url: b, name: B}\n    - {url: c, name: c} # mine\n")
	found, err := RemovePlugins(t.Context(), path, "b", "none", "A", "b")
	if err != nil || !slices.Equal(slices.Compact(found), []string{"b", "a", "b"}) {
		t.Errorf("found %q, %v", found, err)
	}
	changed, err := AddPlugins(t.Context(), path, Plugin{URL: "d", Name: "d"}, Plugin{URL: "c", Name: "c"}, Plugin{URL: "e", Name: "e"})
	if got, _ := os.ReadFile(path); err != nil || !changed || string(got) != "skills:\n  plugins:\n    - {url: c, name: c} # mine\n    - url: 'd'\n      name: 'd'\n    - url: 'e'\n      name: 'e'\n" {
		t.Errorf("changed %v, %v:\n%s", changed, err, got)
	}
	if found, err := RemovePlugins(t.Context(), filepath.Join(t.TempDir(), "none.yaml"), "b"); len(found) > 0 || err != nil {
		t.Errorf("found %q, %v", found, err)
	}
}

// R74: what is read, and that a plugin that is off is a disabled skill.
func TestReadPlugins(t *testing.T) { // R74
	w := newWorld(t).user("skills:\n  plugins:\n    - {url: a/b, ref: v1, name: Csv_Report, enabled: false, installedAt: 2026-01-02T03:04:05Z}\n    - url: c\n    - {name: d}\n    - e\n")
	c, problems := w.load()
	if len(c.Plugins) != 2 || c.Plugins[0].Enabled || !c.Plugins[1].Enabled || c.Plugins[0].InstalledAt.Year() != 2026 || c.Plugins[0].Ref != "v1" {
		t.Errorf("%+v", c.Plugins)
	}
	if len(c.Want.Disabled) != 1 || c.Want.Disabled[0] != "csv-report" || len(problems) != 2 {
		t.Errorf("disabled %q, problems %v", c.Want.Disabled, problems)
	}
}

// An edit either fails or does exactly what it says, whatever the file looks like.
func FuzzEditPlugins(f *testing.F) {
	for _, seed := range []string{
		"", "skills:\n  plugins:\n    - url: a\n      name: csv\n", "skills:\n  plugins: []\n", "skills:\n  plugins: [{url: a, name: csv}]\n",
		"skills:\r\n  plugins:\r\n  - {name: csv, url: b}\r\n  -\r\n    url: c\r\n", "a: |\n  plugins\nskills:\n", "skills:\n plugins: ! []", "skills:\n  plugins: # x\n",
		"skills:\n  \"plugins\":\n    - url: a\n\n      # c\n      name: 'csv'\n  cwd: skill\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, add bool) {
		fresh, gone := []Plugin{wish}, []string(nil)
		if !add {
			fresh, gone = nil, []string{"csv"}
		}
		after, _, err := setPlugins("f", text, gone, fresh)
		if err != nil {
			return
		}
		old, err := openPlugins("f", text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := openPlugins("f", after)
		if err != nil {
			t.Fatalf("the file cannot be read any more: %v\n%q", err, after)
		}
		var want []*yamlnode.Node
		kept := false
		for _, n := range old.items() {
			switch {
			case pluginField(n, "name") != "csv" && !strings.EqualFold(pluginField(n, "name"), "csv"):
				want = append(want, n)
			case add && pluginField(n, "url") == wish.URL && pluginField(n, "ref") == wish.Ref:
				kept = true
			}
		}
		if kept {
			return
		}
		if add {
			want = append(want, wish.node())
		}
		if after != text && !same(old.with(want), d.root) {
			t.Errorf("%q became %q", text, after)
		}
	})
}
