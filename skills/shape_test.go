package skills_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skills"
)

// scripts are the ten programs of kalshi-markets.
var scripts = []string{
	"event", "events", "market", "markets", "orderbook", "search", "series", "series_list", "status", "trades",
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(skills.Core(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// front is a SKILL.md parsed as ordinary YAML, without the leniency of the skill parser: the values of each field by its
// path, such as "permissions.env". body is the text after the front matter.
type front struct {
	values map[string][]string
	body   string
}

// text returns the only value of a field, or "".
func (f front) text(field string) string {
	if v := f.values[field]; len(v) == 1 {
		return v[0]
	}
	return ""
}

func (f front) add(field string, n *yamlnode.Node) {
	switch n.Kind {
	case yamlnode.Mapping:
		for _, p := range n.Pairs {
			f.add(strings.TrimPrefix(field+"."+p.Key.Value, "."), p.Value)
		}
	case yamlnode.Sequence:
		for _, item := range n.Items {
			f.add(field, item)
		}
	default:
		f.values[field] = append(f.values[field], n.Value)
	}
}

func frontMatter(t *testing.T, name string) front {
	t.Helper()
	source := read(t, name+"/SKILL.md")
	if _, problems := manifest.Parse([]byte(source), nil); len(problems) > 0 {
		t.Errorf("%s: the skill parser reports %+v", name, problems)
	}
	parts := strings.SplitN(source, "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("%s: no front matter", name)
	}
	root, err := yamlnode.Parse([]byte(parts[1]), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	f := front{map[string][]string{}, parts[2]}
	f.add("", root)
	return f
}

func TestFourSkillsAreBundled(t *testing.T) { // R162, R163, R164
	entries, err := fs.ReadDir(skills.Core(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"gh", "hello-extended", "hello-world", "kalshi-markets"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for _, name := range got {
		m := frontMatter(t, name)
		if got := m.text("name"); got != name {
			t.Errorf("%s: its name is %q", name, got)
		}
		if n := len(m.text("description")); n == 0 || n > 500 {
			t.Errorf("%s: its description has %d characters, want 1 to 500", name, n)
		}
		if got := m.text("version") + m.text("metadata.version"); got != "1.0.0" {
			t.Errorf("%s: version %q, want 1.0.0", name, got)
		}
		if !strings.Contains(m.text("description"), "Use when") {
			t.Errorf("%s: the description does not state when to use it", name)
		}
	}
}

func TestEmbeddedFilesAreTheFilesOfTheFolder(t *testing.T) {
	want := map[string]string{}
	err := filepath.WalkDir("core", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		want[strings.TrimPrefix(filepath.ToSlash(name), "core/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if strings.Contains(name, "__pycache__") {
			t.Errorf("%s would be embedded: remove it", name)
		}
		if got := read(t, name); got != text {
			t.Errorf("%s differs", name)
		}
	}
	if init, found := want["hello-extended/toolsets/__init__.py"]; !found || init != "" { // R163
		t.Errorf("toolsets/__init__.py: found %v, %d bytes, want an empty file", found, len(init))
	}
}

func TestManifestOfKalshi(t *testing.T) { // R162
	m := frontMatter(t, "kalshi-markets")
	if got, want := m.values["permissions.env"], []string{"KALSHI_*"}; !slices.Equal(got, want) {
		t.Errorf("permissions.env is %q, want %q", got, want)
	}
	if n := len(m.text("description")); n > 300 {
		t.Errorf("the description has %d characters, want at most 300", n)
	}
	if n := strings.Count(read(t, "kalshi-markets/SKILL.md"), "\n"); n > 60 { // R190
		t.Errorf("SKILL.md has %d lines, want about 50", n)
	}
	for _, word := range []string{"Do not read", "--help", "--json"} {
		if !strings.Contains(m.body, word) {
			t.Errorf("the body does not mention %q", word)
		}
	}
	for _, name := range scripts {
		listed := regexp.MustCompile("- `scripts/" + name + `\.py[^\n]*\n  When to use: `)
		if !listed.MatchString(m.body) {
			t.Errorf("%s is not listed under its path with a line When to use", name)
		}
	}
}

func TestManifestOfHelloExtended(t *testing.T) { // R163, R165, C55
	m := frontMatter(t, "hello-extended")
	for field, want := range map[string][]string{
		"toolsets":          {"toolsets.hello:HelloExtended"},
		"scripts_ignore":    {"*_test.py"},
		"triggers.keywords": {"hello", "greet", "greeting"},
		"triggers.verbs":    {"say", "wave"},
		"triggers.patterns": {`greet\s+\w+`},
		"default_enabled":   {"true"},
	} {
		if got := m.values[field]; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	if m.text("brief_description") == "" {
		t.Error("no brief_description")
	}
}

func TestManifestOfGh(t *testing.T) { // R164
	m := frontMatter(t, "gh")
	for field, want := range map[string]string{
		"metadata.requires": "gh", "metadata.author": "agent-base", "metadata.version": "1.0.0", "allowed-tools": "Bash(gh:*)",
	} {
		if got := m.text(field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	for _, name := range regexp.MustCompile("`(references/[^`]+)`").FindAllStringSubmatch(m.body, -1) {
		read(t, "gh/"+name[1])
	}
}

// block reads a script's PEP 723 block.
func block(t *testing.T, name string) (requires string, dependencies []string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^# /// script\n((?:#(?: .*)?\n)+?)# ///$`).FindAllStringSubmatch(read(t, name), -1)
	if len(found) != 1 {
		t.Fatalf("%s: %d blocks, want 1", name, len(found))
	}
	var meta struct {
		Requires     string `toml:"requires-python"`
		Dependencies []string
	}
	text := regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(found[0][1], "")
	if _, err := toml.Decode(text, &meta); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return meta.Requires, meta.Dependencies
}

func TestShapeOfTheTenScripts(t *testing.T) { // R162
	const dir = "kalshi-markets/scripts"
	entries, err := fs.ReadDir(skills.Core(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.TrimSuffix(e.Name(), ".py"))
	}
	if !slices.Equal(got, scripts) {
		t.Fatalf("got %q, want %q", got, scripts)
	}
	imported := regexp.MustCompile(`(?m)^\s*(?:import|from) +([\w.]+)`)
	library := strings.Fields("__future__ datetime decimal json os pathlib re signal sys tempfile textwrap time typing unicodedata httpx click")
	for _, name := range scripts {
		file := path.Join(dir, name+".py")
		text := read(t, file)
		if n := strings.Count(text, "\n"); n < 200 || n > 300 {
			t.Errorf("%s has %d lines, want 200 to 300", file, n)
		}
		if !strings.HasPrefix(text, "#!/usr/bin/env python3\n") {
			t.Errorf("%s has no first line for a shell", file)
		}
		for _, module := range imported.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(library, module[1]) {
				t.Errorf("%s imports %s: a script stands alone", file, module[1])
			}
		}
		requires, dependencies := block(t, file)
		if requires != ">=3.9" || !slices.Equal(dependencies, requirements) {
			t.Errorf("%s: requires-python %q, dependencies %q", file, requires, dependencies)
		}
	}
	requires, dependencies := block(t, "hello-extended/scripts/advanced_greeting.py") // R163
	if requires != ">=3.9" || !slices.Equal(dependencies, requirements[1:]) {
		t.Errorf("advanced_greeting: requires-python %q, dependencies %q", requires, dependencies)
	}
}

// The scripts share no file, so each has a copy of the common functions. A fix of one copy must reach all: functions of
// the same name must have the same text, except those listed.
func TestCopiesOfAFunctionAreEqual(t *testing.T) {
	own := strings.Fields("main show show_market texts")
	function := regexp.MustCompile(`(?m)^(?:def|class) (\w+)[^\n]*\n(?:(?:[ ].*)?\n)+`)
	first := map[string]string{}
	for _, name := range scripts {
		text := read(t, "kalshi-markets/scripts/"+name+".py")
		for _, f := range function.FindAllStringSubmatch(text, -1) {
			body := strings.TrimSpace(f[0])
			if slices.Contains(own, f[1]) || (f[1] == "get" && name == "status") {
				continue
			}
			if before, seen := first[f[1]]; seen && before != body {
				t.Errorf("%s.py: %s differs from the copy in another script", name, f[1])
			}
			first[f[1]] = body
		}
	}
	if len(first) < 20 {
		t.Errorf("only %d functions found", len(first))
	}
}
