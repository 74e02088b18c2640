package manifest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var codeForm = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)+$`)

// The table is sorted, complete and in the form of 1.3.
func TestCodes(t *testing.T) { // C60
	codes := Codes()
	for i, r := range codes {
		if !codeForm.MatchString(r.Code) || r.Description == "" || r.Cure == "" || len(r.Severity) != len(Profiles()) {
			t.Errorf("incomplete: %+v", r)
		}
		if i > 0 && codes[i-1].Code >= r.Code {
			t.Errorf("%q stands after %q", r.Code, codes[i-1].Code)
		}
		if len(rules[i].by) != len(profileNames) || strings.Trim(rules[i].by, "EW-") != "" {
			t.Errorf("%q has the severities %q", r.Code, rules[i].by)
		}
		if r.Fatal && strings.Trim(rules[i].by, "E") != "" {
			t.Errorf("%q is fatal, and yet no error somewhere", r.Code)
		}
	}
	for _, code := range []string{"name-case", "yaml-colon", "frontmatter-bom", "fields-missing"} {
		if findRule(code) == nil {
			t.Errorf("no rule %q", code)
		}
	}
}

// Every rule is reported somewhere, and every code that is reported here has a rule.
func TestCodesAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, glob := range []string{"parse*.go", "fields*.go", "repair*.go", "rules_name.go", "needs.go", "fix*.go", "report.go", "../check/*.go", "../../internal/walk/*.go", "../../internal/survey/*.go"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, code := range literals(t, name) {
				used[code] = true
			}
		}
	}
	for _, r := range rules {
		if !used[r.code] {
			t.Errorf("nothing reports %q", r.code)
		}
	}
}

func literals(t *testing.T, name string) []string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`"([a-z]+(?:-[a-z0-9]+)+)"`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestProfileNamed(t *testing.T) { // C60
	for _, name := range Profiles() {
		p, err := ProfileNamed(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		if err != nil || p.Name != name || p.Strict() == (name == "default") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if p, err := ProfileNamed(""); err != nil || p.Name != "default" {
		t.Errorf("none: %+v, %v", p, err)
	}
	_, err := ProfileNamed("agentbase")
	want := `unknown profile "agentbase", did you mean "agent-base"? (there are default, spec, agent-base, wink, harness, harness-mvp, omniforge)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// What the sources say of one manifest, each in its own words where it has some.
func TestProfileWords(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, row := range []struct{ name, profile, dir, src, want string }{
		{"R7", "agent-base", "x", "# x", "SKILL.md must start with YAML front matter"},
		{"R8 start", "wink", "x", "# x", "SKILL.md must start with YAML frontmatter"},
		{"R8 end", "wink", "x", "---\nname: x\n", "SKILL.md frontmatter not terminated"},
		{"R9 format", "omniforge", "x", "---\nname: x\n", `No valid YAML frontmatter found in a/SKILL.md. Expected format: ---\n<yaml>\n---\n<content>`},
		{"R9 YAML", "omniforge", "x", withFront("name: x", "description: y", "tags: [a"), "Invalid YAML in frontmatter of a/SKILL.md: \"tags\" is dropped: did not find expected ',' or ']' (while parsing a flow sequence)"},
		{"R9 metadata", "omniforge", "x", withFront("name: x"), "Invalid skill metadata in a/SKILL.md: missing 'description'"},
		{"R9 file", "omniforge", "x", "\x00", "Failed to read skill file a/SKILL.md: the file holds a NUL character"},
		{"R10", "agent-base", "x", withFront("license: MIT"), "missing 'name', 'description'"},
		{"R12 length", "wink", long, withFront("name: "+long, "description: y"), "Skill name must be 1-64 chars: " + long},
		{"R12 format", "wink", "My_Skill", withFront("name: My_Skill", "description: y"), "Invalid skill name format: My_Skill"},
		{"R12 hyphens", "wink", "a--b", withFront("name: a--b", "description: y"), "Consecutive hyphens not allowed: a--b"},
		{"R12 directory", "wink", "b", withFront("name: a", "description: y"), "Skill name 'a' must match directory name 'b'"},
		{"R15", "omniforge", "1a", withFront("name: 1a", "description: y"), "Skill name '1a' must be kebab-case (lowercase letters, numbers, hyphens, starting with letter)"},
		{"R26", "harness", "a", withFront("name: a", "description: y", "toolsets: [a:B]", "triggers: {}"), `fields outside the standard: "toolsets", "triggers"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, problems := Parse([]byte(row.src), &Options{File: "a/SKILL.md", Dir: row.dir, Profile: &Profile{Name: row.profile}})
			var fatal []string
			for _, p := range problems {
				if p.Fatal {
					fatal = append(fatal, p.Message)
				}
			}
			if !slices.Equal(fatal, []string{row.want}) {
				t.Errorf("got %q\nwant %q", fatal, row.want)
			}
		})
	}
}

// Which profile refuses what: the columns of R11-R22, C1-C4.
func TestProfileVerdicts(t *testing.T) {
	front := func(name, description string, more ...string) string {
		return withFront(append([]string{"name: " + name, "description: " + description}, more...)...)
	}
	for _, row := range []struct {
		name, dir, src string
		refused        string // profiles
	}{
		{"honest", "my-skill", front("my-skill", "x"), ""},
		{"R11 alphabet", "My_Skill", front("My_Skill", "x"), "spec wink harness harness-mvp omniforge"},
		{"R14 capitals", "MySkill", front("MySkill", "x"), "spec wink harness omniforge"},
		{"R15 digit first", "1a", front("1a", "x"), "omniforge"},
		{"R15 hyphens", "a--b-", front("a--b-", "x"), "spec wink harness"},
		{"R12, R13 directory", "b", front("a", "x"), "spec wink harness"},
		{"C2 directory but for case", "A", front("a", "x"), "spec wink harness"},
		{"R16, R17 501 characters", "a", front("a", strings.Repeat("é", 501)), "agent-base harness-mvp"},
		{"R18, R19 1025 characters", "a", front("a", strings.Repeat("é", 1025)), "spec agent-base wink harness harness-mvp"},
		{"R18 block scalar", "a", front("a", "|\n  x\n  y"), ""},
		{"R24 compatibility", "a", front("a", "x", "compatibility: "+strings.Repeat("x", 501)), "spec harness"},
		{"R26 toolsets", "a", front("a", "x", "toolsets: [a:B]"), "spec harness"},
		{"R10 type", "a", front("a", "x", "license: [x]"), "spec agent-base wink harness harness-mvp omniforge"},
		{"C1 Unicode name", "навык", front("навык", "x"), "agent-base wink harness harness-mvp omniforge"},
		{"R5 byte order mark", "a", "\ufeff" + front("a", "x"), "spec agent-base"},
		{"R6 a colon", "a", front("a", "x: y"), "spec"},
		{"C39 the end of the file", "a", "---\nname: a\ndescription: x\n---", "omniforge"},
		{"C39 blank lines first", "a", "\n" + front("a", "x"), "spec agent-base wink harness-mvp omniforge"},
		{"C39 CR LF", "a", strings.ReplaceAll(front("a", "x"), "\n", "\r\n"), ""},
		{"no name", "a", withFront("description: x"), "spec agent-base wink harness harness-mvp omniforge"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var refused []string
			for _, name := range Profiles() {
				if _, problems := Parse([]byte(row.src), &Options{Dir: row.dir, Profile: &Profile{Name: name}}); fatalCodes(problems) != "" {
					refused = append(refused, name)
				}
			}
			if got := strings.Join(refused, " "); got != row.refused {
				t.Errorf("refused by %q, want %q", got, row.refused)
			}
		})
	}
}

// A profile that is misspelt is never the lenient one.
func TestUnknownProfile(t *testing.T) {
	odd := &Profile{Name: "harnes"}
	if !odd.Strict() || odd.Severity("name-reserved") != SeverityError || odd.Severity("frontmatter-blanks") != SeverityError {
		t.Errorf("strict %v, a mild rule is %v", odd.Strict(), odd.Severity("name-reserved"))
	}
	src := []byte("---\nname: a\ndescription: x\n---\n")
	_, parsed := Parse(src, &Options{Dir: "a", Profile: odd})
	if len(parsed) != 1 || parsed[0].Code != "profile-unknown" || !parsed[0].Fatal || !strings.Contains(parsed[0].Message, "did you mean") {
		t.Errorf("got %v", parsed)
	}
	for _, sound := range []*Profile{nil, {}} {
		if _, problems := Parse(src, &Options{Dir: "a", Profile: sound}); problems != nil || sound.Strict() {
			t.Errorf("the default profile: %v", problems)
		}
	}
}
