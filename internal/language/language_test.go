package language

import (
	"slices"
	"strings"
	"testing"
)

// What is known about each language is there for all who ask, so a new row needs no code elsewhere.
func TestTable(t *testing.T) {
	endings, names := map[string]bool{}, map[string]bool{}
	for _, l := range table {
		if l.Name == "" || len(l.Programs) == 0 {
			t.Errorf("%q has no name or no programs", l.ID)
		}
		for _, p := range l.Programs {
			for _, name := range p.Names {
				if names[name] {
					t.Errorf("%s is in two rows", name)
				}
				names[name] = true
			}
		}
	}
	for _, l := range All() {
		for _, e := range slices.Concat(l.Endings(), l.Modules) {
			if endings[e] || !strings.HasPrefix(e, ".") || e != strings.ToLower(e) {
				t.Errorf("the ending %q of %s is in two rows, or not written as .x", e, l.Name)
			}
			endings[e] = true
		}
		for _, name := range l.Runs() {
			if !names[name] || Install(name) == "" {
				t.Errorf("%s of %s is in no row, or nothing says how to get it", name, l.Name)
			}
		}
		if len(l.Ways()) == 0 || l.Install == "" {
			t.Errorf("nothing says how %s is run or installed", l.Name)
		}
	}
}

func TestLookups(t *testing.T) {
	for _, tt := range []struct {
		file string
		want ID
	}{
		{"a.py", Python}, {"A.PHP", PHP}, {"a.mts", TypeScript}, {"a.bash", Shell}, {"a.jsx", ""}, {"a", ""}, {".py", Python}, {"a.unheard", ""},
	} {
		if got := Of(tt.file); got != tt.want {
			t.Errorf("Of(%q) = %q, want %q", tt.file, got, tt.want)
		}
	}
	for name, want := range map[string]ID{"python3.12": Python, "php8.2": PHP, "ruby": Ruby, "sed4": "", "unheard": "", "": "", "tsx": TypeScript} {
		if got := Named(name); got != want {
			t.Errorf("Named(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"php8.2": true, "npx": true, "bb": true, "sed": false, "cat": false, "": false} {
		if got := Starts(name); got != want {
			t.Errorf("Starts(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]string{"python3": "program", "guile-3.0": "program", "zsh": "command", "jq": "", "cat": ""} {
		if got := RunsCode(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("RunsCode(%q) = %q", name, got)
		}
	}
	for name, want := range map[string]string{"bunx": "https://bun.sh", "uvx": "pip install uv", "npm": "nodejs.org", "php": "php.net", "unheard": ""} {
		if got := Install(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("Install(%q) = %q", name, got)
		}
	}
	if p := ProgramNamed("unheard"); p.Options() || !p.Loads || p.Taken([]string{"x", "-y"}) != "-y" || p.Taken([]string{"x"}) != "" {
		t.Errorf("got %+v", p)
	}
	if l := ID(".mjs").Row(); l.ID != JavaScript || ID("").Row().Name != "" || ID(".none").Row().Name != "" {
		t.Errorf("got %+v", l)
	}
}
