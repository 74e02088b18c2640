package check

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// The reference library's own test cases about parsing and validating, as facts. Those about its
// output are tested where it is rendered.
func TestSpecFacts(t *testing.T) {
	front := func(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n---\nBody\n" }
	desc := "description: A test skill"
	for _, row := range []struct {
		name, dir string
		files     map[string]string
		want      []string // codes of errors
	}{
		{"valid", "my-skill", one(front("name: my-skill", desc)), nil},
		{"heading only", "my-skill", one("# No front matter\n"), []string{"frontmatter-missing"}},
		{"no closer", "my-skill", one("---\nname: my-skill\n"), []string{"frontmatter-unclosed"}},
		{"not YAML", "my-skill", one(front("name: [invalid", desc)), []string{"yaml-raw", "name-invalid", "name-directory"}},
		{"a list", "my-skill", one(front("- just", "- a list")), []string{"frontmatter-mapping"}},
		{"license", "my-skill", one(front("name: my-skill", desc, "license: MIT")), nil},
		{"metadata", "my-skill", one(front("name: my-skill", desc, "metadata:", "  author: Test Author", "  version: 1.0")), nil},
		{"empty folder", "my-skill", nil, []string{"file-missing"}},
		{"no name", "my-skill", one(front(desc)), []string{"fields-missing"}},
		{"no description", "my-skill", one(front("name: my-skill")), []string{"fields-missing"}},
		{"both spellings", "my-skill", map[string]string{"SKILL.md": front("name: my-skill", desc), "skill.md": "# no"}, nil},
		{"lower case file", "my-skill", map[string]string{"skill.md": front("name: my-skill", desc)}, nil},
		{"allowed-tools", "my-skill", one(front("name: my-skill", desc, "allowed-tools: Bash(jq:*) Bash(git:*)")), nil},
		{"capitals", "MySkill", one(front("name: MySkill", desc)), []string{"name-case"}},
		{"70 letters", strings.Repeat("a", 70), one(front("name: "+strings.Repeat("a", 70), desc)), []string{"name-length"}},
		{"hyphen first", "-my-skill", one(front("name: -my-skill", desc)), []string{"name-edge"}},
		{"two hyphens", "my--skill", one(front("name: my--skill", desc)), []string{"name-double"}},
		{"underscore", "my_skill", one(front("name: my_skill", desc)), []string{"name-underscore"}},
		{"other folder", "wrong-name", one(front("name: correct-name", desc)), []string{"name-directory"}},
		{"unknown field", "my-skill", one(front("name: my-skill", desc, "unknown_field: x")), []string{"fields-unexpected"}},
		{"Chinese", "技能", one(front("name: 技能", desc)), nil},
		{"Russian with hyphen", "мой-навык", one(front("name: мой-навык", desc)), nil},
		{"Russian", "навык", one(front("name: навык", desc)), nil},
		{"Russian capitals", "НАВЫК", one(front("name: НАВЫК", desc)), []string{"name-case"}},
		{"1100 letters", "my-skill", one(front("name: my-skill", "description: "+strings.Repeat("x", 1100))), []string{"description-length"}},
		{"compatibility", "my-skill", one(front("name: my-skill", desc, "compatibility: Requires Python 3.11+")), nil},
		{"550 letters", "my-skill", one(front("name: my-skill", desc, "compatibility: "+strings.Repeat("x", 550))), []string{"compatibility-length"}},
		{"composed and not", "caf\u00e9", one(front("name: cafe\u0301", desc)), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range row.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			_, problems := Folder(fsys, row.dir, &Options{Profile: &manifest.Profile{Name: "spec"}})
			if got := errorCodes(problems); !sameCodes(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestSpecFactsRead(t *testing.T) {
	m, _ := manifest.Parse([]byte("---\nname: my-skill\ndescription: A test skill\nlicense: MIT\nallowed-tools: Bash(jq:*) Bash(git:*)\nmetadata:\n  author: Test Author\n  version: 1.0\n---\n\n# My skill\n\nText.\n"), nil)
	if m.Name != "my-skill" || m.Description != "A test skill" || m.License != "MIT" || m.Body != "# My skill\n\nText." {
		t.Errorf("got %+v", m)
	}
	if m.Metadata["author"] != "Test Author" || m.Metadata["version"] != "1.0" || m.Version != "1.0" {
		t.Errorf("metadata is %v, the version %q", m.Metadata, m.Version)
	}
	if want := []string{"Bash(jq:*)", "Bash(git:*)"}; !slices.Equal(m.AllowedTools.Rules, want) {
		t.Errorf("allowed-tools are %q, want %q", m.AllowedTools.Rules, want)
	}
}

func one(text string) map[string]string { return map[string]string{"SKILL.md": text} }

func sameCodes(got, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}
