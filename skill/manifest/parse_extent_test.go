package manifest

import (
	"strings"
	"testing"
)

// Where front matter ends when no line --- says so, and what becomes of lines without a key (C74). The strict profiles keep the letter.
func TestExtent(t *testing.T) {
	const front = "---\nname: a\ndescription: One.\n"
	for _, row := range []struct {
		name, src         string
		description, body string
		problems          string
	}{
		{"one line ---", front + "---\nB\n", "One.", "B", ""},
		{"more dashes", front + "-----\nB\n", "One.", "B", "frontmatter-closer 4:1"},
		{"two dashes", front + "--  \n\nB\n", "One.", "B", "frontmatter-closer 4:1"},
		{"a long dash", front + "—\nB\n", "One.", "B", "frontmatter-closer 4:1"},
		{"more dashes before a rule", front + "----\nB\n\n---\nC\n", "One.", "B\n\n---\nC", "frontmatter-closer 4:1"},
		{"glued to a title", front + "---# T\n\nB\n", "One.", "# T\n\nB", "frontmatter-closer 4:1"},
		{"glued to text, before a rule", front + "--- Text\n\nB\n---\nC", "One.", "Text\n\nB\n---\nC", "frontmatter-closer 4:1"},
		{"the end of a document", front + "...\n# T\n", "One.", "# T", "frontmatter-closer 4:1"},
		{"the end of a document before a rule", front + "...\n\nText\n---\nC", "One.", "Text\n---\nC", "frontmatter-closer 4:1"},
		{"a heading", front + "\n# T\n\nB\n---\nC", "One.", "# T\n\nB\n---\nC", "frontmatter-open 5:1"},
		{"a heading and a list", front + "# T\n- x\n---\nC", "One.", "# T\n- x\n---\nC", "frontmatter-open 4:1"},
		{"a heading in a file without a rule", front + "# T\n\nB\n", "One.", "# T\n\nB", "frontmatter-open 4:1"},
		{"a paragraph", front + "\nText: no key?\n\nMore.\n---\nC", "One.", "More.\n---\nC", "frontmatter-open 7:1, field-unknown 5:1"},
		{"a fence", front + "```\nx: y\n```\n---\nC", "One.", "```\nx: y\n```\n---\nC", "frontmatter-open 4:1"},
		{"a table", front + "| a |\n---\nC", "One.", "| a |\n---\nC", "frontmatter-open 4:1"},
		{"a comment before a key", front + "# c\n\nlicense: x\n---\nC", "One.", "C", ""},
		{"a comment before the end", front + "# c\n---\nC", "One.", "C", ""},
		{"a comment in a list", front + "tags:\n# c\n- x\n---\nC", "One.", "C", ""},
		{"a map in braces", front + "metadata: {\n\"a\": b,\n\n\"c\": d\n}\n---\nC", "One.", "C", ""},
		{"no field before the first", "---\n** x **\nname: a\ndescription: One.\n---\nC", "One.", "C", "yaml-syntax 2:1"},
		{"no description before the heading", "---\nname: a\n\n# T\n\nB\ndescription: One.\n---\nC", "One.", "C", "yaml-syntax 6:1"},

		{"text below", front + "Two.\nThree.\n---\nB", "One. Two. Three.", "B", "yaml-flush 4:1"},
		{"text with a colon", front + "`Two`: x\n---\nB", "One. `Two`: x", "B", "yaml-raw 3:14, yaml-flush 4:1"},
		{"bullets", front + "- Two\n- Three\n---\nB", "One. - Two - Three", "B", "yaml-flush 4:1"},
		{"bullets after an empty line", front + "\n- Two\n---\nB", "One.\n- Two", "B", "yaml-flush 5:1"},
		{"bullets below bold text", "---\nname: a\ndescription: **One**\n- Two\n---\nB", "**One** - Two", "B", "yaml-raw 3:14, yaml-flush 4:1"},
		{"below >", "---\nname: a\ndescription: >\nOne.\nTwo.\n---\nB", "One. Two.", "B", "yaml-flush 4:1"},
		{"below |", "---\nname: a\ndescription: |\nOne.\n- Two\n---\nB", "One.\n- Two", "B", "yaml-flush 4:1"},
		{"below an indented line of |", "---\nname: a\ndescription: |\n    One.\n\n    x\nTwo.\n---\nB", "One.\n\nx\nTwo.", "B", "yaml-flush 7:1"},
		{"below a key", "---\nname: a\ndescription:\nOne.\n---\nB", "One.", "B", "yaml-flush 4:1"},
		{"below a text in quotes", "---\nname: a\ndescription: \"One.\nTwo.\"\n---\nB", "One. Two.", "B", ""},
		{"below an item", front + "tags:\n  - x\ny\n- z\n---\nB", "One.", "B", "yaml-flush 6:1"},
		{"after an empty line", front + "\nTwo.\n---\nB", "One.", "Two.\n---\nB", "frontmatter-open 5:1"},
		{"in the middle", "---\nname: a\ndescription: One.\nTwo.\nlicense: x\n---\nB", "One. Two.", "B", "yaml-flush 4:1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, breaks := range []string{"\n", "\r\n"} {
				src := []byte(strings.ReplaceAll(row.src, "\n", breaks))
				m, problems := Parse(src, &Options{Dir: "a"})
				checkSound(t, src, m, problems)
				if m.Description != row.description || m.Body != row.body {
					t.Errorf("description %q, body %q", m.Description, m.Body)
				}
				if got := strings.Join(problemLines(withoutCode(problems, "file-crlf")), ", "); got != row.problems && !sameCodes(strings.Split(got, ", "), strings.Split(row.problems, ", ")) {
					t.Errorf("problems: %s", got)
				}
				sum, _ := Parse(src, &Options{Dir: "a", Summary: true, Borrow: true})
				if sum.Description != row.description {
					t.Errorf("the summary has %q", sum.Description)
				}
				checkMended(t, src, m)
			}
		})
	}
}

// checkMended holds that Fix writes what was read, without changing it.
func checkMended(t *testing.T, src []byte, m *Manifest) {
	t.Helper()
	fixed, _, err := Fix(src, &Options{Dir: "a"})
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Parse(fixed, &Options{Dir: "a"})
	if again.Description != m.Description || again.Body != m.Body {
		t.Errorf("mended: %q", fixed)
	}
	for _, p := range problems {
		if byLines[p.Code] {
			t.Errorf("mended: %q has %s", fixed, p.Code)
		}
	}
}

func withoutCode(list []Problem, code string) []Problem {
	var out []Problem
	for _, p := range list {
		if p.Code != code {
			out = append(out, p)
		}
	}
	return out
}

// What would restrict a skill if it stood above the end of its front matter closes it, but an example in a fence does not.
func TestProtectedBelow(t *testing.T) {
	for _, row := range []struct {
		text   string
		closed bool
	}{
		{"Text.\n\nallowed-tools: Read\n", true},
		{"Text.\n\n```\nallowed-tools: Read\n```\n", false},
		{"Text.\n\n~~~yaml\n```\n~~~\nallowed-tools: Read\n", true},
		{"Text.\n\nScope: all of it\n", false},
		{"Text.\n\nscope: {agents: x}\n", false},
	} {
		m, problems := Parse([]byte("---\nname: a\ndescription: One.\n\n"+row.text+"---\nB\n"), nil)
		if closed := m.AllowedTools.Declared && len(m.AllowedTools.Rules) == 0; closed != row.closed {
			t.Errorf("%q: %+v, %q", row.text, m.AllowedTools, problemLines(problems))
		}
		if m.Scope.Unclear != strings.HasPrefix(row.text, "Text.\n\nscope") {
			t.Errorf("%q: %+v", row.text, m.Scope)
		}
	}
}

// Front matter that never ends is read up to its limit, in linear time.
func TestExtentBound(t *testing.T) {
	for name, rest := range map[string]string{
		"keys":     strings.Repeat("k: v\n", 200_000),
		"lines":    strings.Repeat("x\n", 400_000),
		"items":    strings.Repeat("- x\n", 200_000),
		"comments": strings.Repeat("# x\n", 200_000),
		"dashes":   strings.Repeat("-", 900_000),
		"braces":   strings.Repeat("{", 900_000),
		"one line": strings.Repeat("é", 400_000),
	} {
		src := []byte("---\nname: a\ndescription: One.\n" + rest)
		m, problems := Parse(src, &Options{Dir: "a"})
		checkSound(t, src, m, problems)
		if name != "dashes" && fatalCodes(problems) != "frontmatter-size" {
			t.Errorf("%s: %q", name, problemLines(problems))
		}
	}
	src := []byte("---\nname: a\ndescription: One.\n\n# T\n" + strings.Repeat("Text.\n", 100_000))
	if m, problems := Parse(src, &Options{Dir: "a"}); fatalCodes(problems) != "" || m.BodyLine != 5 {
		t.Errorf("a long body: %q", problemLines(problems))
	}
}
