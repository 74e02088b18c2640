package manifest

import (
	"slices"
	"strings"
	"testing"
)

// The wanted column of the set of nasty inputs (agent-skills-spec 6.6), and what is said of each.
func TestRepair(t *testing.T) {
	for _, row := range []struct {
		name, lines string
		got         func(*Manifest) string
		want        string
		problems    string
	}{
		{"a colon", "license: Use when: asked", license, "Use when: asked", "yaml-colon 4:18"},
		{"a colon after a control character", "license: \aa: b", license, "a: b", "frontmatter-control 4:10, yaml-colon 4:12"},
		{"a colon at the end", "license: Use when:", license, "Use when:", "yaml-colon 4:18"},
		{"a colon after an accent", "license: é: x", license, "é: x", "yaml-colon 4:11"},
		{"a colon before a comment", "license: a: b # c: d", license, "a: b", "yaml-colon 4:11"},
		{"an address", "license: http://x.y", license, "http://x.y", ""},
		{"smart quotes", "license: \u201ca\u201d: b", license, "\u201ca\u201d: b", "yaml-colon 4:13"},
		{"a quoted word first", `license: "Short" label: x`, license, `"Short" label: x`, "yaml-start 4:17"},
		{"an apostrophe first", "license: 'a' b", license, "'a' b", "yaml-start 4:13"},
		{"a comma", "license: ,x", license, ",x", "yaml-start 4:10"},
		{"a star", "license: *a* b", license, "*a* b", "yaml-start 4:10"},
		{"an at sign", "license: @x", license, "@x", "yaml-start 4:10"},
		{"a backquote", "license: `x` y", license, "`x` y", "yaml-start 4:10"},
		{"a per cent sign", "license: %x", license, "%x", "yaml-start 4:10"},
		{"a hyphen", "license: - x", license, "- x", "yaml-start 4:10"},
		{"a greater sign", "license: > x y", license, "> x y", "yaml-start 4:10"},
		{"a bracket", "license: [WIP] x: y", license, "[WIP] x: y", "yaml-raw 4:10"},
		{"an open quote", `license: "x`, license, `"x`, "yaml-raw 4:10"},
		{"a colon on the second line", "license: a\n  b: c", license, "a b: c", "yaml-raw 4:10"},
		{"a colon on the first of two", "license: a: b\n  c\n  # no\n  d", license, "a: b c d", "yaml-raw 4:10"},
		{"a colon below metadata", "metadata:\n  a: b: c\n  d: e", meta("a", "d"), "b: c|e", "yaml-colon 5:7"},
		{"broken metadata", "metadata: {\"a\": \nlicense: MIT", license, "MIT", "yaml-syntax 4:11"},
		{"a tab in a value", "license: a\tb", license, "a\tb", ""},
		{"U+0080", "license: a\u0080b", license, "ab", "frontmatter-control 4:11"},
		{"a no-break space as indentation", "metadata:\n\u00a0\u00a0a: b", meta("a", "a"), "b|b", "yaml-indent 5:1, yaml-indent 5:2"},
		{"a date", "license: 2026-01-02", license, "2026-01-02", ""},
		{"a line that is not a field", "license: MIT\n** Note **", license, "MIT ** Note **", "yaml-flush 5:1"},
		{"text with addresses in it", "license: MIT\n| a | `https://x.y` |\n**Note:** z", license, "MIT", "frontmatter-open 5:1"},
		{"a key in quotes before a broken line", "\"license\": MIT\nz", license, "MIT z", "yaml-flush 5:1"},
		{"a comment before a broken line", "license: MIT\n# no: field\nz", license, "MIT", "frontmatter-open 5:1"},
		{"lines below words", "license: MIT\nversion: 1.0\nx y\nuser-invocable: false\nz", license, "MIT", "yaml-syntax 6:1, yaml-syntax 8:1"},
		{"a key that is a list", "? [a]\n: b\nlicense: MIT", license, "MIT", "yaml-key 4:3"},
		{"an anchor elsewhere", "extra: &x y\nlicense: a: b", license, "a: b", "yaml-anchor 4:8, field-unknown 4:1, yaml-colon 5:11"},
		{"a colon inside quotes that go on", "extra: &x y\nlicense: \"a\n  B: c: d\n  e\"", license, "a B: c: d e", "yaml-anchor 4:8, field-unknown 4:1"},
		{"and a colon elsewhere", "extra: x: y\nlicense: \"a\n  B: c: d\n  e\"", license, "a B: c: d e", "yaml-colon 4:9, field-unknown 4:1"},
		{"the last of two", "license: a\nlicense: b", license, "b", "field-duplicate 5:1"},
		{"a second document", "license: a\n--- x\nauthor: b", license, "a", "frontmatter-closer 5:1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			src := added(row.lines)
			m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
			checkSound(t, []byte(src), m, problems)
			if got := row.got(m); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			got, want := problemLines(problems), strings.FieldsFunc(row.problems, func(r rune) bool { return r == ',' })
			for i := range want {
				want[i] = strings.TrimSpace(want[i])
			}
			if !sameCodes(got, want) {
				t.Errorf("problems: %q, want %q", got, want)
			}
			if m.Name != "my-skill" || m.Description != "A test skill" {
				t.Errorf("the skill is %q, %q", m.Name, m.Description)
			}
		})
	}
}

func license(m *Manifest) string { return m.License }

func meta(a, b string) func(*Manifest) string {
	return func(m *Manifest) string { return m.Metadata[a] + "|" + m.Metadata[b] }
}

// Front matter is found below other text, but a rule in the text is not taken for it (C39).
func TestPreamble(t *testing.T) {
	front := added()
	for _, row := range []struct {
		name, src string
		found     bool
		problems  string
	}{
		{"a comment", "<!-- x -->\n" + front, true, "frontmatter-preamble 2:1"},
		{"a heading", "# Title\n\n" + front, true, "frontmatter-preamble 3:1"},
		{"a fence", "```markdown\n" + front + "```\n", true, "frontmatter-preamble 2:1"},
		{"blank lines", "\n \n" + front, true, "frontmatter-leading 1:1"},
		{"a space", " " + front, true, "frontmatter-leading 1:1"},
		{"a rule", "# Title\n---\ntext\n---\n", false, "frontmatter-missing 1:1"},
		{"31 lines", strings.Repeat("x\n", 31) + front, false, "frontmatter-missing 1:1"},
		{"30 lines", strings.Repeat("x\n", 30) + front, true, "frontmatter-preamble 31:1"},
		{"the end of the file", strings.TrimSuffix(front, "\nBody\n"), true, "frontmatter-eof 4:1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, problems := Parse([]byte(row.src), &Options{Dir: "my-skill"})
			checkSound(t, []byte(row.src), m, problems)
			if got := m.Description == "A test skill"; got != row.found {
				t.Errorf("found: %v", got)
			}
			if got := problemLines(problems); !slices.Equal(got, []string{row.problems}) {
				t.Errorf("problems: %q, want %q", got, row.problems)
			}
		})
	}
}

// A front matter with very many broken fields is read up to a bound, and stays closed beyond it.
func TestRepairBound(t *testing.T) {
	src := added("bad: [a\n" + strings.Repeat("x: y\n", 400) + "allowed-tools: Bash")
	m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
	checkSound(t, []byte(src), m, problems)
	if !m.AllowedTools.Declared || len(m.AllowedTools.Rules) > 0 {
		t.Errorf("allows %v", m.AllowedTools)
	}
	if m.Description != "A test skill" {
		t.Errorf("lost the description")
	}
}

// The message names the field and the cure what to do, with the place in the file.
func TestProblemText(t *testing.T) { // R6, R10
	_, problems := Parse([]byte(added("license: a: b")), &Options{File: "skills/my-skill/SKILL.md", Dir: "my-skill"})
	if len(problems) != 1 {
		t.Fatalf("problems: %v", problems)
	}
	want := `skills/my-skill/SKILL.md:4:11: warning[yaml-colon] the plain value of "license" contains a colon followed by a space; it is read as text`
	if got := problems[0].Error(); got != want || problems[0].Field != "license" || problems[0].Cure != "put the value in quotes" {
		t.Errorf("got %+v", problems[0])
	}
}
