package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
)

// R175: README and the guide for authors cover what they have to.
func TestGuideCoversItsSubjects(t *testing.T) {
	for _, c := range []struct {
		subject, file string
		words         []string
	}{
		{"README: section about skills", "README.md", []string{"\n## Skills\n"}},
		{"README: kalshi as the example", "README.md", []string{"`kalshi-markets` is one of four bundled skills", "agent script run  kalshi-markets"}},
		{"README: the three script tools", "README.md", []string{"`script_list`", "`script_help`", "`script_run`"}},
		{"README: install examples", "README.md", []string{"agent skill add owner/repo", "agent skill update", "(docs/install.md)"}},
		{"README: script conventions", "README.md", []string{"explains itself with `--help`", "JSON document with `--json`", "stderr", "PEP 723"}},
		{"minimal SKILL.md", "docs/SKILLS.md", []string{"\n## The smallest skill\n", "---\nname: csv-report\ndescription: "}},
		{"fields", "docs/SKILLS.md", []string{"\n## Front matter\n"}},
		{"module:Class", "docs/SKILLS.md", []string{"`module:Class`", "`toolsets.hello:HelloExtended`"}},
		{"toolset or script", "docs/SKILLS.md", []string{"\n## Toolset or script?\n"}},
		{"disclosure practice", "docs/SKILLS.md", []string{"\n## What is disclosed when\n", "agent skill prompt --tokens"}},
		{"conventions of scripts", "docs/SKILLS.md", []string{"\n## Scripts\n", "`--help` explains", "`--json` prints", "exit 0 means success", "no questions"}},
		{"normalisation", "docs/SKILLS.md", []string{"\n## Names\n", "`Kalshi_Markets` and `kalshi-markets`", "`status.py`"}},
		{"path rules", "docs/SKILLS.md", []string{"\n## Paths\n", "forward slashes", "`..`, absolute paths and backslashes are refused"}},
		{"collisions", "docs/SKILLS.md", []string{"Avoid `get`, `list` and `search`", "`kalshi_search`", "class's name"}},
		{"testing patterns", "docs/SKILLS.md", []string{"\n## Testing a skill\n", "scripts_ignore: [\"*_test.py\"]"}},
		{"publishing", "docs/SKILLS.md", []string{"\n## Publishing\n", "Local changes to installed skills are discarded on update: fork and install from your fork."}},
		{"walk-through", "docs/SKILLS.md", []string{"\n## A walk through a real one\n"}},
		{"migration of existing tools", "docs/SKILLS.md", []string{"\n## Moving existing tools\n"}},
	} {
		text := read(t, c.file)
		line := strings.Join(strings.Fields(text), " ")
		for _, w := range c.words {
			if !strings.Contains(text, w) && !strings.Contains(line, w) {
				t.Errorf("%s: %s has no %q", c.subject, c.file, w)
			}
		}
	}
	if n := len(strings.Fields(read(t, "README.md"))); n >= 900 {
		t.Errorf("README.md has %d words: a newcomer reads fewer than 900", n)
	}
}

// R175: the guide names every field that the engine knows, and no other.
func TestGuideNamesTheFields(t *testing.T) {
	guide := read(t, "docs/SKILLS.md")
	known := regexp.MustCompile(`\{key: "([^".]+)"`).FindAllStringSubmatch(read(t, "skill/manifest/fields.go"), -1)
	if len(known) < 30 {
		t.Fatalf("%d fields found in the source, want 30 at least", len(known))
	}
	for _, k := range known {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(k[1]) + "[`.:]").MatchString(guide) {
			t.Errorf("the guide says nothing of the field %q", k[1])
		}
	}
	_, tables, _ := strings.Cut(guide, "\n## Front matter\n")
	tables, _, _ = strings.Cut(tables, "\nQuote a value")
	cell := regexp.MustCompile(`(?m)^\|([^|]+)\|`)
	word := regexp.MustCompile("`([a-z_-]+)")
	for _, row := range cell.FindAllStringSubmatch(tables, -1) {
		for _, field := range word.FindAllStringSubmatch(row[1], -1) {
			if got := standing(field[1]); got == manifest.StandingRejected {
				t.Errorf("the guide has the field %q, which the engine does not know", field[1])
			}
		}
	}
	_, idle, _ := strings.Cut(tables, "change nothing in this version:")
	for _, field := range word.FindAllStringSubmatch(idle, -1) {
		if got := standing(field[1]); got != manifest.StandingInformational {
			t.Errorf("the guide says that %q changes nothing; it is %s", field[1], got)
		}
	}
}

// standing returns what the engine does with a field that has a proper value.
func standing(field string) manifest.Standing {
	for _, value := range []string{"1", "{}", "fork", "a:B"} {
		m, _ := manifest.Parse([]byte("---\n"+field+": "+value+"\n---\n"), nil)
		for _, f := range m.Fields {
			if f.Key == field && f.Standing != manifest.StandingRejected {
				return f.Standing
			}
		}
	}
	return manifest.StandingRejected
}

// R175: each limit in the guide is the code's.
func TestGuideStatesTheLimits(t *testing.T) {
	guide := strings.Join(strings.Fields(read(t, "docs/SKILLS.md")), " ")
	for _, want := range []string{
		fmt.Sprintf("1 to %d letters and digits", manifest.MaxName),
		fmt.Sprintf("%d arguments with %d bytes in all", script.MaxArgs, script.MaxArgBytes),
		fmt.Sprintf("%d seconds (`SCRIPT_TIMEOUT`)", int(script.DefaultTimeout.Seconds())),
		fmt.Sprintf("%d MiB of output", script.DefaultOutput>>20),
		fmt.Sprintf("the last %d bytes of it", script.StderrTail),
		fmt.Sprintf("A `SKILL.md` has up to %d MiB, %d KiB of it front matter", manifest.MaxManifest>>20, manifest.MaxFrontMatter>>10),
		fmt.Sprintf("that a model reads up to %d MiB", skill.MaxResource>>20),
		"1 to 1,024 characters: what the skill does", // the rest is tried out below
		"`compatibility` up to 500 characters",
		"at most 80 characters for short lists",
		"under 500 lines",
	} {
		if !strings.Contains(guide, want) {
			t.Errorf("the guide has no %q", want)
		}
	}
	for _, c := range []struct {
		code, key string
		most      int
	}{
		{"description-length", "description", 1024},
		{"compatibility-length", "compatibility", 500},
		{"brief-length", "brief_description", 80},
	} {
		for length, want := range map[int]bool{c.most: false, c.most + 1: true} {
			line := c.key + ": " + strings.Repeat("x", length)
			if got := has(line, example{code: c.code}); got != want {
				t.Errorf("%s of %d characters: %s is %v, want %v", c.key, length, c.code, got, want)
			}
		}
	}
	for lines, want := range map[int]bool{500: false, 501: true} {
		text := "---\nname: a\ndescription: b\n---\n" + strings.Repeat("x\n", lines)
		_, problems := check.Folder(fstest.MapFS{"SKILL.md": {Data: []byte(text)}}, "a", nil)
		got := slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Code == "body-length" })
		if got != want {
			t.Errorf("a body of %d lines: body-length is %v, want %v", lines, got, want)
		}
	}
}

// R175: each profile in the guide exists and none is missing, and each value of AGENT_SKILLS means what README says.
func TestGuideNamesProfilesAndValues(t *testing.T) {
	guide, readme := strings.Join(strings.Fields(read(t, "docs/SKILLS.md")), " "), read(t, "README.md")
	_, list, _ := strings.Cut(guide, "`agent skill validate --profile NAME`")
	list, _, _ = strings.Cut(list, "A skill that passes")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list, -1) {
		if m[1] != "--strict" {
			named[m[1]] = true
		}
	}
	for _, name := range manifest.Profiles() {
		if !named[name] {
			t.Errorf("the guide does not name the profile %q", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("the guide names %q, which is not a profile", name)
	}
	for _, c := range []struct {
		row, value string
		want       skill.Mode
	}{
		{"| `kalshi-markets,gh` |", "kalshi-markets,gh", skill.SelectNamed},
		{"| `all` |", "all", skill.SelectAll},
		{"| `all-untrusted` |", "all-untrusted", skill.SelectAllUntrusted},
		{"| `none`, or empty |", "none", skill.SelectNone},
		{"| `none`, or empty |", "", skill.SelectNone},
	} {
		if !strings.Contains(readme, c.row) {
			t.Errorf("README.md has no row %q", c.row)
		}
		if got, problems := config.ParseSelection(c.value); got.Mode != c.want || len(problems) > 0 {
			t.Errorf("AGENT_SKILLS=%q is %v with %v, want %v", c.value, got.Mode, problems, c.want)
		}
	}
}

// Every command and flag that a page shows is one that the command has.
func TestPagesShowRealCommands(t *testing.T) {
	flags := commandFlags(t)
	line := regexp.MustCompile("(?m)(?:^(?:\\$ )?|`)(agent(?: |$)[^`\n]*)")
	seen := 0
	files := []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", ".env.example"}
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if base := filepath.Base(page); base != "cli.md" { // made from the commands, and run
			files = append(files, "docs/"+base)
		}
	}
	for _, file := range files {
		for _, m := range line.FindAllStringSubmatch(indented(read(t, file)), -1) {
			call, _, _ := strings.Cut(m[1], "#")
			call, _, _ = strings.Cut(call, " -- ")
			if strings.HasPrefix(call, "agent …") {
				continue
			}
			seen++
			for _, wrong := range checkCall(flags, strings.Fields(call)) {
				t.Errorf("%s: %q: %s", file, m[1], wrong)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d calls found in the pages, want 30 at least", seen)
	}
}

// indented returns a page in which only what stands in blocks of code begins where its line does.
func indented(page string) string {
	code := false
	var out strings.Builder
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			out.WriteString(" ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// commandFlags returns the flags of each command, as docs/cli.md has them.
func commandFlags(t *testing.T) map[string]map[string]bool {
	t.Helper()
	page, err := cliPage()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{"agent": {"--help": true}, "agent help": {}}
	current := out["agent"]
	heading := regexp.MustCompile("^#+ `(agent [^`]+)`$")
	flag := regexp.MustCompile(`--[a-z-]+`)
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			current = map[string]bool{}
			out[m[1]] = current
		}
		if cell, ok := strings.CutPrefix(line, "| `-"); ok {
			name, _, _ := strings.Cut(cell, "`")
			current[flag.FindString("-"+name)] = true
		}
	}
	return out
}

// checkCall says what is wrong with a call of the command.
func checkCall(flags map[string]map[string]bool, words []string) (wrong []string) {
	command := words[0]
	for _, w := range words[1:] {
		if flags[command+" "+w] == nil {
			break
		}
		command += " " + w
	}
	if command == "agent" && len(words) > 1 && !strings.HasPrefix(words[1], "-") || flags[command] == nil {
		return []string{"there is no such command"}
	}
	if (command == "agent skill" || command == "agent script") && len(words) > 2 && !strings.HasPrefix(words[2], "-") {
		return []string{"there is no such command"}
	}
	for _, w := range words {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "--") && !flags[command][name] && !flags["agent"][name] {
			wrong = append(wrong, "there is no flag "+name)
		}
	}
	return wrong
}

// R160: .env.example has every value of AGENT_SKILLS, the two limits with their defaults, and nothing that does not
// exist; a copy of it changes nothing.
func TestEnvExample(t *testing.T) {
	text := read(t, ".env.example")
	known := map[string]bool{"AGENT_HOME": true, "NO_COLOR": true, "AGENT_SKILLS_CORPUS": true}
	for _, k := range config.Keys() {
		known[k.Variable] = true
	}
	for _, v := range models.Variables() {
		known[v] = true
	}
	setting := regexp.MustCompile(`^#([A-Z_]+)=(.*)$`)
	values := map[string][]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			t.Errorf("%q is set: a copy of the file would change something", line)
		}
		if m := setting.FindStringSubmatch(line); m != nil {
			values[m[1]] = append(values[m[1]], m[2])
			if !known[m[1]] {
				t.Errorf("%s is not a variable of the command", m[1])
			}
		}
	}
	modes := map[skill.Mode]bool{}
	for _, v := range values["AGENT_SKILLS"] {
		s, problems := config.ParseSelection(v)
		if len(problems) > 0 {
			t.Errorf("AGENT_SKILLS=%s: %v", v, problems)
		}
		modes[s.Mode] = true
	}
	for _, want := range []skill.Mode{skill.SelectAll, skill.SelectAllUntrusted, skill.SelectNone, skill.SelectNamed} {
		if !modes[want] {
			t.Errorf("no value of AGENT_SKILLS is of mode %v", want)
		}
	}
	for name, want := range map[string]string{
		"SCRIPT_TIMEOUT":    fmt.Sprint(int(script.DefaultTimeout.Seconds())),
		"MAX_SCRIPT_OUTPUT": fmt.Sprint(script.DefaultOutput),
		"AGENT_PROFILE":     manifest.Profiles()[0],
	} {
		if got := strings.Join(values[name], " "); got != want {
			t.Errorf("%s is %q, want the default %q", name, got, want)
		}
	}
	for _, name := range manifest.Profiles() {
		if !strings.Contains(text, name) {
			t.Errorf("the profile %q is not there", name)
		}
	}
}
